//! What a workload is to the rest of the lab: a description, not code of its own.
//!
//! [`crate::workloads`] has one for each. A later workload is one more entry there, and a section
//! of the same name in contenders.toml.

use serde_json::{Map, Value, json};

use crate::figures::{Figure, Of};

/// The option that says for how many milliseconds each run waits, whoever the contender is.
pub(crate) const IDLE_MS: &str = "idle-ms";

/// A workload.
#[derive(Debug)]
pub struct Workload {
    /// Its name on the command line, in contenders.toml and in the results.
    pub name: &'static str,
    /// One line: what happens in it, and what one operation is.
    pub about: &'static str,
    /// What one operation is called, and what many are.
    pub op: [&'static str; 2],
    /// Its options, in the order in which a contender gets them.
    pub options: &'static [Opt],
    /// The option that says how many operations there are; slow contenders may get a smaller one. Empty: a run is one.
    pub size: &'static str,
    /// What is looked at beside time, the one first by which its rows are put in order.
    pub figures: &'static [Figure],
    /// A line above the table.
    pub title: fn(&Values) -> String,
    /// The one line a contender must print.
    pub expected: fn(&Values) -> String,
}

/// An option of a workload.
#[derive(Debug)]
pub struct Opt {
    /// Its name, without the dashes.
    pub name: &'static str,
    /// One line.
    pub help: &'static str,
    /// What may be given.
    pub kind: Kind,
}

/// What an option takes.
#[derive(Debug)]
pub enum Kind {
    /// A whole number.
    Number {
        /// The least and the most.
        range: [u64; 2],
        /// What it is when none is given.
        usual: Usual,
        /// Said first when it is something else.
        why: &'static str,
    },
    /// A power of ten; otherwise as [`Kind::Number`].
    PowerOfTen {
        /// The least and the most.
        range: [u64; 2],
        /// What it is when none is given.
        usual: Usual,
        /// Said first when it is something else.
        why: &'static str,
    },
    /// One of some names, each with a line on what it means; the first when none is given.
    Choice(&'static [(&'static str, &'static str)]),
}

/// A number when none is given.
#[derive(Debug, Clone, Copy)]
pub enum Usual {
    /// Always this one.
    Always(u64),
    /// It depends on a choice that stands earlier among the options: one number for each of its names.
    By(&'static str, &'static [u64]),
}

/// The values of a workload's options, in order.
#[derive(Debug, Clone, Default)]
pub struct Values(Vec<(&'static str, Value)>);

impl Values {
    /// Adds the next one.
    pub fn push(&mut self, name: &'static str, value: Value) {
        self.0.push((name, value));
    }

    /// The number that an option has; 0 if it has none.
    #[must_use]
    pub fn number(&self, name: &str) -> u64 {
        self.get(name).and_then(Value::as_u64).unwrap_or(0)
    }

    /// The name that an option has; empty if it has none.
    #[must_use]
    pub fn choice(&self, name: &str) -> &str {
        self.get(name).and_then(Value::as_str).unwrap_or("")
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(own, _)| *own == name).map(|(_, v)| v)
    }

    /// As words of a command.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let word = |value: &Value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        };
        let both = |(name, value): &(&str, Value)| [format!("--{name}"), word(value)];
        self.0.iter().flat_map(both).collect()
    }

    /// As the results record them.
    #[must_use]
    pub fn recorded(&self) -> Map<String, Value> {
        self.0
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect()
    }
}

impl Workload {
    /// The option of this name.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&'static Opt> {
        self.options.iter().find(|option| option.name == name)
    }

    /// All values: those given (a text for a choice), the usual ones for the others.
    #[must_use]
    pub fn values(&self, given: impl Fn(&str) -> Option<Value>) -> Values {
        let mut values = Values::default();
        for option in self.options {
            let value = given(option.name).unwrap_or_else(|| self.usual(option, &values));
            values.push(option.name, value);
        }
        values
    }

    fn usual(&self, option: &Opt, before: &Values) -> Value {
        match option.kind {
            Kind::Number { usual, .. } | Kind::PowerOfTen { usual, .. } => match usual {
                Usual::Always(number) => json!(number),
                Usual::By(other, numbers) => json!(numbers[self.chosen(other, before)]),
            },
            Kind::Choice(names) => json!(names[0].0),
        }
    }

    /// Which of its names an option has that is a choice.
    fn chosen(&self, name: &str, values: &Values) -> usize {
        let chosen = values.choice(name);
        match self.option(name).map(|option| &option.kind) {
            Some(Kind::Choice(names)) => names.iter().position(|(name, _)| *name == chosen),
            _ => None,
        }
        .unwrap_or(0)
    }

    /// The values when no option is given.
    #[must_use]
    pub fn usual_values(&self) -> Values {
        self.values(|_| None)
    }

    /// Rounds a number of operations down to one that a run may have and that people can compare.
    #[must_use]
    pub fn round(&self, ops: u64) -> u64 {
        let digits = match self.option(self.size).map(|option| &option.kind) {
            Some(Kind::PowerOfTen { .. }) => 0,
            _ => 1,
        };
        let unit = 10_u64.pow(ops.checked_ilog10().unwrap_or(0).saturating_sub(digits));
        match digits {
            0 => unit,
            _ => ops / unit * unit,
        }
    }
}

/// A workload with the options it was asked for.
#[derive(Debug)]
pub struct Request {
    /// Which.
    pub workload: &'static Workload,
    /// Its options.
    pub values: Values,
    /// How many operations were asked for, if any number was.
    pub asked: Option<u64>,
}

impl Request {
    /// How many operations a run has unless that is too many.
    #[must_use]
    pub fn ops(&self) -> u64 {
        if self.workload.size.is_empty() {
            return 1;
        }
        self.values.number(self.workload.size)
    }

    /// How many seconds each run waits, whoever the contender is: beside what it costs.
    #[must_use]
    pub fn idle_s(&self) -> f64 {
        self.values.number(IDLE_MS) as f64 / 1e3
    }

    /// Whether the memory of one operation is asked for, which takes one more run.
    #[must_use]
    pub fn has_memory_each(&self) -> bool {
        let mut figures = self.workload.figures.iter();
        figures.any(|figure| figure.of == Of::MemoryEach)
    }

    /// The values for another number of operations.
    #[must_use]
    pub fn sized(&self, ops: u64) -> Values {
        let size = |(name, value): &(&'static str, Value)| {
            let sized = *name == self.workload.size;
            (*name, if sized { json!(ops) } else { value.clone() })
        };
        Values(self.values.0.iter().map(size).collect())
    }

    /// The line above the table.
    #[must_use]
    pub fn title(&self) -> String {
        (self.workload.title)(&self.values)
    }
}

#[cfg(test)]
mod tests;
