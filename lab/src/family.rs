//! The processes below the lab, from what `/proc` shows: who they are, who of them was there
//! before a program was started, and the end of all others.
//!
//! Who loses its parent gets the lab as the next one (it is a subreaper, `become_parent`), so
//! that nobody leaves the family, whatever group or session it makes for itself.
//!
//! Who was there before is a stranger: `sh -c 'server & exec lab time client'` gives the lab a
//! child that it has not started. Strangers are what stood below the lab then, what stands below
//! them, and who is in one of their groups: a child whose parent, a stranger, has ended is known
//! by its group alone. (One that made itself a group as well looks like one of the program's.)
//!
//! A process is known by its number and the time of its start, because numbers are used again.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, Timespec, poll};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, kill_process_group, waitid,
    waitpid,
};

/// Where the kernel shows its processes.
pub(crate) const PROC: &str = "/proc";
/// How long what a program left behind may take to end by itself, as helpers do when they see
/// that it is gone.
pub(crate) const GRACE: Duration = Duration::from_millis(200);
/// How long it may take to end since it was killed first; only somebody else's process takes longer.
const KILL_MAX: Duration = Duration::from_secs(5);
/// So often at least it is killed before that: a machine may stand still for longer.
const KILLS_MIN: u32 = 20;

/// A process as it was when somebody looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) parent: i32,
    pub(crate) group: i32,
    /// In the kernel's ticks since the machine started.
    pub(crate) started: u64,
    /// Nobody has waited for it yet.
    pub(crate) ended: bool,
}

/// The numbers of all processes.
pub(crate) fn listed(proc: &Path) -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir(proc).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// What there is to see of a process, unless it is gone.
pub(crate) fn seen(proc: &Path, pid: i32) -> Option<Seen> {
    let text = std::fs::read(proc.join(format!("{pid}/stat"))).ok()?;
    // Behind the name, in which there may be anything: the fields from the third on.
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&text[end + 1..]).ok()?;
    let mut words = rest.split_whitespace();
    let state = words.next()?;
    let seen = Seen {
        parent: words.next()?.parse().ok()?,
        group: words.next()?.parse().ok()?,
        started: words.nth(16)?.parse().ok()?,
        ended: state == "Z",
    };
    (state != "X").then_some(seen)
}

/// All below `root` but those for whom `skip` holds, and whoever is below these.
fn below(proc: &Path, root: i32, skip: impl Fn(i32, &Seen) -> bool) -> Vec<(i32, Seen)> {
    let mut children: HashMap<i32, Vec<(i32, Seen)>> = HashMap::new();
    for (pid, seen) in listed(proc).filter_map(|pid| Some((pid, seen(proc, pid)?))) {
        children.entry(seen.parent).or_default().push((pid, seen));
    }
    let (mut found, mut at, mut next) = (Vec::new(), root, 0);
    loop {
        // Taken out: what is read while it changes may be a circle.
        let own = children.remove(&at).unwrap_or_default();
        found.extend(own.into_iter().filter(|(pid, seen)| !skip(*pid, seen)));
        let Some((pid, _)) = found.get(next) else {
            return found;
        };
        (at, next) = (*pid, next + 1);
    }
}

/// Who was below the lab before a program was started.
#[derive(Debug, Default)]
pub(crate) struct Strangers {
    started: HashMap<i32, u64>,
    groups: HashSet<i32>,
}

impl Strangers {
    /// All that are below `root` now.
    pub(crate) fn below(proc: &Path, root: i32) -> Strangers {
        let mut strangers = Strangers::default();
        for (pid, seen) in below(proc, root, |_, _| false) {
            strangers.started.insert(pid, seen.started);
            strangers.groups.insert(seen.group);
        }
        strangers
    }

    /// All that are below the lab now.
    pub(crate) fn here() -> Strangers {
        // Most labs have no children then, and need not look at every process of the machine.
        if waitid(WaitId::All, exited()).is_err() {
            return Strangers::default();
        }
        Strangers::below(Path::new(PROC), own_pid())
    }

    pub(crate) fn has(&self, pid: i32, seen: &Seen) -> bool {
        self.started.get(&pid) == Some(&seen.started) || self.groups.contains(&seen.group)
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = i32> {
        self.started.keys().copied()
    }
}

/// Makes the lab the next parent of whoever below it loses its own.
pub(crate) fn become_parent() {
    // Without it the family is the process group: those who stay in it are ended all the same.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// What was left below the lab when a program had ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Left {
    /// How many processes had to be killed.
    pub ended: usize,
    /// How many are there all the same.
    pub alive: usize,
}

/// Ends all below the lab but the strangers, waits for them, and says how many did not end by
/// themselves within `grace`. The launcher, the leader of its group, has not been waited for, so
/// that its number is its own; that is left to the caller.
///
/// Everybody is killed in each pass, not only the children: each pass leaves those only that were
/// made since its look, so that a program that makes processes faster than they are killed one
/// by one comes to an end. `/proc` is not read in one moment: who loses its parent meanwhile may be
/// missed, but not the parent's parent, or who took leave of that. So it is over when a look finds
/// nobody, not even one that has ended.
pub(crate) fn end_left(launcher: i32, strangers: &Strangers, grace: Duration) -> Left {
    let (own, began) = (own_pid(), Instant::now());
    let (mut ended, mut kills) = (HashSet::new(), 0);
    let mut killed = None;
    loop {
        let mut left = below(Path::new(PROC), own, |pid, seen| strangers.has(pid, seen));
        left.retain(|(pid, _)| *pid != launcher);
        let is_empty = left.is_empty();
        left.retain(|(pid, seen)| !is_over(*pid, seen, own));
        let in_vain =
            kills >= KILLS_MIN && killed.is_some_and(|at: Instant| at.elapsed() >= KILL_MAX);
        if is_empty || in_vain {
            let alive = left.len();
            ended.retain(|one| !left.iter().any(|(pid, seen)| *one == (*pid, seen.started)));
            return Left {
                ended: ended.len(),
                alive,
            };
        }
        if began.elapsed() >= grace {
            killed.get_or_insert_with(Instant::now);
            kills += 1;
            // At one stroke, which no fork in the group escapes.
            kill_group(launcher);
            let live = |seen: &Seen| !seen.ended || seen.parent == own;
            for (pid, seen) in left.iter().filter(|(_, seen)| live(seen)) {
                send(*pid, Signal::KILL);
                ended.insert((*pid, seen.started));
            }
        }
        pause(Duration::from_millis(2));
    }
}

/// Takes leave of a child that has ended; whether that was all there was to do. The first thread
/// of a process may have ended before the others: then there is nothing to take leave of yet.
fn is_over(pid: i32, seen: &Seen, own: i32) -> bool {
    seen.ended && seen.parent == own && !matches!(reap(pid), Ok(None))
}

/// Takes leave of those that have ended and lost their parent, while the launcher runs: whoever
/// ends keeps its number until then, and a program may make very many.
pub(crate) fn reap_orphans(launcher: i32) {
    // Two calls when there is nothing to do; `/proc` is read only when there is.
    if !matches!(waitid(WaitId::All, exited()), Ok(Some(_))) || has_ended(launcher) {
        return;
    }
    let (proc, own) = (Path::new(PROC), own_pid());
    for pid in listed(proc).filter(|pid| *pid != launcher) {
        if seen(proc, pid).is_some_and(|seen| seen.ended && seen.parent == own) {
            let _ = reap(pid);
        }
    }
}

/// Whether a child of ours has ended; its number stays its own until it is waited for.
pub(crate) fn has_ended(child: i32) -> bool {
    let pid = Pid::from_raw(child);
    pid.is_none_or(|pid| !matches!(waitid(WaitId::Pid(pid), exited()), Ok(None)))
}

/// Looks only, and does not wait.
fn exited() -> WaitIdOptions {
    WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT
}

fn reap(pid: i32) -> rustix::io::Result<Option<()>> {
    let waited = waitpid(Pid::from_raw(pid), WaitOptions::NOHANG)?;
    Ok(waited.map(|_| ()))
}

/// The lab's own number.
pub(crate) fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// Kills the group that the launcher leads. Errors are of no interest: the group may be gone
/// already, which is what we want.
pub(crate) fn kill_group(launcher: i32) {
    if let Some(group) = Pid::from_raw(launcher) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Sends a signal; the process may have ended by now, which is as well.
pub(crate) fn send(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, signal);
    }
}

/// Waits for so long, or less if a signal comes.
pub(crate) fn pause(time: Duration) {
    let _ = poll(&mut [] as &mut [PollFd<'_>], Some(&timespec(time)));
}

/// A time as the kernel wants it.
pub(crate) fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    }
}

#[cfg(test)]
pub(crate) mod tests;
