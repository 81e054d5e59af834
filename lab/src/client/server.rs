//! The server's process: on which processor it runs, when it listens, what it uses, and its end.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::param::clock_ticks_per_second;
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::esayln;
use crate::family::pause;

/// How long a server may take to end.
const ENDING_MAX: Duration = Duration::from_secs(20);
const ENDING_SLICE: Duration = Duration::from_millis(5);

/// The processors of server and client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cores {
    server: usize,
    client: usize,
}

impl Cores {
    /// The first two that this process may use.
    pub(crate) fn allowed() -> Result<Cores> {
        let allowed = sched_getaffinity(None).context("which processors there are")?;
        let mut cores = (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core));
        let server = cores.next().context("there is no processor")?;
        let client = cores.next().unwrap_or_else(|| {
            esayln!("server and client share the only processor there is");
            server
        });
        Ok(Cores { server, client })
    }
}

fn pin(core: usize) -> Result<()> {
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set).with_context(|| format!("cannot stay on processor {core}"))
}

/// A server that listens. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    /// The server itself, which may be the child of what watches it.
    pid: i32,
    /// Where it listens.
    pub(crate) port: u16,
}

impl Server {
    /// Starts it, below a program that watches it if there is one, and waits until it listens. This process and what
    /// it starts from then on have the client's processor.
    pub(crate) fn start(watcher: &[String], argv: &[String], cores: Cores) -> Result<Server> {
        let words: Vec<&String> = watcher.iter().chain(argv).collect();
        // A child begins on its parent's processors.
        pin(cores.server)?;
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        if !watcher.is_empty() {
            // Those who watch say there what a signal did to the server.
            command.stderr(Stdio::null());
        }
        let child = command.spawn();
        pin(cores.client)?;
        let child = child.with_context(|| format!("cannot start {}", words[0]))?;
        let pid = i32::try_from(child.id())?;
        let mut server = Server {
            child,
            pid,
            port: 0,
        };
        let stdout = server.child.stdout.take().context("its output is a pipe")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let port = line
            .trim()
            .strip_prefix("port ")
            .and_then(|number| number.parse().ok());
        server.port = port.with_context(|| {
            format!(
                "expected the server to print 'port N', got {:?}",
                line.trim()
            )
        })?;
        if !watcher.is_empty() {
            let children = format!("/proc/{pid}/task/{pid}/children");
            let children = std::fs::read_to_string(children).unwrap_or_default();
            let first = children.split_whitespace().next();
            server.pid = first.map_or(Ok(pid), str::parse)?;
        }
        Ok(server)
    }

    /// What it has used so far.
    pub(crate) fn usage(&self) -> Result<Usage> {
        let folder = format!("/proc/{}", self.pid);
        let read = |path: &str| {
            let path = format!("{folder}/{path}");
            std::fs::read_to_string(&path).with_context(|| format!("the server is gone: no {path}"))
        };
        let status = read("status")?;
        Ok(Usage {
            anonymous_bytes: number(&status, "RssAnon:") * 1024,
            threads: number(&status, "Threads:"),
            ..times(&read("stat")?)?
        })
    }

    /// What each of its threads has done so far.
    pub(crate) fn threads(&self) -> Result<Threads> {
        let folder = format!("/proc/{}/task", self.pid);
        // Else all are idle here.
        for file in ["status", "schedstat"] {
            let first = format!("{folder}/{}/{file}", self.pid);
            std::fs::metadata(&first).with_context(|| {
                format!("this system does not say in {first} what a thread did")
            })?;
        }
        let folder = std::fs::read_dir(folder).context("the server is gone: no task")?;
        let threads = folder
            .flatten()
            .map(|thread| (thread.file_name(), Did::read(&thread.path())));
        Ok(Threads(threads.collect()))
    }

    /// Ends it, which must not have ended before.
    pub(crate) fn end(mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait()? {
            bail!("the server ended before it was told to, with {status}");
        }
        let pid = Pid::from_raw(self.pid).context("a process has a number")?;
        kill_process(pid, Signal::TERM).context("the server ended before it was told to")?;
        let deadline = Instant::now() + ENDING_MAX;
        while self.child.try_wait()?.is_none() {
            ensure!(
                Instant::now() < deadline,
                "the server does not end when it is told to"
            );
            pause(ENDING_SLICE);
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let (true, Some(pid)) = (
            matches!(self.child.try_wait(), Ok(None)),
            Pid::from_raw(self.pid),
        ) {
            let _ = kill_process(pid, Signal::KILL);
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// The number behind a word at the beginning of a line; 0 if there is none.
fn number(text: &str, word: &str) -> u64 {
    let mut lines = text.lines();
    let rest = lines.find_map(|line| line.strip_prefix(word));
    let first = rest.and_then(|rest| rest.split_whitespace().next());
    first.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The times in user mode and in the kernel from a line of `/proc/PID/stat`: the twelfth field behind the name and the next.
fn times(stat: &str) -> Result<Usage> {
    let (_, fields) = stat.rsplit_once(')').context("no name in stat")?;
    let mut fields = fields.split_whitespace().skip(11);
    let mut next = || -> Result<Duration> {
        let ticks: u64 = fields.next().context("no time in stat")?.parse()?;
        let seconds = ticks as f64 / clock_ticks_per_second() as f64;
        Ok(Duration::from_secs_f64(seconds))
    };
    let (user, kernel) = (next()?, next()?);
    Ok(Usage {
        user,
        cpu: user + kernel,
        ..Usage::default()
    })
}

/// What a process has used, by `/proc`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    /// Resident memory that belongs to no file: heap and stacks.
    pub(crate) anonymous_bytes: u64,
    /// Processor time in user mode and in the kernel, to a tick of the kernel.
    pub(crate) cpu: Duration,
    /// The same in user mode.
    pub(crate) user: Duration,
    /// How many threads of the kernel it has.
    pub(crate) threads: u64,
}

impl Usage {
    /// What was used since then; memory and threads are those of now.
    pub(crate) fn since(&self, before: &Usage) -> Usage {
        Usage {
            cpu: self.cpu.saturating_sub(before.cpu),
            user: self.user.saturating_sub(before.user),
            ..*self
        }
    }
}

/// What a thread has done, or several together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Did {
    /// How often the kernel switched away from it because it waited.
    pub(crate) voluntary: u64,
    /// How often the kernel switched away from it although it did not wait.
    pub(crate) involuntary: u64,
    /// Its processor time, to a nanosecond.
    pub(crate) cpu: Duration,
}

impl Did {
    /// Of a thread's folder in `/proc`; nothing if it has just ended.
    fn read(folder: &Path) -> Did {
        let file = |name| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        let (status, ran) = (file("status"), file("schedstat"));
        let ran = ran.split_whitespace().next().and_then(|ns| ns.parse().ok());
        Did {
            voluntary: number(&status, "voluntary_ctxt_switches:"),
            involuntary: number(&status, "nonvoluntary_ctxt_switches:"),
            cpu: Duration::from_nanos(ran.unwrap_or(0)),
        }
    }
}

/// What each thread of a process has done, by its number.
#[derive(Debug)]
pub(crate) struct Threads(pub(super) BTreeMap<OsString, Did>);

impl Threads {
    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// What those that are there have done together since then: a new one all that it has ever done.
    pub(crate) fn since(&self, before: &Threads) -> Did {
        let mut all = Did::default();
        for (number, did) in &self.0 {
            let before = before.0.get(number).copied().unwrap_or_default();
            all.voluntary += did.voluntary.saturating_sub(before.voluntary);
            all.involuntary += did.involuntary.saturating_sub(before.involuntary);
            all.cpu += did.cpu.saturating_sub(before.cpu);
        }
        all
    }
}
