//! Every value is on its axis, and there are lines to read it by.

use super::*;

#[test]
fn values_lie_between_the_ends() {
    for (least, most) in [
        (1.0, 1.0),
        (0.003, 7e5),
        (9.99, 10.01),
        (1e3, 1e6),
        (2.0, 5.0),
    ] {
        for axis in [Log::powers, Log::tight] {
            let log = axis([least, most], [100.0, 300.0]).expect("values");
            for value in [least, most] {
                let at = log.at(value);
                assert!((99.99..=300.01).contains(&at), "{value} at {at} on {log:?}");
            }
            assert!(log.ticks().len() >= 2, "{log:?}");
            assert!(log.ticks().len() <= 12, "{log:?}");
        }
    }
}

fn list(values: &[f64]) -> Option<Log> {
    Log::powers(values.iter().copied(), [0.0, 1.0])
}

#[test]
fn nothing_to_show() {
    assert!(list(&[]).is_none());
    assert!(list(&[0.0, f64::INFINITY]).is_none());
}

#[test]
fn short_numbers() {
    for (value, text) in [
        (0.5, "0.5"),
        (20.0, "20"),
        (1e4, "10k"),
        (5e6, "5M"),
        (1e9, "1G"),
    ] {
        assert_eq!(short(value), text);
    }
}
