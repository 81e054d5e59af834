//! What is made of callgrind's words, and which sizes are counted.

use super::*;
use crate::workloads::WORKLOADS;

#[test]
fn a_count_is_found_among_other_words() {
    let text = "==12== Callgrind, a call-graph\nhello\n==12== Events    : Ir\n\
                ==12== Collected : 697886\n==12== \n==12== I   refs:      697,886\nworld";
    assert_eq!(collected(text), (Some(697_886), "hello\nworld".into()));
    assert_eq!(collected("Collected : 7"), (None, "Collected : 7".into()));
    assert_eq!(collected("==1== Collected : many").0, None);
}

#[test]
fn the_start_of_the_process_is_not_in_it() {
    assert_eq!(slope([1_000_000, 1_040_000], [20_000, 40_000]), Ok(2.0));
    assert!(slope([7, 7], [1, 2]).is_err_and(|reason| reason.contains("no difference")));
    assert!(slope([8, 7], [1, 2]).is_err());
}

#[test]
fn sizes_are_within_what_a_workload_allows() {
    for workload in WORKLOADS
        .iter()
        .filter(|workload| !workload.size.is_empty())
    {
        let [small, large] = sizes(workload);
        let option = workload.option(workload.size).expect("a size is an option");
        let (Kind::Number { range, .. } | Kind::PowerOfTen { range, .. }) = option.kind else {
            panic!("{} is sized by a choice", workload.name);
        };
        assert!(
            range[0] <= small && small < large && large <= range[1],
            "{}",
            workload.name
        );
    }
}
