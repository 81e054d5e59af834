//! Operations that a simulation holds back before their effect, until it chooses their task.

use core::ptr::NonNull;
use core::task::Waker;

use alloc::vec::Vec;

use crate::waiter::{Kind, Node};

/// The operations that are held back, in the order in which they came.
#[derive(Debug)]
pub(super) struct HeldBack(Vec<Held>);

#[derive(Debug)]
struct Held {
    /// The address of the task that polled it.
    task: usize,
    node: NonNull<Node>,
    kind: &'static Kind,
    /// None: it was called, and has not been polled since. What polls it may be done with it.
    waker: Option<Waker>,
}

impl Held {
    fn could_begin(&self) -> bool {
        // SAFETY: whoever added it vouches for node and object; between two turns no lock is held.
        self.waker.is_some() && unsafe { (self.kind.could_begin)(self.node) }
    }
}

impl HeldBack {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds an operation of this task.
    ///
    /// # Safety
    /// The node is of this kind, alive with its object, and stays so until it is removed.
    pub(super) unsafe fn add(
        &mut self,
        task: usize,
        node: NonNull<Node>,
        kind: &'static Kind,
        waker: Waker,
    ) {
        self.0.push(Held {
            task,
            node,
            kind,
            waker: Some(waker),
        });
    }

    /// Removes an operation, if it is there.
    pub(super) fn remove(&mut self, node: NonNull<Node>) -> Option<Waker> {
        let at = self.0.iter().position(|held| held.node == node)?;
        self.0.remove(at).waker
    }

    /// The tasks that have one which could begin, each once.
    pub(super) fn able_tasks(&self, into: &mut Vec<usize>) {
        for held in &self.0 {
            let could_begin = held.could_begin() || crate::mutant!("waiting_is_enabled");
            if !into.contains(&held.task) && could_begin {
                into.push(held.task);
            }
        }
    }

    /// Calls a task's operations, those that could begin or all: their wakers.
    pub(super) fn call(&mut self, task: usize, all: bool) -> Vec<Waker> {
        let its = self.0.iter_mut().filter(|held| held.task == task);
        its.filter(|held| all || held.could_begin())
            .filter_map(|held| held.waker.take())
            .collect()
    }

    /// All tasks that have one, each once.
    pub(super) fn tasks(&self) -> Vec<usize> {
        let mut tasks: Vec<usize> = self.0.iter().map(|held| held.task).collect();
        tasks.dedup();
        tasks
    }
}
