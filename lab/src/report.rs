//! The report: one HTML page that needs nothing beside it, no server and no network.
//!
//! [`races`] cuts the rows of all files into what may be compared, and [`columns`] says which of them stand
//! for their workloads: [`first`] opens the page with who is first in each, [`overview`] puts the ratios
//! side by side. [`section`] shows each race, [`growth`] what differs in size only ([`series`]), [`past`]
//! what was printed long ago. The page is built as a tree ([`markup`]), the charts as SVG in
//! it ([`chart`]). Everything of a contender carries `data-contender`; the page's script
//! (`report/script.js`) hides by it, and keeps the choice in the URL's fragment.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};

use crate::commands::BadInput;
use crate::inputs::{self, Source, same_file};
use crate::machine::Machine;
use crate::paths::Paths;
use crate::results::{Results, check_writable, write_atomically};
use crate::sayln;
use crate::workloads::find;

pub mod chart;
pub mod columns;
pub mod first;
pub mod growth;
pub mod markup;
pub mod means;
pub mod overview;
pub mod past;
pub mod picture;
pub mod races;
pub mod section;
pub mod series;
pub mod warnings;

pub use markup::escape;
use markup::{Element, el, text};
use races::Race;

const STYLE: &str = include_str!("report/style.css");
const SCRIPT: &str = include_str!("report/script.js");

/// A sentence with more letters than this is folded.
const LONG: usize = 160;

/// How the page over a whole folder is called.
const PAGE: &str = "report.html";

/// What `lab report` was asked for.
#[derive(Debug, Args)]
pub struct Asked {
    /// Results files, or folders with some (records, too); without any: all of target/lab.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The page to write, instead of report.html in target/lab.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write the chart of one race as SVG to this file, and no page.
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    pub svg: Option<PathBuf>,
    /// Only these contenders in that chart, by name, separated by commas.
    #[arg(long, value_name = "A,B", value_delimiter = ',', requires = "svg")]
    pub only: Vec<String>,
}

/// `lab report`.
///
/// # Errors
/// [`BadInput`] about a file that was named or that cannot be written; nothing was written then.
pub fn run(asked: &Asked, paths: &Paths) -> Result<u8> {
    let page = match &asked.out {
        Some(page) => {
            check_writable(page).map_err(|error| BadInput(format!("--out: {error:#}")))?
        }
        None => paths.out.join(PAGE),
    };
    let sources = if asked.paths.is_empty() {
        inputs::found(&paths.out)?
    } else {
        inputs::named(&asked.paths)?
    };
    if sources.is_empty() {
        let out = paths.out.display();
        let message =
            format!("no results in {out}; run a workload first (`lab run ring`), or name files");
        return Err(BadInput(message).into());
    }
    if let Some(file) = &asked.svg {
        return picture::run(&sources, &asked.only, file);
    }
    no_results_lost(&sources, &page)?;
    if let Some(folder) = page.parent() {
        std::fs::create_dir_all(folder)?;
    }
    write(&sources, &page)?;
    sayln!("report: {}", page.display());
    Ok(0)
}

/// Refuses to write the page over results.
fn no_results_lost(sources: &[Source], page: &Path) -> Result<(), BadInput> {
    let (shown, advice) = (page.display(), "give a file that ends in .html");
    if sources.iter().any(|source| same_file(&source.path, page)) {
        return Err(BadInput(format!(
            "--out: {shown} holds results of this report, and the page would replace them; {advice}"
        )));
    }
    let is_json = |kind: &OsStr| kind.eq_ignore_ascii_case("json");
    if page.extension().is_some_and(is_json) {
        return Err(BadInput(format!(
            "--out: {shown} is called as results are, and the page is HTML; {advice}"
        )));
    }
    Ok(())
}

/// What every run leaves behind: a page about it alone, and one about everything in the folder.
///
/// # Errors
/// They cannot be written. Another file of the folder that is not right is only said.
pub fn after_run(paths: &Paths, workload: &str, results: &Results) -> Result<()> {
    let path = paths.out.join(format!("{workload}.json"));
    let own = Source {
        name: format!("{workload}.json"),
        path,
        results: results.clone(),
    };
    let page = paths.out.join(format!("{workload}.html"));
    write(&[own], &page)?;
    sayln!("\nreport: {}", page.display());
    after_all(paths)
}

/// The page about everything in the folder.
///
/// # Errors
/// It cannot be written. A file of the folder that is not right is only said.
pub fn after_all(paths: &Paths) -> Result<()> {
    let page = paths.out.join(PAGE);
    write(&inputs::found(&paths.out)?, &page)?;
    sayln!("report: {} (all of this folder)", page.display());
    Ok(())
}

/// Writes the page about these files to `page`, in one step.
///
/// # Errors
/// Whatever the file system says.
pub fn write(sources: &[Source], page: &Path) -> Result<()> {
    write_atomically(page, html(sources)?.as_bytes())
}

/// The whole page.
///
/// # Errors
/// The data cannot be written as JSON.
pub fn html(sources: &[Source]) -> Result<String> {
    let races = races::races(sources);
    let points = columns::points(&races, sources);
    let compared = columns::compared(&races, sources);
    let title = match races.as_slice() {
        [race] => race.title(),
        _ => "Gossamer's benchmark lab".to_owned(),
    };
    let lead = format!(
        "{} and {} in {}. Whole processes; a claim is a ratio from one run of the lab.",
        count(sources.len(), "results file"),
        count(races.len(), "race"),
        count(workloads(&races).len(), "workload"),
    );
    let header = el("header")
        .child(text("h1", &title))
        .children(first::opening(&compared))
        .child(text("p", lead));
    let main = el("main")
        .children(list("warnings", &warnings::of_sources(sources)))
        .child(filters(&races))
        .children(overview::overview(&compared))
        .children(
            workloads(&races)
                .into_iter()
                .map(|name| workload(name, &races, &points, sources)),
        )
        .child(machines(sources))
        .child(data());
    let head = el("head")
        .child(el("meta").with("charset", "utf-8"))
        .child(
            el("meta")
                .with("name", "viewport")
                .with("content", "width=device-width, initial-scale=1"),
        )
        .child(text("title", title))
        .child(el("style").raw(STYLE));
    let body = el("body")
        .child(header)
        .child(main)
        .child(
            el("script")
                .with("type", "application/json")
                .with("id", "data")
                .raw(embedded(sources)?),
        )
        .child(el("script").raw(SCRIPT));
    let page = el("html").with("lang", "en").child(head).child(body);
    Ok(format!("<!DOCTYPE html>\n{}\n", page.render()))
}

fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// The workloads that there are races of, in their order.
fn workloads<'a>(races: &[Race<'a>]) -> Vec<&'a str> {
    let mut names: Vec<&str> = races.iter().map(|race| race.workload).collect();
    names.dedup();
    names
}

fn workload(
    name: &str,
    races: &[Race<'_>],
    points: &BTreeSet<usize>,
    sources: &[Source],
) -> Element {
    let known = find(name);
    let op = known.map_or(["operation", "operations"], |known| known.op);
    let own = races
        .iter()
        .enumerate()
        .filter(|(_, race)| race.workload == name);
    let series = series::of(name, sources);
    let plain: Vec<&Race<'_>> = own.clone().map(|(_, race)| race).collect();
    el("section")
        .class("workload")
        .child(text("h2", name))
        .children(known.map(|known| text("p", known.about)))
        .children(series.iter().map(|series| growth::growth(series, op)))
        .children(own.map(|(index, race)| section::section(index, race, points.contains(&index))))
        .children(past::past(name, &plain))
}

/// Whose a contender is, as a class of the page's style.
#[must_use]
pub fn class_of(contender: &str) -> &'static str {
    if contender.starts_with("gossamer/") {
        "ours"
    } else {
        "other"
    }
}

/// What variants of one contender have in common: its name up to the first `/` or `-`.
fn family_of(contender: &str) -> &str {
    contender.split(['/', '-']).next().unwrap_or_default()
}

/// A contender's name as the head of a table row; it may be broken where it has parts.
fn name_of(contender: &str) -> Element {
    let mut parts = contender.split_inclusive('/');
    let head = text("th", parts.next().unwrap_or_default());
    parts.fold(head, |head, part| head.child(el("wbr")).text(part))
}

/// A table that is wider than a phone scrolls by itself.
fn scrolling(table: Element) -> Element {
    el("div").class("scrolling").child(table)
}

fn figure_of(caption: &str, chart: Option<Element>) -> Option<Element> {
    let chart = chart?;
    Some(el("figure").child(text("figcaption", caption)).child(chart))
}

/// A list of sentences, unless there are none; long ones are folded.
fn list(class: &'static str, sentences: &[String]) -> Option<Element> {
    let items = sentences.iter().map(|sentence| folded("li", sentence));
    (!sentences.is_empty()).then(|| el("ul").class(class).children(items))
}

/// A sentence that unfolds, if it is long: what stands before its list is seen at once.
fn folded(element: &'static str, sentence: &str) -> Element {
    if sentence.chars().count() <= LONG {
        return text(element, sentence);
    }
    let ends = [": ", " ("].iter().filter_map(|end| sentence.find(end));
    let (head, rest) = sentence.split_at(ends.min().unwrap_or(0));
    let summary = text("summary", head).child(text("span", "…"));
    el(element).child(el("details").child(summary).text(rest))
}

/// Everything to filter by; the script shows it, because without one it would do nothing.
fn filters(races: &[Race<'_>]) -> Element {
    let rows = || races.iter().flat_map(|race| &race.rows);
    let contenders: BTreeMap<&str, &str> = rows()
        .map(|row| (row.contender.as_str(), row.category.as_str()))
        .collect();
    let categories: BTreeSet<&str> = contenders
        .values()
        .copied()
        .filter(|name| !name.is_empty())
        .collect();
    let ticked = |class: &'static str, value: &str| {
        let input = el("input").with("type", "checkbox").with("checked", "");
        let input = input.class(class).with("value", value);
        el("label").child(input).text(value)
    };
    let of_category = categories.iter().map(|name| ticked("category", name));
    let of_contender = contenders.iter().map(|(name, category)| {
        let label = ticked("contender", name).with("data-of", category);
        label.class(class_of(name))
    });
    let search = el("input")
        .with("type", "search")
        .with("id", "find")
        .with("placeholder", "part of a name")
        .with("aria-label", "only contenders with this in their name");
    let against = text("label", "means against ").child(el("select").with("id", "against"));
    el("form")
        .with("id", "filters")
        .with("hidden", "")
        .child(
            el("div")
                .class("row")
                .child(text("strong", "Show"))
                .child(search)
                .children(of_category)
                .child(
                    text("button", "all")
                        .with("type", "button")
                        .with("id", "all"),
                )
                .child(
                    text("button", "none")
                        .with("type", "button")
                        .with("id", "none"),
                )
                .child(el("output").with("id", "shown"))
                .child(against),
        )
        .child(
            el("details").child(text("summary", "contenders")).child(
                el("div")
                    .class("row")
                    .with("id", "contenders")
                    .children(of_contender),
            ),
        )
}

fn machines(sources: &[Source]) -> Element {
    let head = ["file", "measured", "load", "commit"].map(|name| text("th", name));
    let rows = sources.iter().map(|source| {
        let machine = &source.results.machine;
        let load = format!("{:.2}", machine.load_1min);
        let cells = [&machine.date, &load, &machine.commit].map(|cell| text("td", cell));
        el("tr").child(text("th", &source.name)).children(cells)
    });
    let files = el("table")
        .child(el("thead").child(el("tr").children(head)))
        .child(el("tbody").children(rows));
    let mut same: Vec<(Value, &Machine, Vec<&str>)> = Vec::new();
    for source in sources {
        let machine = &source.results.machine;
        let lasting = lasting(machine);
        match same.iter_mut().find(|(known, ..)| *known == lasting) {
            Some((.., files)) => files.push(&source.name),
            None => same.push((lasting, machine, vec![&source.name])),
        }
    }
    let several = same.len() > 1;
    let lists = same.iter().map(|(lasting, machine, files)| {
        let title = several.then(|| text("h3", files.join(", ")));
        let block = el("div").children(title);
        block.child(text("p", machine.line())).child(facts(lasting))
    });
    el("section")
        .with("id", "machine")
        .child(text("h2", "Machine and files"))
        .child(scrolling(files))
        .children(lists.collect::<Vec<_>>())
}

/// A machine and its tools without what differs from run to run.
fn lasting(machine: &Machine) -> Value {
    let mut facts = json!(machine);
    if let Some(facts) = facts.as_object_mut() {
        for key in ["date", "load_1min", "commit"] {
            facts.remove(key);
        }
    }
    facts
}

fn facts(machine: &Value) -> Element {
    let mut facts: Vec<(String, String)> = Vec::new();
    for (key, value) in machine.as_object().into_iter().flatten() {
        match value {
            Value::Object(tools) => {
                let tools = tools
                    .iter()
                    .map(|(tool, version)| (tool.clone(), races::plain(version)));
                facts.extend(tools);
            }
            // A record from before the lab wrote it down.
            Value::Number(number) if key == "pointer_bits" && number.as_u64() == Some(0) => {}
            Value::String(text) if key.starts_with("cpu_") && text.is_empty() => {}
            other => facts.push((key.replace('_', " "), races::plain(other))),
        }
    }
    let pairs = facts
        .into_iter()
        .map(|(key, value)| el("div").child(text("dt", key)).child(text("dd", value)));
    el("dl").children(pairs)
}

fn data() -> Element {
    el("section").child(text("h2", "Data")).child(
        el("p")
            .text("All results files are in this page as JSON, in the element with the id ")
            .child(text("code", "data"))
            .text(". ")
            .child(
                text("button", "save it")
                    .with("type", "button")
                    .with("id", "save")
                    .with("hidden", ""),
            ),
    )
}

/// The results files by name, as JSON that cannot end its element.
fn embedded(sources: &[Source]) -> Result<String> {
    let files: serde_json::Map<String, Value> = sources
        .iter()
        .map(|source| Ok((source.name.clone(), serde_json::to_value(&source.results)?)))
        .collect::<Result<_>>()?;
    let text = serde_json::to_string(&json!({ "files": files }))?;
    Ok(text.replace('<', "\\u003c"))
}
