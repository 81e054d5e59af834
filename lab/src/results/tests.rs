//! The statistics of a row.

use super::*;

#[test]
fn the_middle() {
    assert_eq!(spread(&[]), None);
    assert_eq!(
        spread(&[2.0]),
        Some(Spread {
            min: 2.0,
            median: 2.0,
            max: 2.0
        })
    );
    assert_eq!(spread(&[3.0, 1.0, 9.0]).map(|s| s.median), Some(3.0));
    assert_eq!(spread(&[4.0, 1.0, 2.0, 9.0]).map(|s| s.median), Some(3.0));
}
