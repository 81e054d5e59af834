//! Which polls are told as refused a spare, look by look; and who is called though a worker searches.

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};
use std::time::Duration;

use gossamer_core::poller::Poller;
use gossamer_task::spawn;

use super::super::super::idle::Sleeper;
use super::super::super::shared::Shared;
use super::super::{Hold, Watching};
use super::{LongPoll, Look, Reports, Stuck, Watched, note_wait};
use crate::fifo::Fifo;
use crate::single::{acquire_again, shut_down};
use crate::thread_options::ThreadOptions;

fn stuck() -> Watched {
    let mut watched = Watched::new(None);
    watched.poll = Some(LongPoll {
        report: Stuck {
            worker: 0,
            name: None,
            spawned: Location::caller(),
            since: Duration::ZERO,
            hold: Hold::Blocked,
            refused: None,
            at_end: false,
            more: 0,
        },
        panics: 0,
        work_waited: false,
        has_spare: false,
        is_told: false,
    });
    watched
}

fn free() -> Watched {
    Watched::new(None)
}

/// Returns the refusal that the report of each long poll would name by now.
fn refusals(watched: &[Watched]) -> Vec<Option<&str>> {
    let polls = watched.iter().filter_map(|watched| watched.poll.as_ref());
    polls.map(|poll| poll.report.refused.as_deref()).collect()
}

#[test]
fn who_has_a_spare_is_not_refused_when_another_is() {
    let mut watched = [free(), free(), stuck()];
    note_wait(&mut watched, 1, None);
    watched[0] = stuck();
    note_wait(&mut watched, 1, Some("no thread"));
    assert_eq!(refusals(&watched), [Some("no thread"), None]);
    // The spare of one that is back is another's.
    watched[2] = free();
    watched[1] = stuck();
    note_wait(&mut watched, 1, None);
    watched[2] = stuck();
    note_wait(&mut watched, 1, Some("none again"));
    let last = [Some("no thread"), Some("none again"), Some("none again")];
    assert_eq!(refusals(&watched), last);
}

#[test]
fn a_refusal_is_told_though_a_spare_comes_later() {
    let mut watched = [stuck()];
    // An idle worker takes the tasks over, and is busy then.
    note_wait(&mut watched, 0, None);
    assert_eq!(refusals(&watched), [None]);
    note_wait(&mut watched, 0, Some("first"));
    note_wait(&mut watched, 0, Some("second"));
    note_wait(&mut watched, 1, None);
    assert_eq!(refusals(&watched), [Some("first")]);
}

#[test]
fn of_more_than_there_may_be_spares_the_rest_is_refused() {
    let mut watched = [stuck(), free(), stuck(), stuck()];
    for _ in 0..3 {
        note_wait(&mut watched, 2, Some("2 is the most"));
        assert_eq!(refusals(&watched), [None, None, Some("2 is the most")]);
    }
}

#[derive(Default)]
struct Called(AtomicBool);

impl Wake for Called {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed); // Relaxed: one thread
    }
}

/// Whoever pushes relies on the search, whose thread does not run; so the next look of the monitor calls another one.
#[test]
fn a_search_that_does_not_end_holds_no_call_back() {
    let shared = Shared::new(2, Watching::new(), ThreadOptions::default());
    let shared = shared.expect("few shards are in use");
    let called = Arc::new(Called::default());
    let is_called = || called.0.load(Ordering::Relaxed); // Relaxed: one thread
    shared.idle.enter(Sleeper {
        shard: shared.shard_for(0).expect("few shards are in use").shard,
        waker: called.clone().into(),
    });
    assert!(shared.idle.try_search());
    let mut look = Look {
        shared: &shared,
        fallback_waker: Waker::noop().clone(),
        watched: Vec::new(),
        reports: Reports::default(),
        is_unattended: false,
    };
    look.relieve(0, false);
    assert!(!is_called(), "nothing waits");
    drop(spawn(shared.injector, async {}, Location::caller()));
    assert!(!is_called(), "a push relies on the search");
    look.relieve(0, false);
    assert!(is_called(), "the look calls past the search");
    let guard = acquire_again(shared.injector);
    guard.seal();
    shut_down(&guard, &mut Fifo::new());
}

/// A poller of sockets that there are not.
#[derive(Debug)]
struct Used;

impl Poller for Used {
    fn sockets(&self) -> usize {
        1
    }

    fn is_elsewhere(&self) -> bool {
        false
    }

    fn poll(&self, _limit: Option<Duration>) {}

    fn keeps_any(&self) -> bool {
        false
    }

    fn deliver(&self) -> bool {
        false
    }

    fn waker(&self) -> &Waker {
        Waker::noop()
    }

    fn end(&self) {}
}

/// Whoever polled last is busy: at the second look an idle worker is called to poll.
#[test]
fn an_idle_worker_is_called_to_poll() {
    let shared = Shared::new(2, Watching::new(), ThreadOptions::default());
    let shared = shared.expect("few shards are in use");
    let called = Arc::new(Called::default());
    let is_called = || called.0.load(Ordering::Relaxed); // Relaxed: one thread
    shared.idle.enter(Sleeper {
        shard: shared.shard_for(0).expect("few shards are in use").shard,
        waker: called.clone().into(),
    });
    let poller: Arc<dyn Poller> = Arc::new(Used);
    let cell = shared.environment.poller();
    assert!(cell.get_or_try_init(|| Ok::<_, ()>(poller)).is_ok());
    let mut look = Look {
        shared: &shared,
        fallback_waker: Waker::noop().clone(),
        watched: Vec::new(),
        reports: Reports::default(),
        is_unattended: false,
    };
    let seat = cell.sit();
    look.attend();
    look.attend();
    drop(seat);
    look.attend();
    assert!(!is_called(), "somebody polled at the last look");
    look.attend();
    assert!(is_called(), "nobody polls");
}
