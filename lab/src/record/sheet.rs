//! Results as CSV: one line a row, one column a figure, and a column for each option.

use std::collections::BTreeSet;

use anyhow::{Result, anyhow};

use crate::report::races::plain;
use crate::results::{Results, Row, Status};

const BEFORE: [&str; 5] = ["workload", "contender", "category", "status", "reason"];
const AFTER: [&str; 16] = [
    "ops",
    "runs",
    "min_s",
    "median_s",
    "max_s",
    "ns_per_op",
    "slope_ns_per_op",
    "user_s",
    "sys_s",
    "peak_rss_bytes",
    "switches",
    "instructions_per_op",
    "raw_wall_s",
    "left_behind",
    "note",
    "gc",
];

/// The whole file; the options stand between the status and the figures, as `param:NAME`.
///
/// # Errors
/// None that is expected: it is written to memory.
pub fn csv(results: &Results) -> Result<Vec<u8>> {
    let rows = &results.results;
    let params: BTreeSet<&str> = rows
        .iter()
        .flat_map(|row| row.params.keys().map(String::as_str))
        .collect();
    let mut sheet = csv::Writer::from_writer(Vec::new());
    let names = params.iter().map(|name| format!("param:{name}"));
    let before = BEFORE.iter().map(|name| (*name).to_owned());
    let after = AFTER.iter().map(|name| (*name).to_owned());
    sheet.write_record(before.chain(names).chain(after))?;
    for row in rows {
        let values = params
            .iter()
            .map(|name| row.params.get(*name).map(plain).unwrap_or_default());
        sheet.write_record(about(row).into_iter().chain(values).chain(figures(row)))?;
    }
    sheet
        .into_inner()
        .map_err(|error| anyhow!("the CSV: {error}"))
}

fn about(row: &Row) -> [String; BEFORE.len()] {
    let status = match row.status {
        Status::Ok => "ok",
        Status::Skipped => "skipped",
        Status::Failed => "failed",
        Status::Timeout => "timeout",
    };
    [
        row.workload.clone(),
        row.contender.clone(),
        row.category.clone(),
        status.into(),
        row.reason.clone().unwrap_or_default(),
    ]
}

fn figures(row: &Row) -> [String; AFTER.len()] {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let whole = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    // As JSON: each collector has names of its own.
    let gc = row
        .gc
        .clone()
        .map(|gc| serde_json::Value::from(gc).to_string());
    let raw: Vec<String> = row.raw_wall_s.iter().map(f64::to_string).collect();
    [
        row.ops.to_string(),
        row.runs.to_string(),
        number(row.wall_s.map(|wall| wall.min)),
        number(row.wall_s.map(|wall| wall.median)),
        number(row.wall_s.map(|wall| wall.max)),
        number(row.ns_per_op),
        number(row.slope_ns_per_op),
        number(row.user_s),
        number(row.sys_s),
        whole(row.peak_rss_bytes),
        whole(row.switches),
        number(row.instructions_per_op),
        raw.join(" "),
        row.left_behind
            .map(|left| left.to_string())
            .unwrap_or_default(),
        row.note.clone().unwrap_or_default(),
        gc.unwrap_or_default(),
    ]
}
