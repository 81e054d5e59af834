//! A roll call: whoever is polled meanwhile says what it waits for. Nobody says anything else.
//!
//! It is said where an operation that waits is polled in vain. That happens seldom but in a roll call, so that it is no
//! part of the way of a wait, nor of its cost.

use alloc::vec::Vec;
use core::panic::Location;

use super::simulated::{Wanted, waits_at};
use super::{ROLL_CALL, is_told, with};
use crate::platform::atomic::Ordering;
use crate::platform::{Mutex, UnmodelledU32, process_global};

/// What one of those that wait said.
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    /// The address of the task that was polled; or of the context of the thread, which polled none.
    pub who: usize,
    /// The number of its poll: an earlier one does not count any more.
    poll: u16,
    /// What it waits for.
    pub wants: Wanted,
}

/// Whether a roll call goes on.
static IS_ON: UnmodelledU32 = UnmodelledU32::new(0);

process_global! {
    fn answers() -> Mutex<Vec<Answer>> = Mutex::new(Vec::new())
}

/// Begins it, or ends it; gives what was answered.
pub(crate) fn set_on(on: bool) -> Vec<Answer> {
    // Relaxed: those who answer are woken afterwards.
    IS_ON.store(on.into(), Ordering::Relaxed);
    core::mem::take(&mut *answers().lock())
}

/// How many answers there are.
pub(crate) fn answers_so_far() -> usize {
    answers().lock().len()
}

/// Whether one goes on.
pub(crate) fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed) != 0 // Relaxed: as above
}

/// This thread was woken: what it polls from now on answers, if a roll call goes on, and else not.
#[inline]
pub(crate) fn hear() {
    let mark = if is_on() { ROLL_CALL } else { 0 };
    with(|context| {
        let others = context.watched.get() & !ROLL_CALL;
        context.watched.set(others | mark);
    });
}

/// What is polled here waits for this: says so, if it answers.
#[cold]
#[inline(never)]
pub(crate) fn wants(wants: Wanted) {
    let joined = with(|context| context.watched.get() & ROLL_CALL != 0);
    if !joined || crate::mutant!("roll_call_unanswered") {
        return;
    }
    if !is_on() {
        return hear();
    }
    let (who, poll) = with(|context| {
        let task = context.polling.get().addr();
        let thread = core::ptr::from_ref(context).addr();
        (if task == 0 { thread } else { task }, context.turn.get())
    });
    let mut answers = answers().lock();
    answers.retain(|answer| answer.who != who || answer.poll == poll && answer.wants != wants);
    answers.push(Answer { who, poll, wants });
}

/// As [`waits_at`]; and a roll call is answered too. For what costs little, or finds out here that it waits still.
#[inline(always)]
pub fn waits_still<T>(object: *const T, name: &'static str) {
    waits_at(object, name);
    if is_told() {
        let object = object.addr();
        let called = None;
        wants(Wanted::Operation {
            name,
            object,
            called,
        });
    }
}

/// What is polled here waits for an operation: says so, if it answers.
#[cold]
#[inline(never)]
pub(crate) fn wants_operation(
    name: &'static str,
    object: usize,
    called: &'static Location<'static>,
) {
    wants(Wanted::Operation {
        name,
        object,
        called: Some(called),
    });
}
