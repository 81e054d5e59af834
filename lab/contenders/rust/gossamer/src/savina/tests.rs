//! Small sizes on every kind, odd ones included: parts that do not come out even, and more actors than work.

use super::*;

const KINDS: [&str; 4] = ["single-local", "single", "pool-1", "pool-2"];

#[track_caller]
fn gives(words: &str, answer: u64) {
    let kinds = KINDS.iter();
    let has = |kind: &&&str| !(words.starts_with("uts") && **kind == "single-local");
    for kind in kinds.filter(has) {
        let line = format!("{words} --kind {kind}");
        match run(line.split(' ').map(String::from)) {
            Ok(given) => assert_eq!(given, answer, "{line}"),
            Err(failure) => panic!("{line}: {failure:?}"),
        }
    }
}

#[test]
fn fork_join_counts_its_calculations() {
    gives("forkjoin --messages 5000 --actors 3", 5_000);
    gives("forkjoin --messages 1 --actors 4", 1);
}

#[test]
fn big_counts_its_pongs() {
    gives("big --pings 5000 --actors 7", 5_000);
    gives("big --pings 10 --actors 1", 10);
    gives("big --pings 2 --actors 5", 2);
}

#[test]
fn a_bounded_buffer_loses_no_item() {
    let few = "bounded-buffer --items 300 --producers 7 --consumers 3 --buffer 9 --cost 1";
    gives(few, 300);
    let narrow = "bounded-buffer --items 50 --producers 4 --consumers 1 --buffer 1 --cost 1";
    gives(narrow, 50);
    gives(
        "bounded-buffer --items 1 --producers 4 --consumers 4 --cost 1",
        1,
    );
}

#[test]
fn a_bank_keeps_its_money() {
    gives("bank --transactions 3000 --accounts 25", 25_003_000);
    gives("bank --transactions 100 --accounts 10", 10_000_100);
}

#[test]
fn a_tree_has_as_many_nodes_as_it_may() {
    gives("uts --nodes 1000 --children 10 --work 5", 991);
    gives("uts --nodes 1001 --children 10 --work 5", 1_001);
    // The root has its children in any case.
    gives("uts --nodes 1 --children 3 --work 1", 4);
}

#[test]
fn what_is_not_there_is_refused() {
    for words in [
        "bank --accounts 9",
        "bank --nodes 3",
        "uts --kind single-local",
        "forkjoin --actors 0",
        "uct",
    ] {
        let refused = run(words.split(' ').map(String::from));
        assert!(
            matches!(refused, Err(Failure::Asked(_))),
            "{words}: {refused:?}"
        );
    }
}
