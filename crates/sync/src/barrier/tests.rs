//! The number of the round, where it wraps, and as many as can meet.

use super::*;

#[test]
fn the_round_wraps_below_the_mark() {
    for has_waiters in [0, HAS_WAITERS] {
        let (bits, round) = Meeting::park(has_waiters | ROUND | (COME - 2), MEMBERS_MAX);
        assert_eq!(bits, has_waiters | ROUND | (COME - 1));
        assert_eq!(Meeting::grant(bits, round), None, "one is missing");
        let met = Meeting::arrive(bits, MEMBERS_MAX);
        assert_eq!(met, Some(has_waiters), "nobody has come to the first round");
        assert_eq!(
            Meeting::grant(has_waiters, round),
            Some(has_waiters),
            "it goes"
        );
    }
}
