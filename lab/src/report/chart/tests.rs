//! Where values stand on an axis, what stands beside its lines, and who is shown first.

use super::*;

#[test]
fn an_axis_has_room_and_a_value_its_place() {
    let axis = Axis::around([0.0, 11.0, 1_000.0, f64::INFINITY]).expect("two values");
    assert_eq!(
        [
            axis.at(axis.0.start, (0, 300)),
            axis.at(axis.0.end, (0, 300))
        ],
        [0, 300]
    );
    assert_eq!(axis.at(110_f64.sqrt() * 10.0, (0, 300)), 150);
    assert!(Axis::around([0.0, f64::NAN]).is_none());
}

#[test]
fn numbers_of_an_axis_are_short_and_few() {
    let axis = Axis(1.0..100.0);
    let labels = [0.5, 20.0, 30.0, 5_000.0, 2e6, 1e9].map(|value| axis.label(value));
    assert_eq!(labels, ["0.5", "20", "", "5k", "2M", "1G"]);
}

#[test]
fn the_best_of_each_family_is_shown_first_and_ours_before_it() {
    let names = ["tokio-1", "tokio-2", "go", "gossamer/x", "gossamer/y"];
    assert_eq!(ranks(&names), [1, 4, 2, 0, 3]);
}
