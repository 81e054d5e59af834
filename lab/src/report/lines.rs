//! Cost against size, both logarithmic, one line a contender, as SVG.
//!
//! Points have error bars where the runs differ. Names stand at the ends of the lines, moved apart;
//! the page's script does that again when some are hidden, from what the chart says about itself
//! in `data-…`.

use super::axis::{Log, short};
use super::bars::{WIDTH_PX, px};
use super::class_of;
use super::growth::category_of;
use super::markup::{Element, el, text};
use super::series::Series;
use crate::results::Row;
use crate::scaling::Line;

const HEIGHT_PX_MIN: f64 = 330.0;
const LEFT_PX: f64 = 44.0;
const TOP_PX: f64 = 8.0;
const BOTTOM_PX: f64 = 36.0;
/// Room for the names at the ends of the lines.
const NAMES_PX: f64 = 150.0;
const NAME_LETTERS_MAX: usize = 21;
/// Names are at least so far apart.
const NAME_STEP_PX: f64 = 13.0;
/// How many kinds of lines the page's style has.
const STYLES: usize = 6;

/// What a line shows of a row: the least of all runs, the point, the most.
pub type Pick = fn(&Row) -> Option<[f64; 3]>;
/// A size and what is shown of it.
type Point = (f64, [f64; 3]);

/// The chart; `None` without points.
#[must_use]
pub fn chart(series: &Series<'_>, pick: Pick, about: &str) -> Option<Element> {
    let lines: Vec<(&Line<'_>, Vec<Point>)> = series
        .lines
        .iter()
        .map(|line| (line, points(line, pick)))
        .filter(|(_, points)| points.len() > 1)
        .collect();
    let all = || lines.iter().flat_map(|(_, points)| points.iter().copied());
    let right = WIDTH_PX - NAMES_PX;
    let names = TOP_PX + NAME_STEP_PX * lines.len() as f64;
    let bottom = names.max(HEIGHT_PX_MIN - BOTTOM_PX);
    let height = bottom + BOTTOM_PX;
    let x = Log::tight(all().map(|(x, _)| x), [LEFT_PX, right])?;
    let y = Log::tight(all().flat_map(|(_, values)| values), [bottom, TOP_PX])?;
    let svg = el("svg")
        .class("lines")
        .with("viewBox", format!("0 0 {WIDTH_PX} {height}"))
        .with("data-bottom", bottom)
        .with("data-top", TOP_PX)
        .with("data-step", NAME_STEP_PX)
        .with("role", "img")
        .with("aria-label", about);
    let mut ends: Vec<f64> = lines
        .iter()
        .filter_map(|(_, points)| points.last().map(|(_, [_, value, _])| y.at(*value)))
        .collect();
    spread_out(&mut ends, bottom);
    let mut ours = 0;
    let mut others = 0;
    let groups = lines.iter().zip(ends).map(|((line, points), end)| {
        let count = match class_of(line.contender) {
            "ours" => &mut ours,
            _ => &mut others,
        };
        *count += 1;
        group(line, points, [&x, &y], [right, end], (*count - 1) % STYLES)
    });
    let groups: Vec<Element> = groups.collect();
    let option = text("text", series.option.as_str())
        .class("axis")
        .with("x", px((LEFT_PX + right) / 2.0))
        .with("y", height - 4.0);
    Some(
        svg.children(grid(&x, &y, [right, bottom]))
            .child(option)
            .children(groups),
    )
}

fn points(line: &Line<'_>, pick: Pick) -> Vec<Point> {
    let point = |(size, row): &(u64, &Row)| Some((*size as f64, pick(row)?));
    line.rows.iter().filter_map(point).collect()
}

fn grid(x: &Log, y: &Log, [right, bottom]: [f64; 2]) -> Vec<Element> {
    let upright = x.ticks().into_iter().map(|tick| {
        let at = px(x.at(tick));
        let line = el("line").with("x1", &at).with("x2", &at);
        let label = text("text", short(tick))
            .with("x", at)
            .with("y", bottom + 15.0);
        let line = line.with("y1", TOP_PX).with("y2", bottom);
        el("g").class("tick").child(line).child(label)
    });
    let level = y.ticks().into_iter().map(|tick| {
        let at = y.at(tick);
        let line = el("line").with("x1", LEFT_PX).with("x2", right);
        let label = text("text", short(tick)).with("x", LEFT_PX - 5.0);
        let line = line.with("y1", px(at)).with("y2", px(at));
        let label = label.with("y", px(at + 4.0)).class("level");
        el("g").class("tick").child(line).child(label)
    });
    upright.chain(level).collect()
}

fn group(
    line: &Line<'_>,
    points: &[Point],
    [x, y]: [&Log; 2],
    [right, end]: [f64; 2],
    style: usize,
) -> Element {
    let at = |(size, [_, value, _]): &Point| (px(x.at(*size)), px(y.at(*value)));
    let path: Vec<String> = points
        .iter()
        .map(|point| {
            let (x, y) = at(point);
            format!("{x},{y}")
        })
        .collect();
    let dots = points.iter().map(|point| {
        let (x, y) = at(point);
        el("circle").with("cx", x).with("cy", y).with("r", 2.6)
    });
    let ranges = points.iter().filter(|(_, [least, _, most])| least < most);
    let errors = ranges.map(|(size, [least, _, most])| {
        let (x, [least, most]) = (x.at(*size), [least, most].map(|value| px(y.at(*value))));
        let (from, to) = (px(x - 3.0), px(x));
        let path = format!("M{to} {least}V{most}M{from} {least}h6M{from} {most}h6");
        el("path").class("error").with("d", path)
    });
    let mut name = line.contender.to_owned();
    if name.chars().count() > NAME_LETTERS_MAX {
        name = name
            .chars()
            .take(NAME_LETTERS_MAX - 1)
            .chain(['…'])
            .collect();
    }
    el("g")
        .class(format!("{} s{style}", class_of(line.contender)))
        .with("data-contender", line.contender)
        .with("data-category", category_of(line))
        .with(
            "data-end",
            px(points.last().map_or(end, |(_, [_, value, _])| y.at(*value))),
        )
        .child(text("title", line.contender))
        .child(el("polyline").with("points", path.join(" ")))
        .children(errors)
        .children(dots)
        .child(
            text("text", name)
                .class("end")
                .with("x", px(right + 7.0))
                .with("y", px(end + 4.0)),
        )
}

/// Moves names apart that would stand on each other, as little as possible and none out of sight.
fn spread_out(ends: &mut [f64], bottom: f64) {
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by(|a, b| ends[*a].total_cmp(&ends[*b]));
    let mut least = TOP_PX;
    for index in &order {
        ends[*index] = ends[*index].max(least);
        least = ends[*index] + NAME_STEP_PX;
    }
    let mut most = bottom;
    for index in order.iter().rev() {
        ends[*index] = ends[*index].min(most);
        most = ends[*index] - NAME_STEP_PX;
    }
}
