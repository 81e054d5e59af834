//! All processes of a program, from what `/proc` shows: their memory together, and signals to them.
//!
//! They are the lab's family without the strangers (`family`), so that nobody leaves the tree. A process that was seen outside can never come inside; so a
//! sample reads the list of all processes, but opens only those inside and those not seen before.
//! A number may belong to another process between two samples; who gets a signal is looked at again.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rustix::process::Signal;

use crate::family::{Seen, Strangers, listed, seen, send};

/// The tree below the lab while one program runs.
#[derive(Debug)]
pub(super) struct Tree {
    proc: PathBuf,
    root: i32,
    /// Inside, but not counted: it is ours.
    launcher: i32,
    strangers: Strangers,
    /// With the time of their start.
    inside: HashMap<i32, u64>,
    outside: HashSet<i32>,
    page_bytes: u64,
}

impl Tree {
    /// The tree of everything below `root` but these strangers and theirs.
    pub(super) fn new(proc: &Path, root: i32, launcher: i32, strangers: Strangers) -> Tree {
        Tree {
            proc: proc.to_owned(),
            root,
            launcher,
            inside: HashMap::new(),
            outside: strangers.numbers().collect(),
            strangers,
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
        for pid in self.addressees() {
            send(pid, signal);
        }
    }

    /// Who was not there before, for the end of the rest.
    pub(super) fn strangers(&self) -> &Strangers {
        &self.strangers
    }

    /// Everybody in the tree who is the same as when first seen: to count a stranger once is an
    /// error of 5 ms, to kill one is not.
    fn addressees(&mut self) -> Vec<i32> {
        self.look();
        let same = |pid| Some(seen(&self.proc, pid)?.started);
        self.members()
            .filter(|pid| same(*pid) == self.inside.get(pid).copied())
            .collect()
    }

    fn members(&self) -> impl Iterator<Item = i32> {
        let launcher = self.launcher;
        let numbers = self.inside.keys().copied();
        numbers.filter(move |pid| *pid != launcher)
    }

    fn look(&mut self) {
        let listed: HashSet<i32> = listed(&self.proc).collect();
        self.inside.retain(|pid, _| listed.contains(pid));
        self.outside.retain(|pid| listed.contains(pid));
        let unknown = listed
            .iter()
            .filter(|pid| !self.inside.contains_key(pid) && !self.outside.contains(pid));
        let unknown: HashMap<i32, Seen> = unknown
            .filter_map(|pid| Some((*pid, seen(&self.proc, *pid)?)))
            .collect();
        for (pid, seen) in &unknown {
            let (mut above, mut strange) = (*pid, false);
            // Not further than that: what is read while it changes may be a circle.
            for _ in 0..unknown.len() {
                match unknown.get(&above) {
                    Some(next) if above != self.root => {
                        strange |= self.strangers.has(above, next);
                        above = next.parent;
                    }
                    _ => break,
                }
            }
            let inside = above == self.root || self.inside.contains_key(&above);
            if inside && !strange {
                self.inside.insert(*pid, seen.started);
            } else if inside || above <= 1 || self.outside.contains(&above) {
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

#[cfg(test)]
mod tests;
