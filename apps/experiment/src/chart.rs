//! Bar charts in SVG and PNG.
//!
//! The axes are drawn here, and not by plotters, which measures their labels with a font: so an SVG needs none.

mod axis;
mod font;
#[cfg(test)]
mod tests;

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use self::axis::{Scale, outcome_ticks, probability_ticks};

/// Pixels of one plot.
const SIZE: (u32, u32) = (960, 540);
/// Pixels around the bars: left, top, right, bottom.
const MARGINS: [i32; 4] = [100, 70, 30, 70];
/// Letters of a title.
const LONGEST_TITLE: usize = 70;
const BAR: RGBColor = RGBColor(76, 114, 176);
const POINT: RGBColor = RGBColor(196, 78, 82);
const GRID: RGBColor = RGBColor(225, 225, 225);

/// What one picture shows.
#[derive(Debug, Clone)]
pub struct Plot {
    /// Above it.
    pub title: String,
    /// What the height of a bar is.
    pub measure: &'static str,
    /// The height for each outcome.
    pub bars: Vec<(i64, f64)>,
    /// What the bars are compared with, if they are: exact probabilities.
    pub points: Vec<(i64, f64)>,
}

/// Draws plots into an SVG file, one above the other.
///
/// # Errors
/// The file cannot be written.
pub fn write_svg(plots: &[Plot], file: &Path) -> Result<(), String> {
    let area = SVGBackend::new(file, size(plots)).into_drawing_area();
    draw_all(plots, &area)
}

/// Draws plots into a PNG file, one above the other.
///
/// # Errors
/// The file cannot be written.
pub fn write_png(plots: &[Plot], file: &Path) -> Result<(), String> {
    let area = BitMapBackend::new(file, size(plots)).into_drawing_area();
    draw_all(plots, &area)
}

/// Finds the font that a PNG needs.
///
/// # Errors
/// There is none.
pub fn load_font() -> Result<(), String> {
    font::register()
}

fn size(plots: &[Plot]) -> (u32, u32) {
    let (width, height) = SIZE;
    (width, height * plots.len() as u32)
}

fn draw_all<B: DrawingBackend>(plots: &[Plot], area: &DrawingArea<B, Shift>) -> Result<(), String> {
    let drawn = || {
        area.fill(&WHITE)?;
        let parts = area.split_evenly((plots.len(), 1));
        for (plot, part) in plots.iter().zip(&parts) {
            draw(plot, part)?;
        }
        area.present()
    };
    drawn().map_err(|error: Error<B>| error.to_string())
}

type Error<B> = DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>;

fn draw<B: DrawingBackend>(plot: &Plot, area: &DrawingArea<B, Shift>) -> Result<(), Error<B>> {
    let [left, top, right, bottom] = MARGINS;
    let (width, height) = area.dim_in_pixel();
    let both = || plot.bars.iter().chain(&plot.points);
    let lowest = both().map(|(outcome, _)| *outcome).min().unwrap_or(0);
    let highest = both().map(|(outcome, _)| *outcome).max().unwrap_or(0);
    // The name below the last outcome is centred there, and must end inside.
    let right = right.max(highest.to_string().len() as i32 * 5);
    let (right, bottom) = (width as i32 - right, height as i32 - bottom);
    let tallest = both().map(|(_, height)| *height).fold(0.0, f64::max);
    let heights = probability_ticks(tallest);
    // Room on both sides, for the bars' width.
    let beside = (highest.abs_diff(lowest) as f64 / 50.0).max(0.5);
    let across = Scale::new(
        [lowest as f64 - beside, highest as f64 + beside],
        [left.into(), right.into()],
    );
    let up = Scale::new([0.0, heights.end], [bottom.into(), top.into()]);

    for (height, label) in &heights.labels {
        let y = up.pixel(*height);
        area.draw(&PathElement::new([(left, y), (right, y)], GRID))?;
        write(area, label, 15, (left - 8, y), (HPos::Right, VPos::Center))?;
    }
    let half = half_of_bar(across.length(1.0), plot.bars.len());
    for (outcome, height) in &plot.bars {
        let middle = across.exact(*outcome as f64);
        let [from, to] = [middle - half, middle + half].map(|x| x.round() as i32);
        let corners = [(from, up.pixel(*height)), (to.max(from + 1), bottom)];
        area.draw(&Rectangle::new(corners, BAR.filled()))?;
    }
    for (outcome, height) in &plot.points {
        let place = (across.pixel(*outcome as f64), up.pixel(*height));
        let radius = half.clamp(2.0, 5.0) as i32;
        area.draw(&Circle::new(place, radius, POINT.filled()))?;
    }
    area.draw(&PathElement::new([(left, bottom), (right, bottom)], BLACK))?;
    for outcome in outcome_ticks(lowest, highest) {
        let x = across.pixel(outcome as f64);
        area.draw(&PathElement::new([(x, bottom), (x, bottom + 5)], BLACK))?;
        let place = (x, bottom + 9);
        write(
            area,
            &outcome.to_string(),
            15,
            place,
            (HPos::Center, VPos::Top),
        )?;
    }
    name_all(plot, area, [left, top, right, bottom])
}

/// Half the width of a bar, where an outcome has so many pixels.
fn half_of_bar(pixels: f64, bars: usize) -> f64 {
    // Of narrow bars, gaps would make stripes; and few ones far apart would be hair lines.
    let width = if pixels < 5.0 { pixels } else { 0.8 * pixels };
    let least = if bars <= 100 { 3.0 } else { 1.0 };
    width.max(least) / 2.0
}

/// The title and what the axes are.
fn name_all<B: DrawingBackend>(
    plot: &Plot,
    area: &DrawingArea<B, Shift>,
    [left, top, right, bottom]: [i32; 4],
) -> Result<(), Error<B>> {
    let (across, up) = ((left + right) / 2, (top + bottom) / 2);
    let centred = (HPos::Center, VPos::Top);
    write(area, &shortened(&plot.title), 22, (across, 16), centred)?;
    if !plot.points.is_empty() {
        let legend = format!("bars: {}; points: exact probability", plot.measure);
        write(area, &legend, 15, (across, 44), centred)?;
    }
    write(area, "outcome", 17, (across, bottom + 36), centred)?;
    let style = ("sans-serif", 17).into_font();
    let style = style.transform(FontTransform::Rotate270);
    let style = TextStyle::from(style).pos(Pos::new(HPos::Center, VPos::Top));
    area.draw(&Text::new(plot.measure, (18, up), style))
}

/// A title that is wider than the picture would lose both its ends.
fn shortened(title: &str) -> String {
    match title.char_indices().nth(LONGEST_TITLE) {
        Some((end, _)) => format!("{}...", &title[..end]),
        None => title.into(),
    }
}

fn write<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    text: &str,
    size: i32,
    place: (i32, i32),
    (across, up): (HPos, VPos),
) -> Result<(), Error<B>> {
    let style = TextStyle::from(("sans-serif", size).into_font()).pos(Pos::new(across, up));
    area.draw(&Text::new(text, place, style))
}
