//! Which polls are told as refused a spare, look by look.

use std::panic::Location;
use std::time::Duration;

use super::super::Hold;
use super::{LongPoll, Stuck, Watched, note_wait};

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
