//! Operations that a simulation holds back before their effect, until it chooses their task.

use core::mem;
use core::ptr::NonNull;
use core::task::Waker;

use alloc::vec::Vec;

use crate::waiter::{Begins, Kind, Node};

/// In place of a task: the one that polled it last has ended.
const DISOWNED: (usize, usize) = (usize::MAX, 0);

/// The operations that are held back.
#[derive(Debug)]
pub(super) struct HeldBack {
    /// In the order in which they came.
    operations: Vec<Held>,
    /// Chooses one of so many.
    pub(super) choose: fn(usize) -> usize,
    /// Those that were called last begin to wait, so that it is seen who waits for what: their order does not matter.
    all_begin: bool,
}

#[derive(Debug)]
pub(super) struct Held {
    /// The number and the address of the task that polled it.
    task: (usize, usize),
    node: NonNull<Node>,
    kind: &'static Kind,
    /// None: it was called, and has not been polled since. What polls it may be done with it.
    waker: Option<Waker>,
}

impl Held {
    fn could_begin(&self) -> bool {
        self.begins() != Begins::InVain
    }

    fn begins(&self) -> Begins {
        match self.waker {
            // SAFETY: whoever added it vouches for node and object; between two turns no lock is held.
            Some(_) => unsafe { (self.kind.could_begin)(self.node) },
            None => Begins::InVain,
        }
    }
}

impl HeldBack {
    pub(super) fn new(choose: fn(usize) -> usize) -> Self {
        Self {
            // Enough for small programs, which are run very often.
            operations: Vec::with_capacity(8),
            choose,
            all_begin: false,
        }
    }

    /// Whether several operations of this task were called, and have not begun so far.
    pub(super) fn are_several_called(&self, task: (usize, usize)) -> bool {
        let its = self.operations.iter().filter(|held| held.task == task);
        !self.all_begin && its.filter(|held| held.waker.is_none()).count() >= 2
    }

    /// Adds an operation of the task that has this number and address.
    ///
    /// # Safety
    /// The node is of this kind, alive with its object, and stays so until it is removed.
    pub(super) unsafe fn add(
        &mut self,
        task: (usize, usize),
        node: NonNull<Node>,
        kind: &'static Kind,
        waker: Waker,
    ) {
        self.operations.push(Held {
            task,
            node,
            kind,
            waker: Some(waker),
        });
    }

    /// Removes an operation; `None`: it is not there. Its waker is to be dropped without any lock.
    pub(super) fn remove(&mut self, node: NonNull<Node>) -> Option<Option<Waker>> {
        let at = self.operations.iter().position(|held| held.node == node)?;
        Some(self.operations.remove(at).waker)
    }

    /// An operation is polled. One that was called begins, and is removed: that is said.
    pub(super) fn begin_called(&mut self, node: NonNull<Node>) -> bool {
        let is_called = |held: &Held| held.waker.is_none() && held.task != DISOWNED;
        let at = self.operations.iter().position(|held| held.node == node);
        match at.filter(|at| is_called(&self.operations[*at])) {
            Some(at) => {
                self.operations.remove(at);
                true
            }
            None => false,
        }
    }

    /// An operation that was not called is polled by this task: exchanges its waker for this one. `false`: it is not there.
    pub(super) fn renew(
        &mut self,
        node: NonNull<Node>,
        task: (usize, usize),
        waker: &mut Waker,
    ) -> bool {
        let Some(held) = self.operations.iter_mut().find(|held| held.node == node) else {
            return false;
        };
        held.task = task;
        match &mut held.waker {
            Some(former) => mem::swap(former, waker),
            // Of a task that has ended, and has passed it on.
            None => held.waker = Some(mem::replace(waker, Waker::noop().clone())),
        }
        true
    }

    /// Forgets the operations at this object, which is gone: their wakers.
    pub(super) fn forget_object(&mut self, object: usize) -> Vec<Held> {
        // SAFETY: whoever added it vouches for the node.
        let is_at = |held: &mut Held| unsafe { held.node.as_ref() }.object().addr() == object;
        self.operations.extract_if(.., is_at).collect()
    }

    /// A task has ended: what it has left to others is nobody's turn any more.
    pub(super) fn disown(&mut self, task: usize) -> Vec<Waker> {
        let its = self
            .operations
            .iter_mut()
            .filter(|held| held.task.1 == task);
        let wakers = its.filter_map(|held| {
            held.task = DISOWNED;
            held.waker.take()
        });
        wakers.collect()
    }

    /// The tasks that have one which could begin, sorted, each once.
    pub(super) fn able_tasks(&self, into: &mut Vec<(usize, usize)>) {
        for held in &self.operations {
            if !held.could_begin() && !crate::mutant!("waiting_is_enabled") {
                continue;
            }
            // Few, and as good as sorted.
            match into.iter().rposition(|other| *other <= held.task) {
                Some(at) if into[at] == held.task => {}
                before => into.insert(before.map_or(0, |at| at + 1), held.task),
            }
        }
    }

    /// The objects of a task's operations that could begin, by address.
    pub(super) fn objects_of(&self, task: usize, into: &mut Vec<usize>) {
        let its = self.operations.iter().filter(|held| held.task.1 == task);
        let called = its.filter(|held| held.could_begin());
        // SAFETY: whoever added it vouches for the node.
        into.extend(called.map(|held| unsafe { held.node.as_ref() }.object().addr()));
    }

    /// All of a task's operations, in the order in which they came: their objects, by address, and what comes of it if they
    /// begin.
    pub(super) fn all_of(&self, task: usize, into: &mut Vec<(usize, Begins)>) {
        let its = self.operations.iter().filter(|held| held.task.1 == task);
        // SAFETY: whoever added it vouches for the node.
        let object = |held: &Held| unsafe { held.node.as_ref() }.object().addr();
        into.extend(its.map(|held| (object(held), held.begins())));
    }

    /// Calls the next one of a task's operations that were not called, of those that could begin or of all: its waker, and
    /// whether others of the task follow.
    pub(super) fn call_next(&mut self, task: (usize, usize), all: bool) -> Option<(Waker, bool)> {
        self.all_begin = all;
        let mut its = self.operations.iter_mut().filter(|held| held.task == task);
        let called = its.find(|held| match all {
            true => held.waker.is_some(),
            false => held.could_begin(),
        });
        let waker = called?.waker.take()?;
        Some((waker, its.next().is_some()))
    }

    /// All tasks that have one, each once.
    pub(super) fn tasks(&self) -> Vec<(usize, usize)> {
        let mut tasks: Vec<_> = self.operations.iter().map(|held| held.task).collect();
        tasks.dedup();
        tasks
    }
}
