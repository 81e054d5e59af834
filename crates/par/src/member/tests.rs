//! That a thread keeps its deque, and when it does not.

use std::panic::catch_unwind;

use super::*;
use crate::team::{Help, Helpers};

struct Nobody;

impl Helpers for Nobody {
    fn width(&self) -> usize {
        1
    }

    fn ask(&self, _help: Help) {}
}

fn seat_in(team: &Arc<Team>) -> Arc<Seat> {
    Member::enter(team, |member| member.deque.seat.clone())
}

#[test]
fn a_thread_keeps_its_deque_for_the_same_team() {
    let [one, other] = [(); 2].map(|()| Team::new(Box::new(Nobody)));
    let seat = seat_in(&one);
    assert!(Arc::ptr_eq(&seat, &seat_in(&one)), "the same team");
    let of_other = seat_in(&other);
    assert!(!Arc::ptr_eq(&seat, &of_other), "another team");
    assert!(
        !Arc::ptr_eq(&of_other, &seat_in(&one)),
        "the first one again"
    );
}

/// Its memory may be that of the last one, and it has taken as many seats.
#[test]
fn a_thread_keeps_no_deque_of_a_team_that_is_gone() {
    let mut last = None;
    for _ in 0..100 {
        let seat = seat_in(&Team::new(Box::new(Nobody)));
        if let Some(last) = last.replace(seat.clone()) {
            assert!(!Arc::ptr_eq(&seat, &last));
        }
    }
}

#[test]
fn a_computation_inside_another_one_has_a_deque_of_its_own() {
    let team = Team::new(Box::new(Nobody));
    Member::enter(&team, |outer| {
        Member::enter(&team, |inner| {
            assert!(!Arc::ptr_eq(&outer.deque.seat, &inner.deque.seat));
        });
    });
}

#[test]
fn a_thread_that_has_panicked_computes_again() {
    let team = Team::new(Box::new(Nobody));
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        Member::enter(&team, |_| panic!("a part"))
    }));
    assert!(panicked.is_err());
    assert_eq!(
        Member::enter(&team, |member| member.join(|| 1, || 2)),
        (1, 2)
    );
}
