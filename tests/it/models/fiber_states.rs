//! Fibers that go in every state, in every way: what they own is dropped once, where it is theirs.

use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use gossamer::{JoinHandle, Model, Runtime, Wait, foreign, sync::MVar, yield_now};

use super::{MODELS, watch, watched};
use crate::contract::FIBERS;

/// Where a fiber is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    NotBegun,
    StandsStill,
    /// What it waits for has come, and it has not been polled.
    Woken,
    InACall,
    /// Nobody has taken what it returned.
    Ended,
}

const STATES: [State; 5] = [
    State::NotBegun,
    State::StandsStill,
    State::Woken,
    State::InACall,
    State::Ended,
];

/// Everything that a fiber owned, and how often it was dropped.
#[derive(Clone, Default)]
struct Drops(Arc<Mutex<Vec<Arc<AtomicUsize>>>>);

impl Drops {
    fn owned(&self) -> Owned {
        let count = Arc::new(AtomicUsize::new(0));
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(count.clone());
        Owned(count)
    }

    fn counts(&self) -> Vec<usize> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter()
            .map(|count| count.load(Ordering::SeqCst))
            .collect()
    }

    fn all_are_gone(&self) -> bool {
        self.counts().iter().all(|count| *count > 0)
    }
}

struct Owned(Arc<AtomicUsize>);

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// What a fiber and its test say to each other.
#[derive(Default)]
struct Talk {
    begun: MVar<()>,
    go_on: MVar<()>,
    has_begun: AtomicBool,
    has_gone_on: AtomicBool,
    call_has_returned: AtomicBool,
}

impl Talk {
    fn wait(&self, drops: &Drops) {
        let _own = drops.owned();
        self.begun.put(()).wait();
        self.go_on.take().wait();
    }
}

/// Comes into its state at the bottom of some frames, each of which owns something.
fn live(state: State, talk: &Talk, drops: &Drops, frames: u32) -> Owned {
    let _own = drops.owned();
    if frames > 0 {
        return live(state, talk, drops, frames - 1);
    }
    talk.has_begun.store(true, Ordering::SeqCst);
    match state {
        State::Ended => {}
        State::InACall => {
            foreign(|| talk.wait(drops));
            talk.call_has_returned.store(true, Ordering::SeqCst);
            pending::<()>().wait();
        }
        State::NotBegun | State::StandsStill | State::Woken => talk.wait(drops),
    }
    talk.has_gone_on.store(true, Ordering::SeqCst);
    drops.owned()
}

/// Keeps every worker of a pool in a poll, until this is dropped. The other models have none: with one thread nothing
/// runs unless somebody waits, and a fiber with a thread of its own cannot be kept from it.
fn hold(rt: &Runtime, model: Model) -> Vec<mpsc::Sender<()>> {
    let Model::Pool { workers } = model else {
        return Vec::new();
    };
    let held = (0..workers).map(|_| {
        let (keep, kept) = mpsc::channel();
        let (begins, begun) = mpsc::channel();
        drop(rt.spawn(async move {
            begins.send(()).expect("somebody listens");
            kept.recv().expect_err("it is dropped");
        }));
        begun.recv().expect("another worker has it");
        keep
    });
    held.collect()
}

/// A fiber in a state, and all that keeps it there.
struct Case {
    model: Model,
    state: State,
    rt: Option<Runtime>,
    fiber: Option<JoinHandle<Owned>>,
    talk: Arc<Talk>,
    drops: Drops,
    held: Vec<mpsc::Sender<()>>,
}

impl Case {
    fn new(model: Model, state: State) -> Self {
        watch();
        // A worker that is held gets no spare, which would have the fiber begin.
        let rt = Runtime::builder()
            .model(model)
            .fibers(FIBERS)
            .stuck_after(Duration::from_secs(3_600))
            .build()
            .expect("a runtime can be built");
        let (talk, drops) = (Arc::new(Talk::default()), Drops::default());
        let mut held = Vec::new();
        if state == State::NotBegun {
            held = hold(&rt, model);
        }
        let fiber = {
            let (talk, drops, own) = (talk.clone(), drops.clone(), drops.owned());
            rt.spawn_fiber(move || {
                let _own = own;
                live(state, &talk, &drops, 3)
            })
        };
        match state {
            State::NotBegun => {}
            State::Ended => {
                while !fiber.is_finished() {
                    rt.block_on(yield_now());
                }
            }
            State::StandsStill | State::Woken | State::InACall => {
                rt.block_on(talk.begun.take());
                // Each worker has ended the turn that it was in, so the fiber stands still.
                held = hold(&rt, model);
            }
        }
        if state == State::Woken {
            talk.go_on.put(()).wait();
        }
        Self {
            model,
            state,
            rt: Some(rt),
            fiber: Some(fiber),
            talk,
            drops,
            held,
        }
    }

    fn rt(&self) -> &Runtime {
        self.rt.as_ref().expect("it has not ended")
    }

    fn take_fiber(&mut self) -> JoinHandle<Owned> {
        self.fiber.take().expect("nobody has taken it")
    }

    /// Drops the runtime, and lets the fiber go meanwhile.
    fn end_runtime(&mut self) {
        let (rt, held) = (self.rt.take(), std::mem::take(&mut self.held));
        let (end, talk, is_in_call) = (Barrier::new(2), &self.talk, self.state == State::InACall);
        thread::scope(|s| {
            s.spawn(|| {
                end.wait();
                drop(held);
                if is_in_call {
                    talk.go_on.put(()).wait();
                }
            });
            end.wait();
            drop(rt);
        });
    }

    /// All is gone, and went once; the fiber has gone as far as it had to.
    fn check(&self) {
        let (counts, talk) = (self.drops.counts(), &self.talk);
        let case = format!("{}, {:?}: dropped {counts:?} times", self.model, self.state);
        assert!(counts.iter().all(|count| *count == 1), "{case}");
        let [has_begun, has_gone_on, call_has_returned] =
            [&talk.has_begun, &talk.has_gone_on, &talk.call_has_returned]
                .map(|flag| flag.load(Ordering::SeqCst));
        assert!(has_begun || self.state == State::NotBegun, "{case}");
        assert!(counts.len() >= if has_begun { 5 } else { 1 }, "{case}");
        assert_eq!(call_has_returned, self.state == State::InACall, "{case}");
        let may_go_on = matches!(self.state, State::Woken | State::Ended);
        assert!(may_go_on || !has_gone_on, "{case}");
    }
}

/// Runs a body for each model and state.
fn each_case(body: fn(Case)) {
    for model in MODELS {
        for state in STATES {
            watched(&format!("{model}, {state:?}"), move || {
                for _ in 0..3 {
                    body(Case::new(model, state));
                }
            });
        }
    }
}

#[test]
fn aborted_and_its_handle_dropped() {
    each_case(|mut case| {
        let fiber = case.take_fiber();
        fiber.abort();
        drop(fiber);
        case.held.clear();
        if case.state == State::InACall {
            case.talk.go_on.put(()).wait();
        }
        // Its runtime lives, and ends it.
        while !case.drops.all_are_gone() {
            case.rt().block_on(yield_now());
        }
        case.check();
        // Whose thread is its own may have begun, or gone on, before it was aborted.
        if case.model != Model::Threads {
            let has_begun = case.talk.has_begun.load(Ordering::SeqCst);
            assert_eq!(has_begun, case.state != State::NotBegun, "{}", case.model);
            let has_gone_on = case.talk.has_gone_on.load(Ordering::SeqCst);
            assert_eq!(has_gone_on, case.state == State::Ended, "{}", case.model);
        }
        case.rt = None;
        case.check();
    });
}

#[test]
fn its_handle_dropped_and_then_its_runtime() {
    each_case(|mut case| {
        drop(case.take_fiber());
        case.end_runtime();
        case.check();
    });
}

#[test]
fn its_runtime_dropped_and_then_its_handle() {
    each_case(|mut case| {
        case.end_runtime();
        if case.state == State::Ended {
            assert!(!case.drops.all_are_gone(), "its handle has the output");
        }
        drop(case.take_fiber());
        case.check();
    });
}

#[test]
fn its_runtime_dropped_and_then_its_end_looked_at() {
    each_case(|mut case| {
        case.end_runtime();
        let ended = case.take_fiber().wait();
        match case.state {
            State::Ended => assert!(ended.is_ok(), "{}", case.model),
            // Its thread may have polled it once more.
            State::Woken => assert!(
                ended
                    .as_ref()
                    .err()
                    .is_none_or(|error| error.is_cancelled())
            ),
            _ => assert!(ended.as_ref().is_err_and(|error| error.is_cancelled())),
        }
        drop(ended);
        case.check();
    });
}
