//! Horizontal bars on a logarithmic scale, with error bars, as SVG.
//!
//! Each bar is a group that says whose it is and stands where `transform` puts it: the page's
//! script hides groups and closes the gaps.

use super::axis::{Log, short};
use super::markup::{Element, el, text};

/// One contender.
#[derive(Debug)]
pub struct Bar<'a> {
    /// Its name.
    pub contender: &'a str,
    /// Its category.
    pub category: &'a str,
    /// Where the bar ends.
    pub value: f64,
    /// From where to where the error bar goes, if there is one.
    pub range: Option<[f64; 2]>,
    /// The figure beside it.
    pub label: String,
}

/// The width of every chart: about that of a phone, so that text stays readable there.
pub const WIDTH_PX: f64 = 480.0;
/// The height of the axis above the bars.
const TOP_PX: f64 = 22.0;
/// From one bar to the next.
const STEP_PX: f64 = 19.0;
/// Room for the figure beside the longest bar.
const FIGURE_PX: f64 = 46.0;
/// The width of a letter, about.
const LETTER_PX: f64 = 7.1;
const NAMES_PX_MAX: f64 = 210.0;

/// The chart; `None` without bars.
#[must_use]
pub fn chart(bars: &[Bar<'_>], about: &str) -> Option<Element> {
    let longest = bars.iter().map(|bar| bar.contender.chars().count()).max()?;
    let left = (longest as f64 * LETTER_PX + 12.0).min(NAMES_PX_MAX);
    let values = bars
        .iter()
        .flat_map(|bar| [Some(bar.value), bar.range.map(|range| range[1])])
        .flatten();
    let axis = Log::powers(values, [left, WIDTH_PX - FIGURE_PX])?;
    let height = TOP_PX + STEP_PX * bars.len() as f64 + 4.0;
    let svg = el("svg")
        .class("bars")
        .with("viewBox", format!("0 0 {WIDTH_PX} {height}"))
        .with("role", "img")
        .with("aria-label", about)
        .with("data-top", TOP_PX)
        .with("data-step", STEP_PX);
    let lines = axis.ticks().into_iter().map(|tick| {
        let at = px(axis.at(tick));
        let line = el("line")
            .with("x1", &at)
            .with("x2", &at)
            .with("y1", TOP_PX - 4.0)
            .with("y2", height);
        let label = text("text", short(tick))
            .with("x", at)
            .with("y", TOP_PX - 9.0);
        el("g").class("tick").child(line).child(label)
    });
    let groups = bars.iter().enumerate().map(|(index, bar)| {
        let y = TOP_PX + STEP_PX * index as f64;
        group(bar, &axis, left).with("transform", format!("translate(0 {y})"))
    });
    Some(svg.children(lines).children(groups))
}

fn group(bar: &Bar<'_>, axis: &Log, left: f64) -> Element {
    let end = axis.at(bar.value);
    let room = ((left - 8.0) / LETTER_PX) as usize;
    let mut name = bar.contender.to_owned();
    if name.chars().count() > room {
        name = name
            .chars()
            .take(room.saturating_sub(1))
            .chain(['…'])
            .collect();
    }
    let middle = STEP_PX / 2.0;
    let rect = el("rect")
        .with("x", px(left))
        .with("y", 3)
        .with("width", px((end - left).max(1.0)))
        .with("height", STEP_PX - 6.0)
        .with("rx", 1.5);
    let mut figure_at = end;
    let mut shown = el("g")
        .class(super::class_of(bar.contender))
        .with("data-contender", bar.contender)
        .with("data-category", bar.category)
        .child(text("title", format!("{}: {}", bar.contender, bar.label)))
        .child(
            text("text", name)
                .class("name")
                .with("x", px(left - 6.0))
                .with("y", middle + 4.0),
        )
        .child(rect);
    if let Some([low, high]) = bar.range {
        let (low, high) = (axis.at(low).max(left), axis.at(high));
        figure_at = figure_at.max(high);
        let path = whiskers(low, high, middle);
        shown = shown.child(el("path").class("error").with("d", path));
    }
    shown.child(
        text("text", &bar.label)
            .class("figure")
            .with("x", px(figure_at + 5.0))
            .with("y", middle + 4.0),
    )
}

/// A line from the least to the most, with a cap at both ends.
fn whiskers(low: f64, high: f64, middle: f64) -> String {
    let (low, high, top) = (px(low), px(high), middle - 3.0);
    format!("M{low} {middle}H{high}M{low} {top}v6M{high} {top}v6")
}

/// A coordinate, to the tenth.
#[must_use]
pub fn px(value: f64) -> String {
    format!("{value:.1}")
}
