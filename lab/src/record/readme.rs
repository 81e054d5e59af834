//! The README of a record: on what, at which commit, with which commands, and what to doubt.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::inputs::Source;
use crate::report::races::{Race, plain, races, size_option};
use crate::report::warnings;
use crate::results::{Row, Status};

/// The whole page, a Markdown file with one sentence a line.
#[must_use]
pub fn readme(name: &str, sources: &[Source]) -> String {
    let mut page = format!("# {name}\n\n");
    let races = races(sources);
    // Writing to a string cannot fail.
    let _ = push_machine(&mut page, sources);
    let _ = push_commands(&mut page, sources, &races);
    let _ = push_files(&mut page, sources, &races);
    let _ = push_warnings(&mut page, sources, &races);
    page
}

fn push_machine(page: &mut String, sources: &[Source]) -> std::fmt::Result {
    let Some(first) = sources.first() else {
        return Ok(());
    };
    let machine = &first.results.machine;
    let all = |pick: fn(&Source) -> &str| -> String {
        let all: BTreeSet<&str> = sources.iter().map(pick).collect();
        all.into_iter().collect::<Vec<_>>().join(", ")
    };
    let memory = machine.memory_bytes as f64 / 1e9;
    writeln!(
        page,
        "Machine: {}, {} cores, {memory:.0} GB, {}.",
        machine.processor(),
        machine.cores,
        machine.arch
    )?;
    writeln!(page, "System: {}, Linux {}.", machine.os, machine.kernel)?;
    writeln!(
        page,
        "Commit: {}.",
        all(|source| &source.results.machine.commit)
    )?;
    let dates = || sources.iter().map(|source| &*source.results.machine.date);
    let (first, last) = (
        dates().min().unwrap_or_default(),
        dates().max().unwrap_or_default(),
    );
    let to = if first == last {
        String::new()
    } else {
        format!(" to {last}")
    };
    writeln!(page, "Measured: {first}{to}.")?;
    writeln!(
        page,
        "A claim is a ratio within one file; raw times, commands and options are in the JSON.\n"
    )?;
    writeln!(page, "## Versions\n")?;
    let bits = match machine.pointer_bits {
        0 => "unknown".to_owned(),
        bits => format!("{bits} bits"),
    };
    writeln!(page, "* pointers: {bits}")?;
    let mut tools: BTreeSet<(&str, &str)> = BTreeSet::new();
    for source in sources {
        let machine = &source.results.machine;
        tools.extend([
            ("rustc", &*machine.rustc),
            ("cc", &machine.gcc),
            ("go", &machine.go),
        ]);
        let versions = machine.versions.iter();
        tools.extend(versions.map(|(tool, version)| (tool.as_str(), version.as_str())));
    }
    for (tool, version) in tools {
        writeln!(page, "* {tool}: {version}")?;
    }
    Ok(())
}

fn push_commands(page: &mut String, sources: &[Source], races: &[Race<'_>]) -> std::fmt::Result {
    writeln!(page, "\n## To measure it again\n")?;
    let of_series = |name: &str| sources.iter().any(|source| source.name == name);
    if of_series("sizes.json") {
        let (what, of) = if of_series("ring.json") {
            ("all", "Files of these names")
        } else {
            ("sizes", "A file of the name sizes.json")
        };
        writeln!(
            page,
            "{of} are what `cargo run --release -- run {what}` writes; it chooses the numbers of operations anew."
        )?;
    }
    writeln!(
        page,
        "The lines below are not what was typed: they ask for the numbers of operations that were run."
    )?;
    writeln!(
        page,
        "Contenders of one race that did different numbers were measured by turns, and here have a line each."
    )?;
    writeln!(
        page,
        "What was run for each single row is its `command` in the JSON.\n\n```sh"
    )?;
    for source in sources {
        let of_source = |race: &&Race<'_>| std::ptr::eq(race.source, source);
        let own: Vec<Vec<String>> = races.iter().filter(of_source).map(commands).collect();
        // Two lines of one file: the second would replace the first.
        let single = own.iter().flatten().count() == 1;
        for command in own.iter().flatten() {
            match single {
                true => writeln!(page, "{command} --json {}", source.name)?,
                false => writeln!(page, "{command}")?,
            }
        }
    }
    writeln!(page, "```")
}

/// The lab's own commands for a race, one for each number of operations; what was skipped is in
/// none.
fn commands(race: &Race<'_>) -> Vec<String> {
    let mut by_ops: BTreeMap<u64, Vec<&Row>> = BTreeMap::new();
    for row in &race.rows {
        if row.status != Status::Skipped {
            by_ops.entry(row.ops).or_default().push(row);
        }
    }
    let groups = by_ops.iter().rev();
    groups
        .map(|(ops, rows)| command(race, *ops, rows))
        .collect()
}

fn command(race: &Race<'_>, ops: u64, rows: &[&Row]) -> String {
    let mut words = vec![format!("cargo run --release -- run {}", race.workload)];
    let size = size_option(race.workload);
    let option = |name: &str, value: String| format!("--{name} {value}");
    let others = race.setting.iter().filter(|(name, _)| name != size);
    words.extend(others.map(|(name, value)| option(name, plain(value))));
    // Where nothing says how many operations there are, a run is one.
    if !size.is_empty() {
        words.push(option(size, ops.to_string()));
    }
    let runs = rows.iter().map(|row| row.runs).max().unwrap_or(0);
    words.push(option("runs", runs.max(1).to_string()));
    let names: Vec<&str> = rows.iter().map(|row| row.contender.as_str()).collect();
    words.push(option("only", names.join(",")));
    words.join(" ")
}

fn push_files(page: &mut String, sources: &[Source], races: &[Race<'_>]) -> std::fmt::Result {
    writeln!(
        page,
        "\n## Files\n\nEach as JSON, as the lab wrote it, and as CSV.\n"
    )?;
    for source in sources {
        let own = races
            .iter()
            .filter(|race| std::ptr::eq(race.source, source));
        let titles: Vec<String> = own.map(Race::title).collect();
        writeln!(page, "* `{}`: {}", source.name, titles.join("; "))?;
    }
    Ok(())
}

fn push_warnings(page: &mut String, sources: &[Source], races: &[Race<'_>]) -> std::fmt::Result {
    let whole = warnings::of_sources(sources);
    let rows = races.iter().flat_map(|race| {
        let found = warnings::of_rows(&race.rows);
        found
            .into_iter()
            .map(|warning| format!("{}, {}: {warning}", race.source.name, race.title()))
    });
    let all: Vec<String> = whole.into_iter().chain(rows).collect();
    if all.is_empty() {
        return Ok(());
    }
    writeln!(page, "\n## To be doubted\n")?;
    for warning in all {
        writeln!(page, "* {warning}")?;
    }
    Ok(())
}
