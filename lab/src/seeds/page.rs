//! The seeds' tables as a page: with the plot of the minor heaps, and the programs side by side.

use std::fmt::Write;

use anyhow::Result;

use crate::catalogue::Catalogue;
use crate::history;
use crate::report::chart::lines::{Line, chart};
use crate::report::escape;
use crate::results::Results;
use crate::seeds::tables::{GHC_GC, LINES, RING};
use crate::seeds::{beside, now};
use crate::source::{self, Program};

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:84rem;\
padding:0 1rem;color:#1f2933}pre{overflow:auto;background:#f5f7fa;padding:1rem;font-size:13px;\
line-height:1.35}svg{max-width:100%;height:auto}.pair{display:flex;flex-wrap:wrap;gap:1rem}\
.pair>div{flex:1 1 28rem;min-width:0}";

/// The page.
///
/// # Errors
/// A string cannot be written to, which does not happen.
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
            let title = "seconds for ten million hops, by kilobytes of nursery";
            let plot = chart(
                &sweeps(results),
                "kilobytes of nursery (OCaml's minor heap, GHC's allocation area)",
                title,
            );
            page.push_str(&plot.map(|plot| plot.render()).unwrap_or_default());
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
pub(super) fn sweeps(results: &Results) -> Vec<Line<'static>> {
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
    let line = |contender, points: Vec<(f64, f64)>| Line {
        contender,
        category: "",
        points: points
            .into_iter()
            .map(|(x, seconds)| (x, [seconds; 3]))
            .collect(),
    };
    vec![
        line("OCaml, 2008", then.collect()),
        line("OCaml, now", now.collect()),
        // "No significant change in the speed" when its size was changed.
        line("GHC, 2008", flat.collect()),
        line("GHC, now", ghc.collect()),
    ]
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
