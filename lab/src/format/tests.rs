//! Numbers and dates come out as people read them.

use super::*;

#[test]
fn numbers() {
    assert_eq!(thousands(0), "0");
    assert_eq!(thousands(10_000_000), "10,000,000");
    assert_eq!(figure(2.312), "2.31");
    assert_eq!(figure(23.12), "23.1");
    assert_eq!(figure(231.2), "231");
    assert_eq!(figure(12_345.0), "12,300");
    for none in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        assert_eq!(figure(none), "–");
    }
}

#[test]
fn dates() {
    let at = |seconds| timestamp(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
    assert_eq!(at(0), "1970-01-01T00:00:00Z");
    assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
    assert_eq!(at(1_798_761_599), "2026-12-31T23:59:59Z");
}
