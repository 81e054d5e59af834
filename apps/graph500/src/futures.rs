//! The search as the seed of 2012 had it: a parallel map over futures, each a task that sends one message back.
//!
//! A future looks at `batch` vertices of the frontier, in shared memory as [`parallel`](crate::parallel), and its
//! message is what it has found. It goes over a channel made for it, or over a pipe whose protocol has this one
//! message.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use gossamer::channel::{Receiver, bounded};
use gossamer::{Handle, Runtime, Wait, protocol};

use crate::graph::Graph;
use crate::messages::Over;
use crate::parallel::claim;
use crate::search::{NONE, Search};

protocol! {
    /// A future's one message.
    protocol Answer between future and caller {
        Found: future { found(Vec<u32>) -> End },
    }
}

use answer::{Found, caller};

/// A search by futures.
#[derive(Debug)]
pub struct Futures<'r> {
    runtime: &'r Runtime,
    batch: usize,
    over: Over,
    memory: Arc<Memory>,
}

/// What all futures share.
#[derive(Debug)]
struct Memory {
    graph: Arc<Graph>,
    parents: Vec<AtomicU32>,
}

impl<'r> Futures<'r> {
    /// Of this graph.
    #[must_use]
    pub fn new(graph: Arc<Graph>, runtime: &'r Runtime, batch: usize, over: Over) -> Self {
        let parents = (0..graph.vertices()).map(|_| AtomicU32::new(NONE));
        let parents = parents.collect();
        Self {
            runtime,
            batch,
            over,
            memory: Arc::new(Memory { graph, parents }),
        }
    }

    fn memory(&mut self) -> &mut Memory {
        Arc::get_mut(&mut self.memory).expect("all futures have gone")
    }
}

impl Search for Futures<'_> {
    fn clear(&mut self) {
        for parent in &mut self.memory().parents {
            *parent.get_mut() = NONE;
        }
    }

    fn run(&mut self, root: u32) {
        *self.memory().parents[root as usize].get_mut() = root;
        let (memory, on) = (self.memory.clone(), self.runtime.handle());
        let search = search(memory, on, root, self.batch, self.over);
        let joined = self.runtime.spawn(search).wait();
        joined.unwrap_or_else(|error| panic!("the search: {error}"));
    }

    fn parents(&mut self) -> Vec<u32> {
        let parents = &mut self.memory().parents;
        parents.iter_mut().map(|parent| *parent.get_mut()).collect()
    }
}

/// Where a future's message comes.
enum Reply {
    Channel(Receiver<Vec<u32>>),
    Pipe(caller::Found),
}

impl Reply {
    async fn receive(self) -> Vec<u32> {
        let lost = "a future sends before it goes";
        match self {
            Self::Channel(rx) => rx.recv().await.expect(lost),
            Self::Pipe(end) => match end.recv().await.expect(lost) {
                Found::Found(found) => found,
            },
        }
    }
}

async fn search(memory: Arc<Memory>, on: Handle, root: u32, batch: usize, over: Over) {
    let mut frontier = vec![root];
    while !frontier.is_empty() {
        let shared = Arc::new(std::mem::take(&mut frontier));
        let starts = (0..shared.len()).step_by(batch);
        let replies: Vec<Reply> = starts
            .map(|start| {
                let part = Part {
                    memory: memory.clone(),
                    frontier: shared.clone(),
                    range: start..shared.len().min(start + batch),
                };
                spawn(&on, part, over)
            })
            .collect();
        for reply in replies {
            frontier.extend(reply.receive().await);
        }
    }
}

fn spawn(on: &Handle, part: Part, over: Over) -> Reply {
    match over {
        Over::Channel => {
            let (tx, rx) = bounded(1);
            drop(on.spawn(async move {
                // Nobody listens only if the caller's task was aborted.
                let _ = tx.send(part.found()).await;
            }));
            Reply::Channel(rx)
        }
        Over::Pipe => {
            let (future, caller) = answer::pipe();
            drop(on.spawn(async move {
                let _ = future.found(part.found());
            }));
            Reply::Pipe(caller)
        }
    }
}

/// A future's part of the frontier.
struct Part {
    memory: Arc<Memory>,
    frontier: Arc<Vec<u32>>,
    range: std::ops::Range<usize>,
}

impl Part {
    /// The vertices that it reached first. All it shares goes before its message does, so that when the last message is
    /// there nobody else has it.
    fn found(self) -> Vec<u32> {
        let mut found = Vec::new();
        for &vertex in &self.frontier[self.range] {
            let targets = self.memory.graph.neighbours(vertex).iter();
            found.extend(
                targets.filter(|target| claim(&self.memory.parents[**target as usize], vertex)),
            );
        }
        found
    }
}
