//! Usual values, those that depend on a choice, and what becomes of both.

use super::*;
use crate::workloads::find;

#[test]
fn a_usual_value_may_depend_on_a_choice() {
    let slot = find("slot").expect("a workload");
    let busy = slot.usual_values();
    assert_eq!(
        (busy.choice("which"), busy.number("work")),
        ("busy", 50_000)
    );
    let short = slot.values(|name| (name == "which").then(|| json!("short")));
    assert_eq!(
        (short.number("wakes"), short.number("work")),
        (500_000, 2_000)
    );
    let given = slot.values(|name| (name == "work").then(|| json!(7)));
    assert_eq!(given.number("work"), 7);
}

#[test]
fn a_contender_gets_the_options_in_order_and_its_own_size() {
    let request = Request {
        workload: find("ring").expect("a workload"),
        values: find("ring").expect("a workload").usual_values(),
        asked: None,
    };
    let words = request.sized(9).words().join(" ");
    assert_eq!(words, "--threads 503 --hops 9 --order forward");
    assert_eq!(request.ops(), 10_000_000);
    assert_eq!(request.sized(9).recorded()["hops"], 9);
}

#[test]
fn sizes_are_rounded_to_what_the_option_takes() {
    let (ring, skynet) = (find("ring").expect("one"), find("skynet").expect("one"));
    assert_eq!((ring.round(1_234_567), ring.round(7)), (1_200_000, 7));
    assert_eq!((skynet.round(999_999), skynet.round(10)), (100_000, 10));
}
