//! What a workload is to the rest of the lab, and the workloads.
//!
//! A later workload is one more implementation of [`Workload`], one more subcommand of `run`, and
//! a section of the same name in contenders.toml.

use serde_json::{Map, Value, json};

use crate::cli::{Common, RingArgs};

/// A workload with the options it was asked for.
pub trait Workload {
    /// Its name on the command line, in contenders.toml and in the results.
    fn name(&self) -> &'static str;
    /// A line above the table.
    fn title(&self) -> String;
    /// The options all workloads share.
    fn common(&self) -> &Common;
    /// How many operations were asked for, if any number was.
    fn asked(&self) -> Option<u64>;
    /// How many threads take part, for costs that grow with them.
    fn threads(&self) -> u64;
    /// The options a contender gets for this many operations, and what the results record.
    fn params(&self, ops: u64) -> Vec<(&'static str, Value)>;
    /// The one line a contender must print.
    fn expected(&self, ops: u64) -> String;

    /// [`Workload::params`] as words of a command.
    fn options(&self, ops: u64) -> Vec<String> {
        let word = |value: Value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        };
        let both = |(name, value)| [format!("--{name}"), word(value)];
        self.params(ops).into_iter().flat_map(both).collect()
    }

    /// [`Workload::params`] as the results record them.
    fn recorded(&self, ops: u64) -> Map<String, Value> {
        self.params(ops)
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}

impl Workload for RingArgs {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn title(&self) -> String {
        format!(
            "Thread ring, {} threads, {} order",
            self.threads,
            self.order.name()
        )
    }

    fn common(&self) -> &Common {
        &self.common
    }

    fn asked(&self) -> Option<u64> {
        self.hops
    }

    fn threads(&self) -> u64 {
        self.threads
    }

    fn params(&self, ops: u64) -> Vec<(&'static str, Value)> {
        let order = self.order.name();
        vec![
            ("threads", json!(self.threads)),
            ("hops", json!(ops)),
            ("order", json!(order)),
        ]
    }

    /// Thread 1 receives the token first, with as many hops left as were asked for.
    fn expected(&self, ops: u64) -> String {
        (ops % self.threads + 1).to_string()
    }
}
