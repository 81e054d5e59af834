//! Cost against size, one line a contender, with error bars where its runs differ.
//!
//! Names stand at the ends of the lines, moved apart; the page's script does that again when some are
//! hidden, from what the chart says about itself in `data-…`.

use super::*;

const HEIGHT_PX: u32 = 330;
const LEFT_PX: u32 = 44;
const TOP_PX: u32 = 8;
const BOTTOM_PX: u32 = 36;
/// Room for the names at the ends of the lines, which are so far apart where there is room.
const NAMES_PX: u32 = 150;
const NAME_STEP_PX: u32 = 13;
const NAME_LETTERS_MAX: usize = 21;
/// Where the lines end, and the chart's lowest value stands.
const RIGHT_PX: u32 = NARROW_PX - NAMES_PX;
const FLOOR_PX: u32 = HEIGHT_PX - BOTTOM_PX;
/// The colours of others' lines, which repeat.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0x6f, 0x7c, 0x88),
    RGBColor(0xa0, 0x6a, 0x2c),
    RGBColor(0x55, 0x70, 0xb8),
    RGBColor(0x9b, 0x55, 0x90),
    RGBColor(0x7d, 0x8a, 0x2e),
    RGBColor(0xb3, 0x55, 0x4d),
];

/// A line.
#[derive(Debug)]
pub struct Line<'a> {
    /// Whose it is.
    pub contender: &'a str,
    /// The contender's category.
    pub category: &'a str,
    /// The sizes, each with the least of all runs, the point, and the most.
    pub points: Vec<(f64, [f64; 3])>,
}

/// The chart against `size`; `None` without points.
#[must_use]
pub fn chart(lines: &[Line<'_>], size: &str, about: &str) -> Option<Element> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let x = Axis::around(points().map(|(x, _)| *x))?;
    let y = Axis::around(points().flat_map(|(_, values)| *values))?;
    let area_px = [NARROW_PX, HEIGHT_PX];
    let ground = drawn(area_px, |area| {
        let mut chart = ChartBuilder::on(area)
            .set_label_area_size(LabelAreaPosition::Left, LEFT_PX)
            .set_label_area_size(LabelAreaPosition::Bottom, BOTTOM_PX)
            .margin_top(TOP_PX)
            .margin_right(NAMES_PX)
            .build_cartesian_2d(x.log(), y.log())?;
        let (x_label, y_label) = (|tick: &f64| x.label(*tick), |tick: &f64| y.label(*tick));
        let mut mesh = chart.configure_mesh();
        mesh.x_labels(x.labels()).x_label_formatter(&x_label);
        mesh.y_labels(y.labels()).y_label_formatter(&y_label);
        mesh.axis_style(GRID).bold_line_style(GRID);
        mesh.light_line_style(TRANSPARENT).x_desc(size);
        mesh.label_style(style(SMALL_PX, SOFT, false)).draw()
    });
    let at = |(size, value): (f64, f64)| {
        let x = x.at(size, (LEFT_PX as i32, RIGHT_PX as i32));
        (x, y.at(value, (FLOOR_PX as i32, TOP_PX as i32)))
    };
    let end = |line: &Line<'_>| {
        line.points
            .last()
            .map_or(0, |(x, [_, y, _])| at((*x, *y)).1)
    };
    let mut ends: Vec<i32> = lines.iter().map(end).collect();
    spread_out(&mut ends);
    let contenders: Vec<&str> = lines.iter().map(|line| line.contender).collect();
    let (mut counts, ranks) = ([0; 2], ranks(&contenders));
    let layers = lines
        .iter()
        .zip(ranks)
        .zip(ends)
        .map(|((line, rank), name_at)| {
            let ours = class_of(line.contender) == "ours";
            let count = &mut counts[usize::from(ours)];
            let nth = *count % COLOURS.len();
            *count += 1;
            let colour = if ours { OURS } else { COLOURS[nth] };
            let shown = drawn(area_px, |area| draw(area, line, colour, at));
            let group = layer(line.contender, Some(line.category), rank, line.contender);
            let group = group
                .with("data-nth", nth)
                .with("data-end", end(line))
                .raw(shown);
            group.child(name(line.contender, colour, name_at))
        });
    let chart = svg("lines", area_px, about).with("data-top", TOP_PX);
    let chart = chart
        .with("data-bottom", FLOOR_PX)
        .with("data-step", NAME_STEP_PX);
    Some(chart.raw(ground).children(layers))
}

fn draw(
    area: &Area<'_>,
    line: &Line<'_>,
    colour: RGBColor,
    at: impl Fn((f64, f64)) -> (i32, i32),
) -> Drawn {
    let path: Vec<(i32, i32)> = line
        .points
        .iter()
        .map(|(x, [_, y, _])| at((*x, *y)))
        .collect();
    for dot in &path {
        area.draw(&Circle::new(*dot, 3, colour.filled()))?;
    }
    area.draw(&PathElement::new(path, colour.stroke_width(2)))?;
    for (x, [least, _, most]) in line
        .points
        .iter()
        .filter(|(_, [least, _, most])| least < most)
    {
        error_bar(area, [*least, *most].map(|y| at((*x, y))))?;
    }
    Ok(())
}

/// A name at the end of its line, which `transform` puts there.
fn name(contender: &str, colour: RGBColor, y: i32) -> Element {
    let middle = NAME_STEP_PX as i32 / 2;
    let shown = drawn([NARROW_PX, NAME_STEP_PX], |area| {
        let name = shortened(contender, NAME_LETTERS_MAX);
        let style = style(TEXT_PX, colour, class_of(contender) == "ours");
        write(
            area,
            &name,
            (RIGHT_PX as i32 + 7, middle),
            HPos::Left,
            style,
        )
    });
    let at = format!("translate(0 {})", y - middle);
    el("g").class("end").with("transform", at).raw(shown)
}

/// Moves names apart that would stand on each other, as little as possible and none out of sight.
fn spread_out(ends: &mut [i32]) {
    let (mut least, mut most) = (TOP_PX as i32, FLOOR_PX as i32);
    let step = (NAME_STEP_PX as i32).min((most - least) / ends.len().max(1) as i32);
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by_key(|index| ends[*index]);
    for index in &order {
        ends[*index] = ends[*index].max(least);
        least = ends[*index] + step;
    }
    for index in order.iter().rev() {
        ends[*index] = ends[*index].min(most);
        most = ends[*index] - step;
    }
}
