//! As many readers as can be counted.

use super::*;

#[test]
fn one_reader_too_many_waits() {
    for has_waiters in [0, HAS_WAITERS] {
        let all = has_waiters | READERS;
        assert_eq!(Access::grant(all - 1, READS), Some(all));
        assert_eq!(Access::grant(all, READS), None);
        assert_eq!(Access::grant(all, WRITES), None);
        assert_eq!(Access::give_back(all, READS), all - 1);
    }
}
