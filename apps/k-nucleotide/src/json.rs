//! The output as one JSON object.

use std::time::Duration;

use serde_json::{Value, json};

use crate::counter::Counter;
use crate::report::{Found, SHARES, asked, percent, sorted};

/// How it was counted, and how long that took, reading included.
#[derive(Debug)]
pub struct Run<'a> {
    /// `serial`, `par` or `messages`.
    pub how: &'a str,
    /// `channel` or `pipe`.
    pub over: Option<&'a str>,
    /// The model of the runtime, if there was one.
    pub model: Option<String>,
    /// The input.
    pub input: &'a str,
    /// How many nucleotides the sequence has.
    pub nucleotides: u64,
    /// How long it took.
    pub took: Duration,
}

/// The object.
pub fn object(run: &Run<'_>, counters: &[Counter]) -> Value {
    let shares = SHARES.map(|length| {
        let all = sorted(counters, length);
        let share = |Found { letters, count }: &Found| json!({"name": letters, "count": count, "percent": percent(*count, &all)});
        all.iter().map(share).collect::<Vec<Value>>()
    });
    let asked = asked(counters);
    let counts = asked
        .iter()
        .map(|Found { letters, count }| json!({"name": letters, "count": count}));
    json!({
        "input": run.input, "how": run.how, "over": run.over, "model": run.model,
        "nucleotides": run.nucleotides, "seconds": run.took.as_secs_f64(),
        "frequencies": shares, "counts": counts.collect::<Vec<Value>>(),
    })
}
