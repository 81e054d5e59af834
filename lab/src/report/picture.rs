//! `lab report FILE --svg FILE`: the chart of one race as a picture for other pages.

use std::path::Path;

use anyhow::Result;

use crate::commands::BadInput;
use crate::inputs::Source;
use crate::results::{check_writable, write_atomically};
use crate::sayln;

use super::chart::bars::{chart, height_px};
use super::chart::{WIDE_PX, ranks};
use super::markup::{Element, el, text};
use super::races::{Race, races};
use super::section::costs;

/// So many bars there are without `--only`.
pub const SHOWN_MAX: usize = 10;

/// The height of the line above the bars.
const TITLE_PX: u32 = 24;

/// Writes the picture; the exit code.
///
/// # Errors
/// [`BadInput`] if there is not one race, if a contender is not in it, or if the file cannot be written.
pub fn run(sources: &[Source], only: &[String], file: &Path) -> Result<u8> {
    let races = races(sources);
    let [race] = races.as_slice() else {
        let files: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
        let (count, files) = (races.len(), files.join(", "));
        let message =
            format!("--svg: {count} races in {files}; give a file with the results of one");
        return Err(BadInput(message).into());
    };
    let file = check_writable(file).map_err(|error| BadInput(format!("--svg: {error:#}")))?;
    let picture = drawn(race, only)?;
    write_atomically(&file, picture.as_bytes())?;
    sayln!("picture: {}", file.display());
    Ok(0)
}

fn drawn(race: &Race<'_>, only: &[String]) -> Result<String> {
    let mut bars = costs(race);
    let names: Vec<&str> = bars.iter().map(|bar| bar.contender).collect();
    if let Some(name) = only.iter().find(|name| !names.contains(&name.as_str())) {
        let valid = names.join(", ");
        let message = format!(
            "--only {name}: it is not measured in {}; these are: {valid}",
            race.source.name
        );
        return Err(BadInput(message).into());
    }
    let ranks = ranks(&names);
    let mut place = 0..;
    bars.retain(|bar| match (place.next(), only) {
        (Some(place), []) => ranks[place] < SHOWN_MAX,
        (_, only) => only.iter().any(|name| name == bar.contender),
    });
    let about = format!(
        "{}: nanoseconds per {}, logarithmic",
        race.title(),
        race.op()[0]
    );
    let chart = chart(&bars, None, WIDE_PX, &about);
    let chart =
        chart.ok_or_else(|| BadInput(format!("{}: nothing was measured", race.source.name)))?;
    Ok(titled(chart, &about, height_px(bars.len())).render())
}

/// The chart below a line that says what it is of.
fn titled(chart: Element, about: &str, height: u32) -> Element {
    let title = text("text", about)
        .with("x", WIDE_PX / 2)
        .with("y", TITLE_PX - 7)
        .with("text-anchor", "middle")
        .with("font-family", "system-ui, sans-serif")
        .with("font-size", 13);
    let chart = chart
        .with("y", TITLE_PX)
        .with("width", WIDE_PX)
        .with("height", height);
    el("svg")
        .with("xmlns", "http://www.w3.org/2000/svg")
        .with("viewBox", format!("0 0 {WIDE_PX} {}", TITLE_PX + height))
        .with("style", "background:#fff")
        .child(title)
        .child(chart)
}
