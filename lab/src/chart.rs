//! The bar chart of the report: nanoseconds per operation on a logarithmic scale, as SVG.

use anyhow::{Result, anyhow};
use plotters::prelude::*;

use crate::format::figure;
use crate::results::Results;
use crate::table::{sorted, speed};

const BAR_PX: u32 = 24;
const LABELS_PX: i32 = 240;
const WIDTH_PX: u32 = 960;
const OURS: RGBColor = RGBColor(0x1b, 0x7f, 0x79);
const OTHERS: RGBColor = RGBColor(0x9a, 0xa5, 0xb1);

/// Draws the measured rows, operations called `one`; an empty string if there is none.
///
/// # Errors
/// The drawing library fails.
pub fn svg(results: &Results, one: &str) -> Result<String> {
    let bars: Vec<(&str, f64)> = sorted(results)
        .into_iter()
        .filter_map(|row| Some((row.contender.as_str(), speed(row)?)))
        .collect();
    let (Some(least), Some(most)) = (bars.first(), bars.last()) else {
        return Ok(String::new());
    };
    // Whole powers of ten around all bars, so that the shortest bar is visible, too.
    let low = 10_f64.powf((least.1 * 0.8).log10().floor());
    let high = 10_f64.powf((most.1 * 2.0).log10().ceil());
    let mut svg = String::new();
    draw(&mut svg, &bars, [low, high], one).map_err(|error| anyhow!("the chart: {error}"))?;
    Ok(svg)
}

fn draw(
    svg: &mut String,
    bars: &[(&str, f64)],
    [low, high]: [f64; 2],
    one: &str,
) -> Result<(), Box<dyn std::error::Error>> {
    let count = bars.len() as f64;
    let size = (WIDTH_PX, BAR_PX * bars.len() as u32 + 60);
    let area = SVGBackend::with_string(svg, size).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .margin(10)
        .margin_right(40)
        .set_label_area_size(LabelAreaPosition::Left, LABELS_PX)
        .set_label_area_size(LabelAreaPosition::Bottom, 40)
        .build_cartesian_2d((low..high).log_scale(), count..0.0)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .x_desc(format!("nanoseconds per {one}, logarithmic"))
        .x_label_formatter(&|value| figure(*value))
        .label_style(("sans-serif", 13))
        .draw()?;
    let plot = chart.plotting_area();
    for (index, (name, ns)) in bars.iter().enumerate() {
        let (top, bottom) = (index as f64 + 0.15, index as f64 + 0.85);
        let colour = if name.starts_with("gossamer/") {
            OURS
        } else {
            OTHERS
        };
        plot.draw(&Rectangle::new(
            [(low, top), (*ns, bottom)],
            colour.filled(),
        ))?;
        let (x, y) = plot.map_coordinate(&(*ns, top));
        let style = ("sans-serif", 13).into_text_style(&area);
        area.draw_text(&figure(*ns), &style, (x + 4, y + 2))?;
        area.draw_text(name, &style, (14, y + 2))?;
    }
    area.present()?;
    Ok(())
}
