//! Where the instructions of a hop go: by cause, from callgrind's count of each instruction and the lines of the source
//! that it was made of.
//!
//! A hop is counted as [`counts`](crate::counts) does it: the difference of two lengths. The table is compared with the
//! one on the page docs/HOP.md, so that the page stays true, or written there.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

mod costs;
mod lines;

/// Hops of the shorter run.
const HOPS: u64 = 20_000;
/// A cell may differ from the page by so many instructions, as runs in a pool do.
const TOLERANCE: f64 = 2.0;
/// Between these lines the page has the table.
const BEGIN: &str = "<!-- counted by `cargo xtask counts --page` -->\n\n";
const END: &str = "\n<!-- end -->";
const PAGE: &str = "docs/HOP.md";

/// `xtask/hops.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// Files that count for who asks them.
    asked: Vec<String>,
    hop: Vec<Hop>,
    cause: Vec<Cause>,
}

/// One kind of hop.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hop {
    /// The head of its column.
    name: String,
    /// A program of `gossamer-contender` and its arguments; `{n}` stands for the number of times.
    run: Vec<String>,
    /// Hops each time.
    #[serde(default = "one")]
    hops: u64,
}

fn one() -> u64 {
    1
}

/// What instructions are for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cause {
    /// The head of its row.
    name: String,
    /// How the names of its files begin.
    files: Vec<String>,
}

impl Table {
    /// The row of the innermost of these files that says what an instruction is for; they are named from the root of the
    /// repository. The last row, if none does.
    fn row(&self, files: &[String]) -> usize {
        let is_asked = |file: &&String| self.asked.iter().any(|asked| file.starts_with(asked));
        let row = files.iter().find(|file| !is_asked(file)).and_then(|file| {
            let has = |cause: &Cause| cause.files.iter().any(|begins| file.starts_with(begins));
            self.cause.iter().position(has)
        });
        row.unwrap_or(self.cause.len())
    }
}

/// Counts the hops with the programs in this folder, and compares the result with the page, or writes it there.
///
/// # Errors
/// When xtask/hops.toml or the page cannot be read, or valgrind or addr2line fails.
pub fn run(root: &Path, programs: &Path, writes: bool) -> Result<bool> {
    if !lines::can_be_had() {
        println!("{PAGE}: not compared: addr2line is not installed (apt-get install binutils)");
        return Ok(true);
    }
    let text = std::fs::read_to_string(root.join("xtask/hops.toml")).context("xtask/hops.toml")?;
    let table: Table = toml::from_str(&text).context("xtask/hops.toml")?;
    let columns = table
        .hop
        .iter()
        .map(|hop| column(root, &table, programs, hop));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let page = root.join(PAGE);
    let text = std::fs::read_to_string(&page).context(PAGE)?;
    let (before, rest) = text
        .split_once(BEGIN)
        .context("docs/HOP.md: no table begins")?;
    let (old, after) = rest.split_once(END).context("docs/HOP.md: no table ends")?;
    let new = render(&table, &columns);
    if writes {
        std::fs::write(&page, format!("{before}{BEGIN}{new}{END}{after}")).context(PAGE)?;
        println!("{PAGE}: written");
        return Ok(true);
    }
    let is_true = are_near(old, &new);
    match is_true {
        true => println!("{PAGE}: its table holds"),
        false => {
            println!("{PAGE}: expected this table; `cargo xtask counts --page` writes it:\n{new}")
        }
    }
    Ok(is_true)
}

/// Instructions a hop by cause, and last those of none.
fn column(root: &Path, table: &Table, programs: &Path, hop: &Hop) -> Result<Vec<f64>> {
    let (program, arguments) = hop.run.split_first().context("nothing to run")?;
    let program = programs
        .join(program)
        .canonicalize()
        .context("the contender")?;
    let root = &root.canonicalize().context("the repository")?;
    let costs = |hops: u64| {
        let times = (hops / hop.hops).to_string();
        let arguments: Vec<_> = arguments
            .iter()
            .map(|word| word.replace("{n}", &times))
            .collect();
        costs::of(&program, &arguments)
    };
    let (short, long) = (costs(HOPS)?, costs(2 * HOPS)?);
    let of_hops = |address: u64, cost: u64| {
        let before = short.get(&address).copied().unwrap_or(0);
        (address, (cost as f64 - before as f64) / HOPS as f64)
    };
    let each: BTreeMap<u64, f64> = long
        .into_iter()
        .map(|(address, cost)| of_hops(address, cost))
        .filter(|(_, cost)| cost.abs() > 0.001)
        .collect();
    let addresses: Vec<u64> = each.keys().copied().collect();
    let files = lines::of(root, &program, &addresses)?;
    ensure!(
        files.len() == addresses.len(),
        "addr2line left addresses out"
    );
    let mut column = vec![0.0; table.cause.len() + 1];
    for ((_, cost), files) in each.into_iter().zip(files) {
        column[table.row(&files)] += cost;
    }
    Ok(column)
}

/// The table in Markdown.
fn render(table: &Table, columns: &[Vec<f64>]) -> String {
    let heads: Vec<_> = table.hop.iter().map(|hop| hop.name.as_str()).collect();
    let mut text = format!("| instructions a hop | {} |\n", heads.join(" | "));
    text += &format!("| --- |{}\n", " ---: |".repeat(columns.len()));
    let names = table.cause.iter().map(|cause| cause.name.as_str());
    for (row, name) in names.chain(["elsewhere"]).enumerate() {
        text += &line(name, columns.iter().map(|column| column[row]));
    }
    text + &line("all", columns.iter().map(|column| column.iter().sum()))
}

fn line(name: &str, cells: impl Iterator<Item = f64>) -> String {
    let cells: Vec<_> = cells.map(|cell: f64| format!("{cell:.0}")).collect();
    format!("| {name} | {} |\n", cells.join(" | "))
}

/// Whether two tables have the same rows, and nearly the same numbers.
fn are_near(one: &str, other: &str) -> bool {
    let cells = |text: &str| -> Vec<String> {
        let cells = text.split('|').map(|cell| cell.trim().to_string());
        cells.collect()
    };
    let near = |(one, other): (&String, &String)| match (one.parse::<f64>(), other.parse::<f64>()) {
        (Ok(one), Ok(other)) => (one - other).abs() <= TOLERANCE.max(one * 0.02),
        _ => one == other,
    };
    let (one, other) = (cells(one.trim()), cells(other.trim()));
    one.len() == other.len() && one.iter().zip(&other).all(near)
}

#[cfg(test)]
mod tests;
