//! The command line, `WORKLOAD --option value …`, and the runtime it asks for.

use peer_ring::Failure;
use tokio::runtime::{Builder, Runtime};

/// Before the kind: a task gives way by waking itself.
const SELF_WAKE: &str = "self-wake-";

/// What passes values on between tasks, where a workload does so.
pub enum Link {
    /// tokio's own `mpsc::channel(1)`.
    Channel,
    /// The hand-made one.
    MVar,
}

pub struct Options {
    pub workload: String,
    given: Vec<(String, String)>,
}

impl Options {
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Options, Failure> {
        let workload = words.next().unwrap_or_default();
        let mut given = Vec::new();
        while let Some(name) = words.next() {
            let value = words
                .next()
                .ok_or_else(|| Failure::Asked(format!("{name} needs a value")))?;
            given.push((name, value));
        }
        Ok(Options { workload, given })
    }

    /// Refuses options that are not among these.
    pub fn only(&self, known: &[&str]) -> Result<(), Failure> {
        match self
            .given
            .iter()
            .find(|(name, _)| !known.contains(&&**name))
        {
            Some((name, _)) => Err(Failure::Asked(format!(
                "{name} is none of {}",
                known.join(", ")
            ))),
            None => Ok(()),
        }
    }

    pub fn text<'a>(&'a self, name: &str, usual: &'a str) -> &'a str {
        let given = self.given.iter().find(|(own, _)| own == name);
        given.map_or(usual, |(_, value)| value)
    }

    /// A number of at least 1.
    pub fn number(&self, name: &str, usual: u64) -> Result<u64, Failure> {
        let Some((_, text)) = self.given.iter().find(|(own, _)| own == name) else {
            return Ok(usual);
        };
        match text.parse() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(Failure::Asked(format!(
                "{name} {text}: expected a whole number of at least 1"
            ))),
        }
    }

    fn kind(&self) -> &str {
        self.text("--kind", "current")
    }

    pub fn link(&self) -> Link {
        match self.kind().strip_prefix("mvar-") {
            Some(_) => Link::MVar,
            None => Link::Channel,
        }
    }

    /// Whether a task gives way by waking itself, instead of by tokio's `yield_now`.
    pub fn wakes_itself(&self) -> bool {
        self.kind().starts_with(SELF_WAKE)
    }

    /// The runtime of the kind `current`, `multi-N` or `multi-N-no-slot`, `mvar-` or `self-wake-` before it or not.
    pub fn runtime(&self) -> Result<&'static Runtime, Failure> {
        let kind = self.kind();
        let scheduler = kind.strip_prefix("mvar-").unwrap_or(kind);
        let scheduler = scheduler.strip_prefix(SELF_WAKE).unwrap_or(scheduler);
        if scheduler == "current" {
            return Ok(for_ever(Builder::new_current_thread().build()?));
        }
        let (scheduler, slot) = match scheduler.strip_suffix("-no-slot") {
            Some(scheduler) => (scheduler, false),
            None => (scheduler, true),
        };
        let workers = scheduler.strip_prefix("multi-").map(str::parse::<usize>);
        match workers {
            Some(Ok(workers)) if workers > 0 => multi(workers, slot),
            _ => Err(Failure::Asked(format!(
                "--kind {kind}: expected current, multi-N, multi-N-no-slot"
            ))),
        }
    }
}

/// tokio's multi-thread scheduler, with the slot for the next task or without.
pub fn multi(workers: usize, slot: bool) -> Result<&'static Runtime, Failure> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers);
    if !slot {
        without_slot(&mut builder)?;
    }
    Ok(for_ever(builder.build()?))
}

/// Tasks may wait for ever; dropping the runtime would only walk over them.
fn for_ever(runtime: Runtime) -> &'static Runtime {
    Box::leak(Box::new(runtime))
}

#[cfg(tokio_unstable)]
fn without_slot(builder: &mut Builder) -> Result<(), Failure> {
    builder.disable_lifo_slot();
    Ok(())
}

#[cfg(not(tokio_unstable))]
fn without_slot(_builder: &mut Builder) -> Result<(), Failure> {
    Err(Failure::Asked(
        "the slot cannot be switched off: built without --cfg tokio_unstable".into(),
    ))
}

/// Runs a future as a task of the runtime, not on the thread that waits for it.
pub fn as_task<F>(runtime: &Runtime, future: F) -> Result<F::Output, Failure>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    Ok(runtime.block_on(async { tokio::spawn(future).await })?)
}
