//! The seeds' tables as a page: with the plot of the minor heaps, and the programs side by side.

use std::fmt::Write;

use anyhow::{Result, anyhow};
use plotters::prelude::*;

use crate::catalogue::Catalogue;
use crate::format::figure;
use crate::history;
use crate::report::escape;
use crate::results::Results;
use crate::seeds::tables::{GHC_GC, LINES, RING};
use crate::seeds::{beside, now};
use crate::source::{self, Program};

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:84rem;\
padding:0 1rem;color:#1f2933}pre{overflow:auto;background:#f5f7fa;padding:1rem;font-size:13px;\
line-height:1.35}svg{max-width:100%;height:auto}.pair{display:flex;flex-wrap:wrap;gap:1rem}\
.pair>div{flex:1 1 28rem;min-width:0}";

/// A line of the plot: its name, its colour, and seconds by kilobytes of nursery.
pub(super) type Line = (&'static str, RGBColor, Vec<(f64, f64)>);

const THEN: RGBColor = RGBColor(0x9a, 0xa5, 0xb1);
const OCAML: RGBColor = RGBColor(0xc2, 0x6a, 0x1b);
const GHC: RGBColor = RGBColor(0x5e, 0x50, 0x86);

/// The page.
///
/// # Errors
/// The plot cannot be drawn.
pub fn html(catalogue: &Catalogue, results: &Results) -> Result<String> {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>The seeds' tables</title>\
         <style>{STYLE}</style></head><body>\n<h1>The seeds' tables, then and now</h1>\n<p>{}</p>\n",
        escape(&results.machine.line())
    );
    for (table, now) in now(catalogue, results) {
        section(&mut page, table.title, &table.render(), &now)?;
        if table.title == GHC_GC.title {
            page.push_str("<h2>The minor heap swept</h2>\n");
            page.push_str(&plot(&sweeps(results))?);
            page.push_str(
                "<p>Of GHC in 2008 there is one figure, 1.22 s, and the sentence that changing the \
                 allocation area made no significant change: its line is that figure at every size.</p>\n",
            );
        }
        if table.title == LINES.title {
            programs(&mut page, &source::of_ring(catalogue))?;
        }
    }
    page.push_str("</body></html>\n");
    Ok(page)
}

fn section(page: &mut String, title: &str, then: &str, now: &str) -> Result<()> {
    let (title, then, now) = (escape(title), escape(then), escape(now));
    writeln!(
        page,
        "<h2>{title}</h2>\n<h3>As printed</h3>\n<pre>{then}</pre>\n<h3>Now</h3>\n<pre>{now}</pre>"
    )?;
    Ok(())
}

/// Time by the size of the nursery, then (32-bit words) and now (64-bit words), and GHC's allocation area.
pub(super) fn sweeps(results: &Results) -> Vec<Line> {
    let pasts = history::of(RING.workload);
    let printed = |contender: &str| {
        let past = pasts.iter().find(|past| past.contender == contender);
        past.map(|past| past.seconds)
    };
    let kilowords = [
        (32.0, "lwt-32k-list"),
        (64.0, "lwt-64k-list"),
        (256.0, "lwt-256k-list"),
        (1024.0, "lwt-1m-list"),
    ];
    let then = kilowords
        .iter()
        .filter_map(|(words, name)| Some((words * 4.0, printed(name)?)));
    let now = kilowords
        .iter()
        .filter_map(|(words, name)| Some((words * 8.0, beside::seconds(results, name)?)));
    let areas = [
        (256.0, "256k"),
        (1_024.0, "1m"),
        (4_096.0, "4m"),
        (16_384.0, "16m"),
    ];
    let ghc = areas.iter().filter_map(|(kilobytes, name)| {
        let seconds = beside::seconds(results, &format!("ghc-a{name}"))?;
        Some((*kilobytes, seconds))
    });
    let flat = [128.0, 16_384.0]
        .into_iter()
        .filter_map(|kilobytes| Some((kilobytes, printed("ghc")?)));
    vec![
        ("OCaml, 2008", THEN, then.collect()),
        ("OCaml, now", OCAML, now.collect()),
        // "No significant change in the speed" when its size was changed.
        ("GHC, 2008", THEN, flat.collect()),
        ("GHC, now", GHC, ghc.collect()),
    ]
}

fn plot(lines: &[Line]) -> Result<String> {
    let mut svg = String::new();
    draw(&mut svg, lines).map_err(|error| anyhow!("the plot: {error}"))?;
    Ok(svg)
}

fn draw(svg: &mut String, lines: &[Line]) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(svg, (900, 420)).into_drawing_area();
    area.fill(&WHITE)?;
    let points = lines.iter().flat_map(|(_, _, points)| points);
    let most = points.map(|(_, seconds)| *seconds).fold(1.0, f64::max);
    let mut chart = ChartBuilder::on(&area)
        .margin(12)
        .set_label_area_size(LabelAreaPosition::Left, 50)
        .set_label_area_size(LabelAreaPosition::Bottom, 40)
        .build_cartesian_2d((100.0..20_000.0).log_scale(), 0.0..most * 1.1)?;
    chart
        .configure_mesh()
        .x_desc("kilobytes of nursery (OCaml's minor heap, GHC's allocation area), logarithmic")
        .y_desc("seconds for ten million hops")
        .x_label_formatter(&|kilobytes| figure(*kilobytes))
        .label_style(("sans-serif", 13))
        .draw()?;
    for (name, colour, points) in lines.iter().filter(|(_, _, points)| !points.is_empty()) {
        let style = colour.stroke_width(2);
        let dots = points
            .iter()
            .map(|point| Circle::new(*point, 4, colour.filled()));
        let path = PathElement::new(points.clone(), style);
        chart.draw_series(std::iter::once(path))?;
        chart.draw_series(dots)?;
        let (x, y) = points.last().copied().unwrap_or_default();
        let (x, y) = chart.plotting_area().map_coordinate(&(x, y));
        let font = ("sans-serif", 13).into_font().color(colour);
        area.draw_text(name, &font, (x - 70, y - 18))?;
    }
    area.present()?;
    Ok(())
}

/// The programs, the seed's pair first.
fn programs(page: &mut String, all: &[Program]) -> Result<()> {
    page.push_str("<h2>The programs side by side</h2>\n");
    let pair = ["protothreads/optimum", "pthreads"];
    let is_of = |program: &&Program, name: &str| program.names.iter().any(|own| own == name);
    let first = pair
        .iter()
        .filter_map(|name| all.iter().find(|program| is_of(program, name)));
    let rest = all
        .iter()
        .filter(|program| !pair.iter().any(|name| is_of(program, name)));
    page.push_str("<div class=\"pair\">\n");
    for program in first.chain(rest) {
        let (names, lines) = (escape(&program.names.join(", ")), program.lines);
        write!(
            page,
            "<div><h3>{names}</h3>\n<p>{lines} lines of code</p>\n"
        )?;
        for (file, text) in program.files.iter().zip(&program.texts) {
            let (file, text) = (escape(file), escape(text));
            let open = if pair.iter().any(|name| is_of(&program, name)) {
                " open"
            } else {
                ""
            };
            writeln!(
                page,
                "<details{open}><summary>{file}</summary><pre>{text}</pre></details>"
            )?;
        }
        page.push_str("</div>\n");
    }
    page.push_str("</div>\n");
    Ok(())
}
