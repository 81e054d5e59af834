//! A simulation in slices is one simulation.

use gossamer::experiment::Simulation;

use super::Simulated;
use crate::description::Description;
use crate::expression::parse_value;
use crate::progress::Progress;

#[test]
fn where_a_slice_ends_makes_no_difference() {
    for (text, runs) in [
        ("3d6", 1_000),
        ("2d6! + d4", 97),
        ("100d6", 5),
        ("7", 1_000),
    ] {
        let expression = parse_value(text).expect("it is an expression");
        let description = Description::of(&expression).expect("it is small");
        let simulated = Simulated {
            text,
            runs,
            seed: 11,
            width: 80,
        };
        let counts = simulated.count(&description, &Progress::new("testing"));
        let expected = Simulation::seeded(11).histogram(runs, |c| description.draw(c));
        assert_eq!(
            counts.expect("few outcomes come"),
            expected.expect("it is sound"),
            "{text}"
        );
    }
}
