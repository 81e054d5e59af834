//! All processes below one, from what `/proc` shows: their memory together, and their end.
//!
//! Who loses its parent gets ours, the lab, as the next one (it is a subreaper, `become_parent`),
//! so that nobody leaves the tree. A process that was seen outside can never come inside; so a
//! sample reads the list of all processes, but opens only those inside and those not seen before.
//! A number may belong to another process later, but not while it stands in the list.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait};

/// How long what a program left behind may take to end by itself.
const GRACE: Duration = Duration::from_millis(20);
/// How long it may take to end when it is killed; only somebody else's process takes longer.
const KILL_MAX: Duration = Duration::from_secs(2);

/// The tree below the lab while one program runs.
#[derive(Debug)]
pub(super) struct Tree {
    proc: PathBuf,
    root: i32,
    /// Inside, but not counted: it is ours.
    launcher: i32,
    inside: HashSet<i32>,
    outside: HashSet<i32>,
    page_bytes: u64,
}

impl Tree {
    /// The tree of everything below `root`.
    pub(super) fn new(proc: &Path, root: i32, launcher: i32) -> Tree {
        Tree {
            proc: proc.to_owned(),
            root,
            launcher,
            inside: HashSet::new(),
            outside: HashSet::new(),
            page_bytes: rustix::param::page_size() as u64,
        }
    }

    /// The resident memory of all processes in the tree now, in bytes; what several have in common
    /// counts for each. 0 where there is no `/proc`.
    pub(super) fn memory(&mut self) -> u64 {
        self.look();
        let pages: u64 = self.members().filter_map(|pid| self.pages(pid)).sum();
        pages * self.page_bytes
    }

    /// Sends a signal to every process in the tree.
    pub(super) fn signal(&mut self, signal: Signal) {
        self.look();
        self.members().for_each(|pid| send(pid, signal));
    }

    fn members(&self) -> impl Iterator<Item = i32> {
        let launcher = self.launcher;
        self.inside
            .iter()
            .copied()
            .filter(move |pid| *pid != launcher)
    }

    fn look(&mut self) {
        let listed: HashSet<i32> = processes(&self.proc).collect();
        self.inside.retain(|pid| listed.contains(pid));
        self.outside.retain(|pid| listed.contains(pid));
        let unseen = listed
            .iter()
            .filter(|pid| !self.inside.contains(pid) && !self.outside.contains(pid));
        let parents: HashMap<i32, i32> = unseen
            .filter_map(|pid| Some((*pid, parent(&self.proc, *pid)?)))
            .collect();
        for pid in parents.keys() {
            let mut above = *pid;
            // Not further than that: what is read while it changes may be a circle.
            for _ in 0..parents.len() {
                match parents.get(&above) {
                    Some(next) if above != self.root => above = *next,
                    _ => break,
                }
            }
            if above == self.root || self.inside.contains(&above) {
                self.inside.insert(*pid);
            } else if above <= 1 || self.outside.contains(&above) {
                self.outside.insert(*pid);
            }
            // Else a process between has just ended, and the next sample tells.
        }
        self.inside.remove(&self.root);
    }

    fn pages(&self, pid: i32) -> Option<u64> {
        let text = std::fs::read_to_string(self.proc.join(format!("{pid}/statm"))).ok()?;
        text.split(' ').nth(1)?.parse().ok()
    }
}

/// Makes this process the next parent of whoever below it loses its own.
pub(super) fn become_parent() {
    // Without it the tree is that of the process group: those who stay in it are ended all the same.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Ends all children of this process, and theirs; how many did not end by themselves. `expected` is
/// no surprise.
///
/// Only children are killed, which nobody else can take away: theirs are children then.
pub(super) fn end_children(expected: i32) -> usize {
    let (own, began) = (
        rustix::process::getpid().as_raw_nonzero().get(),
        Instant::now(),
    );
    let mut ended = BTreeSet::new();
    while reap() && began.elapsed() < KILL_MAX {
        if began.elapsed() >= GRACE {
            for pid in processes(Path::new("/proc")) {
                if parent(Path::new("/proc"), pid) == Some(own) {
                    send(pid, Signal::KILL);
                    ended.insert(pid);
                }
            }
        }
        pause(Duration::from_millis(1));
    }
    ended.remove(&expected);
    ended.len()
}

/// Takes leave of all children that have ended; whether any is left.
pub(super) fn reap() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// Waits for so long, or less if a signal comes.
pub(super) fn pause(time: Duration) {
    let _ = poll(&mut [] as &mut [PollFd<'_>], Some(&timespec(time)));
}

/// A time as the kernel wants it.
pub(super) fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    }
}

fn send(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // It may have ended by now, which is as well.
        let _ = kill_process(pid, signal);
    }
}

fn processes(proc: &Path) -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir(proc).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The parent, unless the process has ended.
fn parent(proc: &Path, pid: i32) -> Option<i32> {
    let text = std::fs::read(proc.join(format!("{pid}/stat"))).ok()?;
    // Behind the name, in which there may be anything: its state and its parent.
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&text[end + 1..]).ok()?;
    let mut words = rest.split_whitespace();
    let state = words.next()?;
    let parent = words.next()?.parse().ok()?;
    (state != "X").then_some(parent)
}

#[cfg(test)]
mod tests;
