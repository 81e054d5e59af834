//! A roll call: whoever is polled meanwhile says what it waits for. Nobody says anything else.
//!
//! It is said where an operation that waits is polled in vain. That happens seldom but in a roll call, so that it is no
//! part of the way of a wait, nor of its cost.

use alloc::vec::Vec;
use core::panic::Location;
use core::time::Duration;
use std::collections::HashMap;
use std::time::Instant;

use super::simulated::{Wanted, waits_at};
use super::{ROLL_CALL, is_told, with};
use crate::platform::atomic::Ordering;
use crate::platform::{Mutex, UnmodelledU32, per_process};
use crate::recording;

/// A roll call is over by then, whoever has not answered: somebody goes on.
pub const ROLL_CALL_LASTS: Duration = Duration::from_secs(5);

/// What those say that wait: by the address of the task that was polled, or of the context of the thread, which polled none.
pub type Answers = HashMap<usize, Answer>;

/// What one of those that wait said.
#[derive(Debug)]
pub struct Answer {
    /// The number of its poll: what it said in an earlier one does not count any more.
    poll: u16,
    /// What it waits for.
    pub wants: Vec<Wanted>,
}

/// Whether a roll call goes on.
static IS_ON: UnmodelledU32 = UnmodelledU32::new(0);

/// When it began, and the answers.
#[derive(Default)]
struct State {
    began: Option<Instant>,
    answers: Answers,
}

per_process! {
    fn state() -> Mutex<State> = Mutex::default()
}

/// Begins it, or ends it; gives what was answered.
pub(crate) fn set_on(on: bool) -> Answers {
    // Relaxed: those who answer are woken afterwards.
    IS_ON.store(on.into(), Ordering::Relaxed);
    let began = on.then(Instant::now);
    let answers = Answers::new();
    core::mem::replace(&mut *state().lock(), State { began, answers }).answers
}

/// How many have answered.
pub(crate) fn answers_so_far() -> usize {
    state().lock().answers.len()
}

/// Whether one goes on.
pub(crate) fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed) != 0 // Relaxed: as above
}

/// This thread was woken: what it polls from now on answers, if a roll call goes on, and else not.
#[inline]
pub(crate) fn hear() {
    let mark = if is_on() { ROLL_CALL } else { 0 };
    recording::here();
    with(|context| {
        let others = context.watched.get() & !ROLL_CALL;
        context.watched.set(others | mark);
        // What the thread itself waits for is polled anew.
        context.turn.set(context.turn.get().wrapping_add(1));
    });
}

/// What is polled here waits for this: says so, if it answers.
#[cold]
#[inline(never)]
pub(crate) fn wants(wants: Wanted) {
    answer(wants, true, |_| {});
}

/// `again`: it has been polled in vain before.
fn answer(wants: Wanted, again: bool, change: impl FnOnce(&mut Vec<Wanted>)) {
    let joined = with(|context| context.watched.get() & ROLL_CALL != 0);
    if !joined || crate::mutant!("roll_call_unanswered") {
        return;
    }
    let (task, thread, poll) = with(|context| {
        let task = context.polling.get().addr();
        (
            task,
            core::ptr::from_ref(context).addr(),
            context.turn.get(),
        )
    });
    if again && let Some(before) = recording::waits_on(task, poll) {
        with(|context| context.with_polled(|task| task.polled_before(before)));
    }
    if !is_on() {
        return hear();
    }
    let who = if task == 0 { thread } else { task };
    let mut state = state().lock();
    if state
        .began
        .is_none_or(|began| began.elapsed() > ROLL_CALL_LASTS)
    {
        IS_ON.store(0, Ordering::Relaxed); // Relaxed: as above
        return;
    }
    let none = || Answer {
        poll,
        wants: Vec::new(),
    };
    let answer = state.answers.entry(who).or_insert_with(none);
    if answer.poll != poll {
        *answer = none();
    }
    change(&mut answer.wants);
    if !answer.wants.contains(&wants) {
        answer.wants.push(wants);
    }
}

/// As [`waits_at`]; and a roll call is answered too. For what costs little, or finds out here that it waits still. `again`:
/// it is known to have been polled in vain before.
#[inline(always)]
pub fn waits_still<T>(object: *const T, name: &'static str, again: bool) {
    waits_at(object, name);
    if is_told() {
        named(object.addr(), name, again);
    }
}

/// An operation that may have a [`Join`](crate::header::Join) in its object, which has answered just before.
#[cold]
#[inline(never)]
fn named(object: usize, name: &'static str, again: bool) {
    let called = None;
    let wants = Wanted::Operation {
        name,
        object,
        called,
    };
    let is_in = |join: usize| join.wrapping_sub(object) < NEAR;
    answer(wants, again, |others| {
        others.retain(|other| !matches!(other, Wanted::Join(join) if is_in(*join)));
    });
}

/// In so many bytes from its beginning on, an object has its [`Join`](crate::header::Join), if it has one.
const NEAR: usize = 64;

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
