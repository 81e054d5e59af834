//! What a request takes that a timed run must not count: system calls and instructions in user mode.
//!
//! The server runs below a program that counts, twice: for so many rounds and for twice as many, on as many
//! connections. The difference over the requests between has neither its start nor its connections in it.
//!
//! In a round each connection has one request, and the next round begins when all have their replies. A server that is
//! watched is slow; without rounds the next request would often be there when it looks once more, and spare it a wait.

use std::path::Path;

use anyhow::{Context, Result};

use super::closed::{Load, Until};
use super::server::Server;
use super::talk::Talk;
use super::{Asked, Figures};
use crate::esayln;

/// About how many requests there are first, if the timed run is as long as usual.
const REQUESTS: u64 = 2_000;
/// The same for one of a few milliseconds or trips.
const REQUESTS_LEAST: u64 = 200;
/// A timed run of so many milliseconds is as long as usual.
const USUAL_MS: u64 = 500;
/// So many connections at most: a server that is watched is slow.
const CONNECTIONS_MAX: usize = 64;

/// A program that counts what another one does, and writes that into a file.
struct Watcher {
    argv: &'static [&'static str],
    /// The argument before the file's name.
    file: &'static str,
    read: fn(&str) -> Option<u64>,
}

const STRACE: Watcher = Watcher {
    argv: &["strace", "-f", "-c"],
    file: "-o",
    read: |text| {
        let total = text
            .lines()
            .find(|line| line.trim_end().ends_with(" total"))?;
        total.split_whitespace().nth(3)?.parse().ok()
    },
};

const PERF: Watcher = Watcher {
    argv: &["perf", "stat", "-x", ",", "-e", "instructions:u"],
    file: "-o",
    read: |text| {
        let line = text.lines().find(|line| line.contains("instructions:u"))?;
        line.split(',').next()?.parse().ok()
    },
};

const VALGRIND: Watcher = Watcher {
    argv: &[
        "valgrind",
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
    ],
    file: "--log-file",
    read: |text| {
        let (_, number) = text
            .lines()
            .find_map(|line| line.split_once("Collected :"))?;
        number.trim().parse().ok()
    },
};

/// The figures that can be had; why the others cannot is said.
pub(super) fn figures(asked: &Asked<'_>) -> Result<Figures> {
    let mut figures = Figures::new();
    let mut add = |name, counted: Result<f64>, what: &str| match counted {
        Ok(number) => {
            figures.push((name, number));
            true
        }
        Err(error) => {
            esayln!("{what}: {error:#}");
            false
        }
    };
    add(
        "calls_per_request",
        STRACE.per_request(asked),
        "system calls were not counted",
    );
    let name = "instructions_per_request";
    let counted = PERF.per_request(asked);
    if !add(name, counted, "instructions were not counted by the kernel") && asked.native {
        add(name, VALGRIND.per_request(asked), "nor by valgrind");
    }
    Ok(figures)
}

/// Whoever has asked for a short run does not wait for a long count.
fn requests(asked: &Asked<'_>) -> usize {
    let like_the_run = match asked.workload.name {
        "echo" => asked.values.number("trips"),
        _ => asked.values.number("ms") * REQUESTS / USUAL_MS,
    };
    like_the_run.clamp(REQUESTS_LEAST, REQUESTS) as usize
}

impl Watcher {
    fn per_request(&self, asked: &Asked<'_>) -> Result<f64> {
        let file = asked
            .paths
            .out
            .join(format!("counted-{}", std::process::id()));
        std::fs::create_dir_all(&asked.paths.out)?;
        let connections = asked.connections().min(CONNECTIONS_MAX);
        let rounds = requests(asked).div_ceil(connections);
        let both = || -> Result<[u64; 2]> {
            let less = self.count(asked, rounds, &file)?;
            Ok([less, self.count(asked, 2 * rounds, &file)?])
        };
        let counts = both();
        let _ = std::fs::remove_file(&file);
        let [less, more] = counts?;
        Ok((more as f64 - less as f64) / (rounds * connections) as f64)
    }

    fn count(&self, asked: &Asked<'_>, rounds: usize, file: &Path) -> Result<u64> {
        let mut argv: Vec<String> = self.argv.iter().map(|word| (*word).to_owned()).collect();
        let name = file.to_string_lossy();
        if self.file.starts_with("--") {
            argv.push(format!("{}={name}", self.file));
        } else {
            argv.extend([self.file.to_owned(), name.into_owned()]);
        }
        let _ = std::fs::remove_file(file);
        let server = Server::start(&argv, asked.argv, asked.cores)?;
        let talk = match asked.workload.name {
            "connect" => Talk::Connect,
            "echo" => Talk::Echo,
            _ => Talk::Http,
        };
        let connections = asked.connections().min(CONNECTIONS_MAX);
        let mut load = Load::open(server.port, talk, connections)?;
        for _ in 0..rounds {
            load.run(connections, Until::Count(connections as u64))?;
        }
        server.end()?;
        let text = std::fs::read_to_string(file)?;
        (self.read)(&text).with_context(|| format!("{} counts nothing here", self.argv[0]))
    }
}

#[cfg(test)]
pub(super) fn read(tool: &str, text: &str) -> Option<u64> {
    let watcher = [STRACE, PERF, VALGRIND]
        .into_iter()
        .find(|one| one.argv[0] == tool)?;
    (watcher.read)(text)
}
