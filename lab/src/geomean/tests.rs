//! The means are exact, and come out as the seed prints them.

use super::*;

#[test]
fn the_form_of_a_time() {
    assert_eq!(shown_time(23_088_967_938), "00:00:23:88967938 (23.089 s)");
    assert_eq!(shown_time(49_071_518_083), "00:00:49:71518083 (49.072 s)");
    assert_eq!(shown_time(85_153_285_603), "00:01:25:153285603 (85.153 s)");
    assert_eq!(shown_time(3_600_000_000_005), "01:00:00:05 (3600.000 s)");
    assert_eq!(
        shown_time(360_000_000_000_000),
        "100:00:00:00 (360000.000 s)"
    );
}

#[test]
fn the_form_of_a_memory() {
    assert_eq!(shown_memory(118_090_629), "112.62 MiB");
    assert_eq!(shown_memory(1_023), "1023 B");
    assert_eq!(shown_memory(1_024), "1.00 KiB");
    assert_eq!(shown_memory((1 << 20) - 1), "1.00 MiB");
    assert_eq!(shown_memory(VALUE_MAX), "8.00 EiB");
}

#[test]
fn a_time_is_read_as_a_decimal_fraction() {
    assert_eq!(time_ns("00:00:23.088967938"), Ok(23_088_967_938));
    assert_eq!(time_ns("01:02:03.5"), Ok(3_723_500_000_000));
    assert_eq!(time_ns("0:00:01"), Ok(NS_PER_S));
    for bad in [
        "",
        "1",
        "00:01",
        "00:00:60.0",
        "00:60:00.0",
        "00:00:00.000000000",
        "00:00:01.",
        "00:00:01.1234567890",
        "00:00:-1.0",
        "00:00:+1.0",
        "1.00:00:01.0",
        "a:00:01.0",
        "00:00:01:5",
        "9999999999999999999:00:00",
        "::",
    ] {
        assert!(time_ns(bad).is_err(), "{bad:?} was taken for a time");
    }
}

#[test]
fn a_mean_is_the_next_whole_number() {
    assert_eq!(geometric_mean(&[7]), 7);
    assert_eq!(geometric_mean(&[5, 5, 5]), 5);
    assert_eq!(geometric_mean(&[1, 10, 100]), 10);
    // √2 = 1.41…, √6 = 2.45, √7 = 2.65, √12 = 3.46.
    assert_eq!(geometric_mean(&[1, 2]), 1);
    assert_eq!(geometric_mean(&[2, 3]), 2);
    assert_eq!(geometric_mean(&[1, 7]), 3);
    assert_eq!(geometric_mean(&[3, 4]), 3);
    assert_eq!(geometric_mean(&[VALUE_MAX; 4]), VALUE_MAX);
    assert_eq!(geometric_mean(&[1, VALUE_MAX]), 3_037_000_500);
}

/// With two values in 32 bits everything fits into 128: the mean m is right if
/// (2m - 1)² ≤ 4ab < (2m + 1)².
#[test]
fn means_agree_with_plain_arithmetic() {
    let mut state = 503_u64;
    for _ in 0..2_000 {
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33).max(1)
        };
        let (a, b) = (next(), next());
        let (m, product) = (
            u128::from(geometric_mean(&[a, b])),
            4 * u128::from(a) * u128::from(b),
        );
        assert!(
            (2 * m - 1).pow(2) <= product && product < (2 * m + 1).pow(2),
            "{a} {b}"
        );
        // Three equal values and a permutation change nothing.
        assert_eq!(geometric_mean(&[a, b]), geometric_mean(&[b, a]));
        assert_eq!(geometric_mean(&[a, a, a]), a);
    }
}
