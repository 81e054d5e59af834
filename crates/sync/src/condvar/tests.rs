//! The number of the last notification of all, where it wraps.

use super::*;

#[test]
fn the_number_wraps_below_the_mark() {
    for has_waiters in [0, HAS_WAITERS] {
        let mut bits = has_waiters | (HAS_WAITERS - 3);
        for expected in [HAS_WAITERS - 2, HAS_WAITERS - 1, 0, 1] {
            let (_, wants) = CondvarAdmission::park(bits, 0);
            assert_eq!(
                CondvarAdmission::grant(bits, wants),
                None,
                "nobody has notified it"
            );
            bits = CondvarAdmission::all(bits);
            assert_eq!(
                bits,
                has_waiters | expected,
                "the mark stays, and nothing else is touched"
            );
            assert_eq!(CondvarAdmission::grant(bits, wants), Some(bits));
        }
    }
}
