//! `lab client WORKLOAD SERVER… --option value …`: the client's side of the workloads about sockets.
//!
//! A contender of these is a server. Its command in contenders.toml has this client before it, which starts the server
//! on a processor of its own, talks to it from another one, verifies every reply, and says what it saw as any contender
//! does: the answer, and a line of figures. So the lab runs, sizes and judges both together as one contender, and
//! knows nothing of sockets.
//!
//! A server is run as `SERVER… --option value …`, prints `port N` when it listens at 127.0.0.1, and serves until it is
//! told to end by SIGTERM, of which it may simply die.
//!
//! In `server` are its process and what `/proc` shows of it, in `closed` the loops in which a request waits for the
//! reply before it, in `idle` the connections on which nothing is sent, in `stuck` the loop that keeps to a schedule, in
//! `wrk` that program, and in `counted` what is counted in runs of its own.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};

use crate::error::BadInput;
use crate::figures::FIGURES;
use crate::format::thousands;
use crate::paths::Paths;
use crate::workload::{Kind, Values, Workload};
use crate::workloads::{self, SOCKETS};
use crate::{esayln, sayln};
use closed::{Load, Round, Until};
use server::{Cores, Server, Usage};
use talk::Talk;
use wrk::Seen;

mod closed;
mod counted;
mod idle;
mod server;
mod stuck;
mod talk;
mod wrk;

#[cfg(test)]
mod tests;

/// What a process needs beside its connections.
const OTHER_DESCRIPTORS: u64 = 100;

/// The options of `lab client`.
#[derive(Debug, Args)]
pub struct Options {
    /// The server's instructions can be counted under valgrind, where the kernel does not count them.
    #[arg(long)]
    pub native: bool,
    /// In `idle`: the server speaks HTTP, as in `http`; without it, it sends back what comes, as in `echo`.
    #[arg(long)]
    pub http: bool,
    /// Which workload: http, connect, echo, idle or stuck.
    pub workload: String,
    /// The server and its arguments; then all options of the workload, in their order.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "SERVER"
    )]
    pub words: Vec<String>,
}

/// A server, and what to do with it.
pub(crate) struct Asked<'a> {
    workload: &'static Workload,
    values: Values,
    /// The server's command, with the options.
    argv: &'a [String],
    native: bool,
    /// What is spoken on connections that are idle.
    idle: Talk,
    cores: Cores,
    paths: &'a Paths,
}

/// The figures of a run, by their names.
type Figures = Vec<(&'static str, f64)>;

/// Does what the workload says and prints what any contender prints.
///
/// # Errors
/// [`BadInput`], or in words what was wrong with server, client or machine.
pub fn run(options: &Options, paths: &Paths) -> Result<u8> {
    let workload = workloads::find(&options.workload)
        .filter(|workload| SOCKETS.contains(&workload.name))
        .ok_or_else(|| BadInput(format!("expected one of {}", SOCKETS.join(", "))))?;
    let asked = Asked {
        workload,
        values: values(workload, &options.words)?,
        argv: &options.words,
        native: options.native,
        idle: if options.http { Talk::Http } else { Talk::Echo },
        cores: Cores::allowed()?,
        paths,
    };
    let connections = asked.values.number("connections");
    check_descriptors(connections + OTHER_DESCRIPTORS)?;
    let mut figures = match workload.name {
        "http" => http(&asked)?,
        "connect" => connect(&asked)?,
        "echo" => echo(&asked)?,
        "idle" => idle::run(&asked)?,
        _ => stuck::run(&asked)?,
    };
    if asked.values.choice("calls") == "counted" {
        figures.extend(counted::figures(&asked)?);
    }
    let figures: Vec<String> = figures
        .iter()
        .map(|(name, n)| format!("{name}={n:.4}"))
        .collect();
    esayln!("{FIGURES} {}", figures.join(" "));
    sayln!("{connections}");
    Ok(0)
}

/// The values of the options, which are the last words.
fn values(workload: &Workload, words: &[String]) -> Result<Values> {
    let count = 2 * workload.options.len();
    let names: Vec<String> = workload
        .options
        .iter()
        .map(|one| format!("--{}", one.name))
        .collect();
    let expected = || BadInput(format!("expected SERVER… and then {} …", names.join(" … ")));
    ensure!(words.len() > count, expected());
    let pairs: Vec<&[String]> = words[words.len() - count..].chunks(2).collect();
    ensure!(
        pairs
            .iter()
            .zip(&names)
            .all(|(pair, name)| pair[0] == *name),
        expected()
    );
    let mut values = Values::default();
    for (option, pair) in workload.options.iter().zip(pairs) {
        let text = &pair[1];
        let value: Value = match option.kind {
            Kind::Choice(_) => json!(text),
            _ => json!(text.parse::<u64>().map_err(|_| expected())?),
        };
        values.push(option.name, value);
    }
    Ok(values)
}

/// Has this process, and the server after it, have as many descriptors as the system allows, if that is enough.
fn check_descriptors(needed: u64) -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(u64::MAX);
    ensure!(
        most >= needed,
        "a process may have {} descriptors, and {} are needed: allow more (`ulimit -Hn {needed}`)",
        thousands(most),
        thousands(needed)
    );
    let all = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, all).context("cannot have more descriptors")
}

impl Asked<'_> {
    fn start(&self) -> Result<Server> {
        Server::start(&[], self.argv, self.cores)
    }

    fn connections(&self) -> usize {
        self.values.number("connections") as usize
    }

    fn until(&self) -> Until {
        Until::Time(Instant::now() + Duration::from_millis(self.values.number("ms")))
    }
}

/// What a request cost the server, and how busy it was.
fn costs(used: &Usage, requests: u64, took: Duration) -> Figures {
    let requests = requests as f64;
    vec![
        ("us_per_request", took.as_secs_f64() * 1e6 / requests),
        ("requests_per_s", requests / took.as_secs_f64()),
        (
            "cpu_us_per_request",
            used.cpu.as_secs_f64() * 1e6 / requests,
        ),
        (
            "user_us_per_request",
            used.user.as_secs_f64() * 1e6 / requests,
        ),
        (
            "busy_percent",
            100.0 * used.cpu.as_secs_f64() / took.as_secs_f64(),
        ),
    ]
}

/// The figures of a round of the lab's own loop.
fn of_round(used: &Usage, mut round: Round) -> Figures {
    let requests = round.latencies.len() as u64;
    let mut figures = costs(used, requests, round.took);
    figures.push(("p99_us", us(percentile(&mut round.latencies, 0.99))));
    figures
}

/// What requests of the lab's own loop cost, until the time is over.
fn by_loop(asked: &Asked<'_>, server: &Server, talk: Talk) -> Result<Figures> {
    let mut load = Load::open(server.port, talk, asked.connections())?;
    let before = server.usage()?;
    let round = load.run(asked.connections(), asked.until())?;
    let used = server.usage()?.since(&before);
    Ok(of_round(&used, round))
}

/// The lab's loop and then wrk, each for the time: a request takes the loop less of its processor than it takes a server,
/// and wrk more.
fn http(asked: &Asked<'_>) -> Result<Figures> {
    let server = asked.start()?;
    let mut figures = by_loop(asked, &server, Talk::Http)?;
    let before = server.usage()?;
    let seen = wrk::run(server.port, asked.connections(), asked.values.number("ms"))?;
    if let Some(seen) = seen {
        let used = server.usage()?.since(&before);
        figures.extend(of_wrk(&used, &seen));
    }
    server.end()?;
    Ok(figures)
}

fn of_wrk(used: &Usage, seen: &Seen) -> Figures {
    let took = seen.took.as_secs_f64();
    vec![
        ("wrk_requests_per_s", seen.requests as f64 / took),
        ("wrk_busy_percent", 100.0 * used.cpu.as_secs_f64() / took),
        ("wrk_p99_us", seen.p99_us),
    ]
}

fn connect(asked: &Asked<'_>) -> Result<Figures> {
    let server = asked.start()?;
    let figures = by_loop(asked, &server, Talk::Connect)?;
    server.end()?;
    Ok(figures)
}

fn echo(asked: &Asked<'_>) -> Result<Figures> {
    let server = asked.start()?;
    let values = &asked.values;
    let (mut load, memory) = idle::connections(asked, &server, Talk::Echo)?;
    let before = server.usage()?;
    let round = load.run(
        values.number("at-once") as usize,
        Until::Count(values.number("trips")),
    )?;
    let used = server.usage()?.since(&before);
    server.end()?;
    let mut figures = of_round(&used, round);
    figures.extend([
        ("bytes_connection", memory),
        ("os_threads", before.threads as f64),
    ]);
    Ok(figures)
}

fn us(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// The least time that this share of all is not above; zero if there are none.
fn percentile(times: &mut [Duration], share: f64) -> Duration {
    times.sort_unstable();
    let place = (share * times.len() as f64).ceil() as usize;
    times.get(place.max(1) - 1).copied().unwrap_or_default()
}

/// How long a server may say nothing before that is its fault.
pub(crate) const SILENT_MAX: Duration = Duration::from_secs(20);

/// Why a wait for the server ended without anything from it.
fn silent<T>() -> Result<T> {
    bail!("the server has sent nothing for {} s", SILENT_MAX.as_secs())
}
