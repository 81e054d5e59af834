//! Reports at planned times.

use std::panic::Location;
use std::time::{Duration, Instant};

use super::super::held::Hold;
use super::{EVERY, Reports, Stuck};

fn stuck(worker: usize, spawned: &'static Location<'static>) -> Stuck {
    Stuck {
        worker,
        name: None,
        spawned,
        since: Duration::from_millis(12),
        hold: Hold::Blocked,
        refused: None,
        at_end: false,
        more: 0,
    }
}

#[track_caller]
fn here() -> &'static Location<'static> {
    Location::caller()
}

#[test]
fn one_report_a_site_and_then_their_number() {
    let (one, other) = (here(), here());
    assert_ne!(one, other);
    let began = Instant::now();
    let at = |seconds| began + Duration::from_secs(seconds);
    let mut reports = Reports::default();
    assert!(reports.add(stuck(0, one), at(0)).is_some());
    assert!(reports.add(stuck(0, other), at(1)).is_some());
    assert_eq!(reports.left(at(30)), None);
    for second in 2..9 {
        assert!(
            reports
                .add(stuck(second as usize, one), at(second))
                .is_none()
        );
        assert!(reports.due(at(second), false).is_empty());
    }
    assert_eq!(reports.left(at(8)), Some(Duration::from_secs(2)));
    // The last of them, with the number of those before it; and then again for so long only one.
    let told = reports.due(began + EVERY, false);
    let told: Vec<_> = told.iter().map(|told| (told.worker, told.more)).collect();
    assert_eq!(told, [(8, 6)]);
    assert!(reports.add(stuck(1, one), at(11)).is_none());
    assert!(reports.due(at(19), false).is_empty());
    // Nothing was kept of the other one, which may be told at once.
    assert!(reports.add(stuck(2, other), at(19)).is_some());
    let told = reports.due(at(20), false);
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].worker, told[0].more), (1, 0));
    assert_eq!(reports.left(at(30)), None);
    // In the end nothing is kept back.
    assert!(reports.add(stuck(3, one), at(21)).is_none());
    assert_eq!(reports.due(at(21), true).len(), 1);
    assert_eq!(reports.left(at(30)), None);
}

#[test]
fn a_report_says_what_was_done() {
    let mut told = stuck(3, here());
    let text = told.to_string();
    assert!(
        text.contains("worker 3 was blocked in one poll for 12ms"),
        "{text}"
    );
    assert!(
        text.contains("others took its tasks over; use blocking()"),
        "{text}"
    );
    told.hold = Hold::Busy;
    told.more = 5;
    told.refused = Some("no thread".to_owned());
    let text = told.to_string();
    assert!(
        text.contains("was busy") && text.contains("yield_now()"),
        "{text}"
    );
    assert!(
        text.contains("no spare worker to be had (no thread)"),
        "{text}"
    );
    assert!(!text.contains("others took"), "{text}");
    assert!(
        text.ends_with("(and 5 more polls of tasks spawned there, since the last report)"),
        "{text}"
    );
}
