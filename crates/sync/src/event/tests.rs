//! The number of the last setting, where it wraps.

use super::*;

#[test]
fn the_number_wraps_below_the_mark() {
    for has_waiters in [0, HAS_WAITERS] {
        let last = has_waiters | SETTING;
        let (_, wants) = Happening::park(last, 0);
        assert_eq!(Happening::grant(last, wants), None, "it has not happened");
        let set = Happening::set(last);
        assert_eq!(set, has_waiters | SET, "the mark stays");
        assert_eq!(
            Happening::grant(set & !SET, wants),
            Some(has_waiters),
            "it goes"
        );
    }
}
