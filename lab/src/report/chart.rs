//! Every chart, drawn by plotters as SVG: horizontal [`bars`], and [`lines`] against a size, on logarithmic scales.
//!
//! A chart is a ground with the axes and over it a layer for each contender. A layer says whose it is
//! and how soon it is to be shown (`data-rank`), so that the page's script can hide it and move what is
//! left. Colours stand in the SVG itself: a chart is the same in a page and as a file of its own.

use std::collections::BTreeSet;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::combinators::{IntoLogRange, LogCoord};
use plotters::coord::ranged1d::Ranged;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::markup::{Element, el, text};
use super::{class_of, family_of};

pub mod bars;
pub mod lines;

/// The width of a chart in a page: about that of a phone, so that text stays readable there.
pub const NARROW_PX: u32 = 480;
/// The width of a chart that stands alone.
pub const WIDE_PX: u32 = 760;
/// The width of the report's first one, whose bars have long words at both ends.
pub const OPENING_PX: u32 = 960;

const INK: RGBColor = RGBColor(0x1c, 0x26, 0x30);
const SOFT: RGBColor = RGBColor(0x5d, 0x6a, 0x76);
const GRID: RGBColor = RGBColor(0xe1, 0xe6, 0xea);
const OURS: RGBColor = RGBColor(0x0d, 0x76, 0x6e);
const FONT: &str = "system-ui, sans-serif";
/// Plotters writes a size divided by 1.24.
const TEXT_PX: f64 = 11.5 * 1.24;
const SMALL_PX: f64 = 10.5 * 1.24;
/// The width of a letter, about.
const LETTER_PX: u32 = 7;
/// An axis of up to so many powers of ten has numbers at their double and fivefold as well.
const DECADES_FEW: f64 = 2.0;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// An axis from one value to another.
#[derive(Debug, Clone)]
struct Axis(Range<f64>);

impl Axis {
    /// One around all values that have a logarithm, with a little room; `None` without any.
    fn around(values: impl IntoIterator<Item = f64>) -> Option<Axis> {
        let values = values
            .into_iter()
            .filter(|value| *value > 0.0 && value.is_finite());
        let ends = values.fold(None, |ends: Option<(f64, f64)>, value| {
            let (least, most) = ends.unwrap_or((value, value));
            Some((least.min(value), most.max(value)))
        });
        ends.map(|(least, most)| Axis(least / 1.1..most * 1.1))
    }

    fn log(&self) -> LogCoord<f64> {
        self.0.clone().log_scale().into()
    }

    /// Where a value stands between two pixels.
    fn at(&self, value: f64, ends_px: (i32, i32)) -> i32 {
        self.log().map(&value.max(self.0.start), ends_px)
    }

    fn decades(&self) -> f64 {
        (self.0.end / self.0.start).log10()
    }

    /// How many numbers plotters should look for: all digits where some get one.
    fn labels(&self) -> usize {
        let decades = self.decades().ceil() as usize + 1;
        if self.decades() <= DECADES_FEW {
            10 * decades
        } else {
            decades
        }
    }

    /// The number at a line; none where they would be too close.
    fn label(&self, value: f64) -> String {
        let first = value / 10_f64.powf((value.log10() + 1e-9).floor());
        let named = [1.0, 2.0, 5.0]
            .iter()
            .any(|digit| (first - digit).abs() < 0.01);
        if named { short(value) } else { String::new() }
    }
}

/// What is drawn on an area of this size, without the `svg` around it.
fn drawn([width, height]: [u32; 2], draw: impl FnOnce(&Area<'_>) -> Drawn) -> String {
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area();
    draw(&area)
        .and_then(|()| area.present())
        .expect("a string takes everything");
    drop(area);
    let inner = svg
        .split_once('\n')
        .and_then(|(_, rest)| rest.rsplit_once("</svg>"));
    inner.map_or_else(String::new, |(inner, _)| inner.to_owned())
}

/// Words at a point, in the middle of their height.
fn write(area: &Area<'_>, words: &str, at: (i32, i32), side: HPos, style: TextStyle<'_>) -> Drawn {
    area.draw_text(words, &style.pos(Pos::new(side, VPos::Center)), at)
}

fn style(px: f64, colour: RGBColor, bold: bool) -> TextStyle<'static> {
    let weight = if bold {
        FontStyle::Bold
    } else {
        FontStyle::Normal
    };
    (FONT, px, weight).into_font().color(&colour)
}

/// The element around a chart.
fn svg(class: &'static str, [width, height]: [u32; 2], about: &str) -> Element {
    el("svg")
        .class(class)
        .with("xmlns", "http://www.w3.org/2000/svg")
        .with("viewBox", format!("0 0 {width} {height}"))
        .with("style", "background:#fff")
        .with("role", "img")
        .with("aria-label", about)
}

/// A contender's layer; one without a category is never hidden.
fn layer(contender: &str, category: Option<&str>, rank: usize, about: &str) -> Element {
    let group = el("g")
        .class(class_of(contender))
        .child(text("title", about));
    let Some(category) = category else {
        return group;
    };
    let group = group
        .with("data-contender", contender)
        .with("data-category", category);
    group.with("data-rank", rank)
}

/// A line from the least to the most of all runs.
fn error_bar(area: &Area<'_>, ends: [(i32, i32); 2]) -> Drawn {
    area.draw(&PathElement::new(ends, INK.stroke_width(1)))
}

/// In which order contenders, given from the best on, are to be shown where there is no room for all:
/// first the best of each family, then the others; ours before theirs.
#[must_use]
pub fn ranks(contenders: &[&str]) -> Vec<usize> {
    let mut families = BTreeSet::new();
    let later: Vec<bool> = contenders
        .iter()
        .map(|name| !families.insert(family_of(name)))
        .collect();
    let mut order: Vec<usize> = (0..contenders.len()).collect();
    order.sort_by_key(|index| (later[*index], class_of(contenders[*index]) != "ours"));
    let mut ranks = vec![0; order.len()];
    for (rank, index) in order.into_iter().enumerate() {
        ranks[index] = rank;
    }
    ranks
}

/// At most so many letters.
fn shortened(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    name.chars()
        .take(letters.saturating_sub(1))
        .chain(['…'])
        .collect()
}

/// A number of an axis, short: 0.5, 20, 10k, 5M.
fn short(value: f64) -> String {
    let scaled = |unit: f64, letter: &str| {
        let text = format!("{:.3}", value / unit);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        format!("{text}{letter}")
    };
    match value {
        v if v >= 0.999e9 => scaled(1e9, "G"),
        v if v >= 0.999e6 => scaled(1e6, "M"),
        v if v >= 0.999e3 => scaled(1e3, "k"),
        _ => scaled(1.0, ""),
    }
}

#[cfg(test)]
mod tests;
