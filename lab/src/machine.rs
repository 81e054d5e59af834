//! What the results were measured on; what cannot be found out is `unknown`, never left out.

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::format::timestamp;
use crate::paths::Paths;
use crate::probe::{Found, Tools};

/// The machine and its tools, as far as they bear on a result.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub cpu: String,
    /// The processor's family, model and stepping: a machine that is rented gives many of them the same name.
    #[serde(default)]
    pub cpu_family: String,
    /// Its model, as a number.
    #[serde(default)]
    pub cpu_model: String,
    /// Its stepping.
    #[serde(default)]
    pub cpu_stepping: String,
    /// The processors this process may use.
    pub cores: usize,
    /// The kernel's release.
    pub kernel: String,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// The operating system's name.
    pub os: String,
    /// The processor's architecture.
    pub arch: String,
    /// When the run began, UTC.
    pub date: String,
    /// The load of the last minute when the run began: other work spoils a result. What the lab
    /// itself built or measured in that minute is in it, too.
    pub load_1min: f64,
    /// The version of rustc, or `not found`.
    pub rustc: String,
    /// The version of the C compiler, or `not found`.
    pub gcc: String,
    /// The version of Go, or `not found`.
    pub go: String,
    /// The commit of the checkout, `+` if it was changed since.
    pub commit: String,
    /// The width of a pointer of the lab, and of our contenders.
    #[serde(default)]
    pub pointer_bits: u32,
    /// The version of each tool and library that a contender of the run needs, by its name in contenders.toml.
    #[serde(default)]
    pub versions: BTreeMap<String, String>,
}

impl Machine {
    /// Looks at this machine now.
    #[must_use]
    pub fn here(paths: &Paths, versions: BTreeMap<String, String>, tools: &Tools) -> Machine {
        let line = |file: &str, key: &str| field(file, key).unwrap_or_else(|| "unknown".into());
        let tool = |tool: &str, argument: &str| match tools.ask([tool, argument]) {
            Found::Yes(version) => version,
            Found::No => "not found".into(),
            Found::Mute(what) => what,
        };
        let memory = line("/proc/meminfo", "MemTotal");
        let kib: u64 = memory.trim_end_matches("kB").trim().parse().unwrap_or(0);
        let load = read("/proc/loadavg");
        Machine {
            cpu: line("/proc/cpuinfo", "model name"),
            cpu_family: line("/proc/cpuinfo", "cpu family"),
            cpu_model: line("/proc/cpuinfo", "model"),
            cpu_stepping: line("/proc/cpuinfo", "stepping"),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            kernel: match read("/proc/sys/kernel/osrelease") {
                text if text.is_empty() => "unknown".into(),
                text => text.trim().to_owned(),
            },
            memory_bytes: kib * 1024,
            os: line("/etc/os-release", "PRETTY_NAME"),
            arch: std::env::consts::ARCH.into(),
            date: timestamp(SystemTime::now()),
            load_1min: load
                .split(' ')
                .next()
                .and_then(|word| word.parse().ok())
                .unwrap_or(0.0),
            rustc: tool("rustc", "--version"),
            gcc: tool("cc", "--version"),
            go: tool("go", "version"),
            commit: commit(paths, tools),
            pointer_bits: usize::BITS,
            versions,
        }
    }

    /// The processor's name, and what tells those apart that share one, where that is known.
    #[must_use]
    pub fn processor(&self) -> String {
        let numbers = [
            ("family", &self.cpu_family),
            ("model", &self.cpu_model),
            ("stepping", &self.cpu_stepping),
        ];
        let is_known = |number: &str| !matches!(number, "" | "unknown");
        let known = numbers.iter().filter(|(_, number)| is_known(number));
        let known: Vec<String> = known
            .map(|(key, number)| format!("{key} {number}"))
            .collect();
        match known.is_empty() {
            true => self.cpu.clone(),
            false => format!("{} ({})", self.cpu, known.join(" ")),
        }
    }

    /// The machine in one line.
    #[must_use]
    pub fn line(&self) -> String {
        format!(
            "{}, {} cores, {:.0} GB, {}, Linux {}, {}",
            self.processor(),
            self.cores,
            self.memory_bytes as f64 / 1e9,
            self.os,
            self.kernel,
            self.date
        )
    }
}

/// The bytes that programs may still use without anything being swapped out, if the kernel says so.
#[must_use]
pub fn available_bytes() -> Option<u64> {
    let line = field("/proc/meminfo", "MemAvailable")?;
    Some(line.trim_end_matches("kB").trim().parse::<u64>().ok()? * 1024)
}

fn commit(paths: &Paths, tools: &Tools) -> String {
    let root = paths.root.to_string_lossy().into_owned();
    let words = [
        "git",
        "-C",
        &root,
        "describe",
        "--always",
        "--dirty=+",
        "--abbrev=12",
    ];
    match tools.ask(words) {
        Found::Yes(commit) => commit,
        Found::No | Found::Mute(_) => "unknown".into(),
    }
}

fn read(file: &str) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

/// The value after `key` and `:` or `=` in a file of such lines.
fn field(file: &str, key: &str) -> Option<String> {
    field_of(&read(file), key)
}

fn field_of(text: &str, key: &str) -> Option<String> {
    let mut pairs = text.lines().filter_map(|line| line.split_once([':', '=']));
    let (_, value) = pairs.find(|(own, _)| own.trim_end() == key)?;
    Some(value.trim().trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests;
