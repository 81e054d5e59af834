//! Results files made up for tests of what reads them: report, record, compare.

use std::path::Path;

use gossamer_lab::results::spread;
use serde_json::{Value, json};

use crate::support::Place;

/// A machine, always the same one.
pub(crate) fn machine() -> Value {
    json!({
        "cpu": "AMD EPYC", "cores": 2, "kernel": "6.1", "memory_bytes": 25_000_000_000_u64,
        "os": "Debian", "arch": "x86_64", "date": "2026-11-21T11:03:31Z", "load_1min": 0.1,
        "rustc": "rustc 1.95.0", "gcc": "cc 12.2.0", "go": "not found", "commit": "0123456789ab",
        "pointer_bits": 64, "versions": {"ghc": "9.0.2"}
    })
}

/// A measured row of the ring: milliseconds of each run of a million hops, which are nanoseconds a hop.
pub(crate) fn ring(contender: &str, threads: u64, walls_ms: &[f64]) -> Value {
    let walls: Vec<f64> = walls_ms.iter().map(|ms| ms / 1e3).collect();
    let wall = spread(&walls).expect("a row has runs");
    let category = if contender.starts_with("pthreads") {
        "POSIX"
    } else {
        "lightweight"
    };
    json!({
        "workload": "ring", "contender": contender, "category": category, "status": "ok", "reason": null,
        "params": {"threads": threads, "hops": 1_000_000, "order": "forward"},
        "ops": 1_000_000, "runs": walls.len(), "wall_s": wall,
        "ns_per_op": wall.median * 1e3, "user_s": wall.median, "sys_s": 0.0,
        "peak_rss_bytes": 1_000_000 + 200 * threads, "raw_wall_s": walls,
        "command": format!("target/measured/{contender} ring --threads {threads}"),
        "note": null, "switches": 7, "said": null, "gc": null
    })
}

/// Five quiet runs around so many nanoseconds a hop.
pub(crate) fn quiet(contender: &str, ns: f64) -> Value {
    let walls = [1.0, 1.002, 0.998, 1.001, 0.999].map(|factor| ns * factor);
    ring(contender, 503, &walls)
}

/// Writes a results file.
pub(crate) fn write(place: &Place, name: &str, machine: &Value, rows: &[Value]) {
    let results = json!({"schema": 1, "machine": machine, "results": rows});
    let text = serde_json::to_string_pretty(&results).expect("JSON");
    let file = place.path(name);
    std::fs::create_dir_all(file.parent().unwrap_or(Path::new("."))).expect("our own folder");
    std::fs::write(file, text).expect("our own folder");
}

/// Cuts a file in its middle, as if the machine had stopped while it was written.
pub(crate) fn halve(place: &Place, name: &str) {
    let text = std::fs::read(place.path(name)).expect("it was written");
    std::fs::write(place.path(name), &text[..text.len() / 2]).expect("our own folder");
}
