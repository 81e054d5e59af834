//! Horizontal bars with error bars. Each layer stands where `transform` puts it: the page's script closes gaps.

use super::*;

const BAR: RGBColor = RGBColor(0xa8, 0xb3, 0xbd);
/// The height of the axis above the bars, and from one bar to the next.
const TOP_PX: u32 = 22;
const STEP_PX: u32 = 19;
const NAMES_PX_MAX: u32 = 230;

/// A horizontal bar.
#[derive(Debug)]
pub struct Bar<'a> {
    /// What stands beside it.
    pub name: String,
    /// Whose it is.
    pub contender: &'a str,
    /// The contender's category; without one the bar is never hidden.
    pub category: Option<&'a str>,
    /// Where it ends.
    pub value: f64,
    /// From where to where the error bar goes, if there is one.
    pub range: Option<[f64; 2]>,
    /// What stands at its end.
    pub label: String,
}

/// The chart: bars from `low` on, or from the power of ten below them; `None` without bars.
#[must_use]
pub fn chart(bars: &[Bar<'_>], low: Option<f64>, width: u32, about: &str) -> Option<Element> {
    let most = |bar: &Bar<'_>| bar.range.map_or(bar.value, |[_, most]| most);
    let ends = bars.iter().flat_map(|bar| [bar.value, most(bar)]);
    let Axis(Range { start, end }) = Axis::around(ends)?;
    let low = low.unwrap_or_else(|| 10_f64.powf(start.log10().floor()));
    let axis = Axis(low..end.max(low * 1.5));
    let left = longest_px(bars.iter().map(|bar| &bar.name)).min(NAMES_PX_MAX);
    let right = width - longest_px(bars.iter().map(|bar| &bar.label)).min(width / 2);
    let size = [width, height_px(bars.len())];
    let ground = drawn(size, |area| {
        let mut chart = ChartBuilder::on(area)
            .set_label_area_size(LabelAreaPosition::Top, TOP_PX)
            .margin_left(left)
            .margin_right(width - right)
            .build_cartesian_2d(axis.log(), 0.0..1.0)?;
        let mut mesh = chart.configure_mesh();
        mesh.disable_y_mesh()
            .disable_y_axis()
            .x_labels(axis.labels());
        mesh.axis_style(TRANSPARENT)
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT);
        mesh.label_style(style(SMALL_PX, SOFT, false))
            .x_label_formatter(&|tick| axis.label(*tick))
            .draw()
    });
    let names: Vec<&str> = bars.iter().map(|bar| bar.contender).collect();
    let layers = bars
        .iter()
        .zip(ranks(&names))
        .enumerate()
        .map(|(place, (bar, rank))| {
            let y = TOP_PX as usize + STEP_PX as usize * place;
            let about = format!("{}: {}", bar.name, bar.label);
            let group = layer(bar.contender, bar.category, rank, &about);
            let shown = drawn([width, STEP_PX], |area| {
                draw(area, bar, &axis, (left as i32, right as i32))
            });
            group
                .with("transform", format!("translate(0 {y})"))
                .raw(shown)
        });
    let chart = svg("bars", size, about)
        .with("data-top", TOP_PX)
        .with("data-step", STEP_PX);
    Some(chart.raw(ground).children(layers))
}

/// The height of a chart with so many bars.
#[must_use]
pub fn height_px(bars: usize) -> u32 {
    TOP_PX + STEP_PX * bars as u32 + 4
}

/// The width of the longest of these, about.
fn longest_px<'a>(words: impl Iterator<Item = &'a String>) -> u32 {
    let letters = words.map(|words| words.chars().count()).max();
    letters.unwrap_or_default() as u32 * LETTER_PX + 12
}

fn draw(area: &Area<'_>, bar: &Bar<'_>, axis: &Axis, px: (i32, i32)) -> Drawn {
    let ours = class_of(bar.contender) == "ours";
    let (middle, step) = (STEP_PX as i32 / 2, STEP_PX as i32);
    let mut end = axis.at(bar.value, px).max(px.0 + 1);
    let colour = if ours { OURS } else { BAR };
    area.draw(&Rectangle::new(
        [(px.0, 3), (end, step - 3)],
        colour.filled(),
    ))?;
    if let Some([least, most]) = bar.range {
        let ends = [least, most].map(|value| axis.at(value, px));
        error_bar(area, ends.map(|x| (x, middle)))?;
        end = end.max(ends[1]);
    }
    let letters = (px.0 as u32).saturating_sub(8) / LETTER_PX;
    let name = shortened(&bar.name, letters as usize);
    let colour = if ours { OURS } else { INK };
    write(
        area,
        &name,
        (px.0 - 6, middle),
        HPos::Right,
        style(TEXT_PX, colour, ours),
    )?;
    write(
        area,
        &bar.label,
        (end + 5, middle),
        HPos::Left,
        style(SMALL_PX, SOFT, false),
    )
}
