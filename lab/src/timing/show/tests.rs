//! The forms of the seed.

use super::*;

#[test]
fn sizes() {
    for (bytes, shown) in [
        (0_u64, "0B"),
        (1, "1B"),
        (999, "999B"),
        (1_000, "0.98KB"),
        (1_024, "1.0KB"),
        (1_536, "1.5KB"),
        (524_288, "512KB"),
        (1_000_000, "0.95MB"),
        (1_769_472, "1.69MB"),
        (18_874_368, "18.0MB"),
        (118_090_629, "113MB"),
        (1_073_741_824, "1.0GB"),
        (14_967_986_258, "13.9GB"),
    ] {
        assert_eq!(size(bytes as f64), shown, "{bytes}");
    }
}

#[test]
fn times() {
    assert_eq!(clock(1.002_345_678), "00:00:01.002345678");
    assert_eq!(clock(0.0), "00:00:00.000000000");
    assert_eq!(clock(3_723.5), "01:02:03.500000000");
    assert_eq!(clock(360_000.0), "100:00:00.000000000");
    assert_eq!(clock(59.999_999_999_9), "00:01:00.000000000");
}

#[test]
fn lines() {
    assert_eq!(
        line(Some("sleep"), 1_769_472, 1.002_345_678, Some(12.345)),
        "sleep: == 1.69MB, 00:00:01.002345678 (12.345 J energy) =="
    );
    assert_eq!(
        line(None, 1_024, 0.5, None),
        "== 1.0KB, 00:00:00.500000000 (? J energy) =="
    );
}

#[test]
fn several() {
    let text = summary(&[1_024.0, 4_096.0], &[1.0, 4.0], Some(&[0.0, 2.0]));
    assert_eq!(
        text,
        "  memory  min 1.0KB, median 2.5KB, max 4.0KB, geometric mean 2.0KB\n  \
         time    min 00:00:01.000000000, median 00:00:02.500000000, max 00:00:04.000000000, \
         geometric mean 00:00:02.000000000\n  \
         energy  min 0.000 J, median 1.000 J, max 2.000 J, geometric mean 0.000 J\n"
    );
    assert!(!summary(&[1.0, 1.0], &[1.0, 1.0], None).contains("energy"));
}

#[test]
fn a_mean_of_equal_values_is_that_value() {
    for value in [1_114_112.0, 1e-9, 3.0, 0.0, 7e15] {
        assert_eq!(geometric_mean(&[value; 3]), value);
    }
    assert!((geometric_mean(&[1.0, 100.0]) - 10.0).abs() < 1e-9);
}
