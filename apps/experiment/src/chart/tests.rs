//! Axes name round values, and a PNG without a font is refused in words.

use super::axis::{outcome_ticks, probability_ticks};
use super::font::find;

#[test]
fn heights_reach_above_the_tallest_bar() {
    for tallest in [0.125, 1.0, 0.0277, 1e-9, 3e-300, 0.5] {
        let heights = probability_ticks(tallest);
        assert!(heights.end >= tallest, "{tallest}: {heights:?}");
        assert!(heights.end <= tallest * 1.5, "{tallest}: {heights:?}");
        assert!((3..=7).contains(&heights.labels.len()), "{heights:?}");
    }
    let names: Vec<String> = probability_ticks(0.125)
        .labels
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    assert_eq!(names, ["0.00", "0.05", "0.10", "0.15"]);
    assert_eq!(probability_ticks(0.0).end, 1.0);
}

#[test]
fn outcomes_are_named_at_round_numbers() {
    assert_eq!(outcome_ticks(3, 18), (3..=18).collect::<Vec<_>>());
    assert_eq!(outcome_ticks(5, 5), [5]);
    assert_eq!(
        outcome_ticks(-120, 130),
        [-120, -100, -80, -60, -40, -20, 0, 20, 40, 60, 80, 100, 120]
    );
    let widest = outcome_ticks(i64::MIN, i64::MAX);
    assert!((2..=6).contains(&widest.len()), "{widest:?}");
}

#[test]
fn without_fonts_none_is_found() {
    assert_eq!(find(&fontdb::Database::new()), None);
}
