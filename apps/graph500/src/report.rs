//! What a run prints: as the reference code does, as JSON, or for the lab.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::benchmark::{Prepared, Searched};
use crate::statistics::{Statistics, general};

/// A finished run.
#[derive(Debug)]
pub struct Report {
    scale: u32,
    edge_factor: u64,
    generation_s: f64,
    construction_s: f64,
    workers: usize,
    searches: Vec<Searched>,
}

/// The digits of times and rates, and of numbers of edges, as the reference code prints them.
const DIGITS: usize = 6;
const EDGE_DIGITS: usize = 11;
/// Where its values begin.
const COLUMN: usize = 32;

impl Report {
    /// Of these searches, which are at least one.
    #[must_use]
    pub fn new(prepared: &Prepared, searches: Vec<Searched>, workers: usize) -> Self {
        let vertices = prepared.graph.vertices();
        Self {
            scale: vertices.next_power_of_two().trailing_zeros(),
            edge_factor: (prepared.edges.len() as f64 / vertices as f64).round() as u64,
            generation_s: prepared.generation_s,
            construction_s: prepared.construction_s,
            workers,
            searches,
        }
    }

    fn times(&self) -> Statistics {
        self.of(|search| search.seconds)
    }

    fn edges(&self) -> Statistics {
        self.of(|search| search.edges as f64)
    }

    fn rates(&self) -> Statistics {
        let each = self.searches.iter();
        let each: Vec<f64> = each
            .map(|search| search.seconds / search.edges as f64)
            .collect();
        Statistics::of_rates(&each)
    }

    fn of(&self, value: impl Fn(&Searched) -> f64) -> Statistics {
        let values: Vec<f64> = self.searches.iter().map(value).collect();
        Statistics::of(&values)
    }

    /// Of the checks; `None` if there were none.
    fn validations(&self) -> Option<Statistics> {
        let times = self.searches.iter().map(|search| search.validation_s);
        let times: Option<Vec<f64>> = times.collect();
        Some(Statistics::of(&times?))
    }

    /// As the reference code prints it, with how many workers there were in place of its number of processes.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: &str| {
            // The reference code marks the figure that counts, and has all values in one column.
            let mark = if name.contains("harmonic_mean") {
                "!  "
            } else {
                ""
            };
            let width = COLUMN - mark.len();
            let _ = writeln!(text, "{:<width$}{mark}{value}", format!("{name}:"));
        };
        line("SCALE", &self.scale.to_string());
        line("edgefactor", &self.edge_factor.to_string());
        line("NBFS", &self.searches.len().to_string());
        line("graph_generation", &general(self.generation_s, DIGITS));
        line("num_workers", &self.workers.to_string());
        line("construction_time", &general(self.construction_s, DIGITS));
        let mut block =
            |prefix: &str, unit: &str, [mean, deviation]: [&str; 2], digits, all: Statistics| {
                let rows = [
                    ("min", all.min),
                    ("firstquartile", all.first_quartile),
                    ("median", all.median),
                    ("thirdquartile", all.third_quartile),
                    ("max", all.max),
                    (mean, all.mean),
                    (deviation, all.deviation),
                ];
                for (name, value) in rows {
                    line(&format!("{prefix}{name}_{unit}"), &general(value, digits));
                }
            };
        let plain = ["mean", "stddev"];
        block("bfs  ", "time", plain, DIGITS, self.times());
        block("", "nedge", plain, EDGE_DIGITS, self.edges());
        let harmonic = ["harmonic_mean", "harmonic_stddev"];
        block("bfs  ", "TEPS", harmonic, DIGITS, self.rates());
        let validations = self.validations();
        if let Some(times) = validations {
            block("bfs  ", "validate", plain, DIGITS, times);
        }
        let verdict = validations.map_or("SKIPPED", |_| "PASSED");
        let _ = writeln!(text, "Validation: {verdict}");
        text
    }

    /// The same as JSON, and each search.
    #[must_use]
    pub fn json(&self) -> Value {
        let statistics = |all: Statistics| {
            json!({
                "min": all.min, "first_quartile": all.first_quartile, "median": all.median,
                "third_quartile": all.third_quartile, "max": all.max, "mean": all.mean, "stddev": all.deviation,
            })
        };
        let searches = self.searches.iter().map(|search| {
            json!({
                "root": search.root, "seconds": search.seconds, "edges": search.edges,
                "validation_s": search.validation_s,
            })
        });
        let rates = self.rates();
        let mut teps = statistics(rates);
        if let Value::Object(fields) = &mut teps {
            fields.retain(|name, _| name != "mean" && name != "stddev");
            fields.insert("harmonic_mean".into(), json!(rates.mean));
            fields.insert("harmonic_stddev".into(), json!(rates.deviation));
        }
        json!({
            "scale": self.scale, "edge_factor": self.edge_factor, "workers": self.workers,
            "graph_generation_s": self.generation_s, "construction_s": self.construction_s,
            "time_s": statistics(self.times()), "edges": statistics(self.edges()), "teps": teps,
            "validation": self.validations().map(|_| "passed"),
            "searches": searches.collect::<Vec<Value>>(),
        })
    }

    /// The answer that the lab verifies, how many trees were valid; and the line with the figures of the searches
    /// alone.
    #[must_use]
    pub fn lab(&self) -> (usize, String) {
        let valid = self
            .searches
            .iter()
            .filter(|search| search.validation_s.is_some());
        let (teps, times) = (self.rates().mean, self.times());
        let figures = format!(
            "figures: ns_per_edge={:.4} mteps={:.3} search_ms={:.4} construction_ms={:.2} edges={}",
            1e9 / teps,
            teps / 1e6,
            times.median * 1e3,
            self.construction_s * 1e3,
            self.edges().mean.round()
        );
        (valid.count(), figures)
    }
}
