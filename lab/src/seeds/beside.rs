//! The seed's figures beside today's, with the same ratios.

use serde_json::Value;

use crate::catalogue::Catalogue;
use crate::format::{figure, thousands};
use crate::history::{self, HOPS};
use crate::rates;
use crate::results::{Results, Row};
use crate::seeds::tables::{Table, columns};
use crate::source;
use crate::table::{sorted, speed, status_text};

/// What the mark of a time means.
const FEWER: &str = "~ fewer hops were made, as it is slow; the time is for ten million.\n";

/// What stands where there is nothing to say.
const NOTHING: &str = "-";

/// The row of a contender.
fn row<'a>(results: &'a Results, contender: &str) -> Option<&'a Row> {
    results
        .results
        .iter()
        .find(|row| row.contender == contender)
}

/// The seconds that a contender takes for the seed's number of hops.
#[must_use]
pub fn seconds(results: &Results, contender: &str) -> Option<f64> {
    let ns = speed(row(results, contender)?)?;
    Some(ns * HOPS as f64 / 1e9)
}

fn ratio(seconds: Option<f64>, to: Option<f64>) -> String {
    let ratio = seconds.zip(to).map(|(seconds, to)| seconds / to);
    ratio.map_or_else(|| NOTHING.into(), |ratio| format!("{} x", figure(ratio)))
}

/// Seconds with a mark where fewer hops were made and the rest is calculated.
fn time(row: &Row, seconds: f64) -> String {
    let mark = if row.ops < HOPS { "~" } else { "" };
    mark.to_owned() + &figure(seconds)
}

/// The ring's rows, ratios to GHC; then ours, and the others that the seeds speak of; then who cannot be had.
#[must_use]
pub fn ring(catalogue: &Catalogue, results: &Results) -> String {
    let pasts = history::of("ring");
    let base = pasts.iter().find(|past| past.contender == "ghc");
    let now_base = seconds(results, "ghc");
    let mut lines = vec![words([
        "implementation",
        "then KB",
        "s",
        "to GHC",
        "now",
        "KB",
        "s",
        "to ghc",
    ])];
    let mut reasons = String::new();
    // Protothreads have a table of their own.
    let own = |past: &&history::Past| past.contender.starts_with("protothreads/");
    let compared = pasts.iter().filter(|past| !own(past));
    for past in compared {
        let then = ratio(Some(past.seconds), base.map(|base| base.seconds));
        let mut line = vec![
            past.implementation.to_owned(),
            past.memory_kb.to_string(),
            past.printed.to_owned(),
            then,
        ];
        line.extend(now(results, past.contender, now_base, &mut reasons));
        lines.push(line);
    }
    for row in sorted(results) {
        if pasts.iter().any(|past| past.contender == row.contender) {
            continue;
        }
        let mut line = words(["", "", "", ""]);
        line.extend(now(results, &row.contender, now_base, &mut reasons));
        lines.push(line);
    }
    for absent in &catalogue.absent {
        reasons += &format!("{}: not installable: {}\n", absent.name, absent.why);
    }
    columns(&lines) + FEWER + &reasons
}

/// Today's four cells of a contender; why they are empty goes to `reasons`.
fn now(results: &Results, contender: &str, base: Option<f64>, reasons: &mut String) -> Vec<String> {
    if contender.is_empty() {
        return words(["not installable", NOTHING, NOTHING, NOTHING]);
    }
    let found = row(results, contender);
    let Some((row, seconds)) = found.zip(seconds(results, contender)) else {
        let why = found.map_or_else(|| "it is not in these results".into(), status_text);
        *reasons += &format!("{contender}: {why}\n");
        return words([contender, NOTHING, NOTHING, NOTHING]);
    };
    let memory = row.peak_rss_bytes.map(|bytes| (bytes / 1024).to_string());
    vec![
        contender.to_owned(),
        memory.unwrap_or_default(),
        time(row, seconds),
        ratio(Some(seconds), base),
    ]
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(String::from).into()
}

/// Protothreads' two rows, and the two ratios that the seed states.
#[must_use]
pub fn protothreads(results: &Results) -> String {
    let pasts = history::of("ring");
    let then = |contender: &str| pasts.iter().find(|past| past.contender == contender);
    let then_s = |contender: &str| then(contender).map(|past| past.seconds);
    let (optimum, pessimum) = ("protothreads/optimum", "protothreads/pessimum");
    let mut lines = vec![words(["", "then KB", "s", "now KB", "s"])];
    let mut reasons = String::new();
    for (text, contender) in [("optimum", optimum), ("pessimum", pessimum)] {
        let mut line = vec![text.to_owned()];
        line.extend(then(contender).map_or_else(
            || words([NOTHING, NOTHING]),
            |past| vec![past.memory_kb.to_string(), past.printed.to_owned()],
        ));
        let today = now(results, contender, None, &mut reasons);
        line.extend(today.into_iter().skip(1).take(2));
        lines.push(line);
    }
    for (text, slow) in [
        ("POSIX threads to optimum (\"nearly 400\")", "pthreads"),
        ("pessimum to optimum (\"250\")", pessimum),
    ] {
        let today = ratio(seconds(results, slow), seconds(results, optimum));
        let past = ratio(then_s(slow), then_s(optimum));
        lines.push(vec![
            text.to_owned(),
            String::new(),
            past,
            String::new(),
            today,
        ]);
    }
    columns(&lines) + FEWER + &reasons
}

/// OCaml's collector with the two minor heaps of the seed.
#[must_use]
pub fn ocaml(results: &Results) -> String {
    let figure = |contender: &str, name: &str| {
        let value = row(results, contender).and_then(|row| row.gc.as_ref()?.get(name));
        value.map_or_else(|| NOTHING.to_owned(), Value::to_string)
    };
    let names = [
        "minor_words",
        "promoted_words",
        "major_words",
        "minor_collections",
        "major_collections",
    ];
    let hops = |contender: &str| {
        row(results, contender).map_or_else(|| NOTHING.to_owned(), |row| row.ops.to_string())
    };
    let mut lines = vec![words(["", "lwt-1m-list", "lwt-32k-list"])];
    lines.push(vec![
        "hops".to_owned(),
        hops("lwt-1m-list"),
        hops("lwt-32k-list"),
    ]);
    for name in names {
        lines.push(vec![
            name.to_owned(),
            figure("lwt-1m-list", name),
            figure("lwt-32k-list", name),
        ]);
    }
    columns(&lines)
}

/// GHC's collector under the seed's names.
fn ghc(row: &Row) -> Option<String> {
    let gc = row.gc.as_ref()?;
    let number = |name: &str| gc.get(name).and_then(Value::as_u64);
    let (all, major) = (number("gcs")?, number("major_gcs")?);
    let (collecting, working) = (number("gc_cpu_ns")?, number("mutator_cpu_ns")?);
    let share = 100.0 * collecting as f64 / (collecting + working).max(1) as f64;
    let lines = [
        (thousands(row.ops), "hops"),
        (
            thousands(number("allocated_bytes")?),
            "bytes allocated in the heap",
        ),
        (thousands(number("copied_bytes")?), "bytes copied during GC"),
        (
            thousands(number("max_live_bytes")?),
            "bytes maximum residency",
        ),
        (
            thousands(all - major.min(all)),
            "collections in generation 0",
        ),
        (thousands(major), "collections in generation 1"),
        (format!("{share:.1}%"), "%GC time"),
    ];
    // The first line is a heading to `columns`.
    let lines = lines.map(|(figure, name)| vec![figure, name.to_owned()]);
    let heading = vec![words(["ghc", ""])];
    Some(columns(&[heading, lines.into()].concat()) + "\n")
}

/// GHC's collector as the seed has it, and what all the others say, Erlang's among them, each under its own names.
#[must_use]
pub fn collectors(results: &Results) -> String {
    let mut text = row(results, "ghc").and_then(ghc).unwrap_or_default();
    for row in &results.results {
        let Some(gc) = row
            .gc
            .as_ref()
            .filter(|_| !row.contender.starts_with("lwt"))
        else {
            continue;
        };
        let number = |value: &Value| value.as_u64().map_or_else(|| value.to_string(), thousands);
        let figures: Vec<String> = gc
            .iter()
            .map(|(name, value)| format!("{name} {}", number(value)))
            .collect();
        text += &format!(
            "{} ({} hops): {}\n",
            row.contender,
            thousands(row.ops),
            figures.join(", ")
        );
    }
    if text.is_empty() {
        text = "no collector said anything\n".into();
    }
    text
}

/// The lines of code of each contender's ring.
#[must_use]
pub fn lines(catalogue: &Catalogue) -> String {
    let mut lines = vec![words(["lines of code", "files", "contenders"])];
    for program in source::of_ring(catalogue) {
        lines.push(vec![
            program.lines.to_string(),
            program.files.join(" "),
            program.names.join(", "),
        ]);
    }
    columns(&lines)
        + "Whole programs, with their command lines and the order of creation; neither empty lines nor comments.\n"
}

/// Messages a second, laid out as the seed has them.
#[must_use]
pub fn rates(table: &Table, results: &Results) -> String {
    let text = rates::render(table.workload, results, None);
    let text = text.trim_start_matches('\n');
    match text {
        "" => "it is not in these results\n".into(),
        text => text.into(),
    }
}
