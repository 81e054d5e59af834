//! The answers, each worked out the long way for small sizes.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::workload::Values;

fn answer(workload: &str, given: &[(&'static str, u64)], choice: &str) -> String {
    let workload = find(workload).expect("a workload");
    let values: Values = workload.values(|name| match name {
        "which" | "what" => Some(json!(choice)),
        _ => given
            .iter()
            .find(|(own, _)| *own == name)
            .map(|(_, n)| json!(n)),
    });
    (workload.expected)(&values)
}

fn stepped(seed: u64, steps: u64) -> u64 {
    (0..steps).fold(seed, |state, _| step(state))
}

#[test]
fn every_workload_has_an_answer_a_title_and_the_option_that_sizes_it() {
    for workload in &WORKLOADS {
        let (name, values) = (workload.name, workload.usual_values());
        assert!(!(workload.title)(&values).is_empty());
        let answer = (workload.expected)(&values);
        if name == "process" {
            assert_eq!(answer, "", "{name} has nothing to do");
            continue;
        }
        if !workload.size.is_empty() {
            assert!(workload.option(workload.size).is_some(), "{name}");
            assert!(values.number(workload.size) > 0, "{name}");
        }
        let is_game = name == "k-nucleotide" && answer.ends_with("\tGGTATTTTAATTTATAGT");
        assert!(answer.parse::<u64>().is_ok() || is_game, "{name}: {answer}");
    }
}

#[test]
fn computations_that_call_themselves() {
    assert_eq!(answer("fib", &[("rounds", 3), ("n", 10)], ""), "165");
    assert_eq!(answer("fib", &[("rounds", 1), ("n", 1)], ""), "1");
    // 0 + 1 + 4 + 9.
    assert_eq!(answer("quicksort", &[("items", 4)], ""), "14");
}

#[test]
fn the_sums() {
    assert_eq!(answer("spawn", &[("spawns", 5)], ""), "10");
    // 0 + 1 + … + 99,999 = 4,999,950,000, and 2^32 is 4,294,967,296.
    assert_eq!(answer("spawn", &[("spawns", 100_000)], ""), "704982704");
    assert_eq!(answer("skynet", &[], ""), "499999500000");
    assert_eq!(answer("skynet", &[("leaves", 1)], ""), "0");
    assert_eq!(answer("pingpong", &[("trips", 8)], ""), "16");
    // 0 + 1 + … + 999,999.
    assert_eq!(answer("park", &[], ""), "499999500000");
    assert_eq!(answer("mutex", &[("sections", 7)], ""), "7");
    assert_eq!(answer("timers", &[("timers", 9)], ""), "9");
    assert_eq!(answer("hostage", &[("hostages", 3)], ""), "3");
    assert_eq!(answer("crowd", &[("tasks", 3), ("ms", 7)], ""), "3");
    for workload in SOCKETS {
        assert_eq!(answer(workload, &[("connections", 3)], ""), "3");
        assert!(!is_about_time(workload));
    }
    for workload in ["spsc", "mpsc", "mpmc", "rendezvous", "ports"] {
        // 0 + 1 + 2 + 3 + 4, whoever sends which; and the largest that may be asked for fits into 63 bits.
        let given = [("messages", 5), ("senders", 3)];
        assert_eq!(answer(workload, &given, ""), "10");
        assert_eq!(answer(workload, &[("messages", 1)], ""), "0");
        let most = answer(workload, &[("messages", 4_000_000_000)], "");
        assert!(most.parse::<i64>().is_ok(), "{most}");
    }
    assert_eq!(answer("pipe", &[("trips", 8)], ""), "16");
    // Two tasks send 0, 1, 2, and one sends 0, 1.
    let ring = answer("message-ring", &[("messages", 8), ("tasks", 3)], "");
    assert_eq!(ring, "7");
    // Of ten tasks three send a 0, the others nothing.
    let ring = answer("message-ring", &[("messages", 3), ("tasks", 10)], "");
    assert_eq!(ring, "0");
    assert_eq!(answer("msgsend", &[("requests", 7)], ""), "700");
    assert_eq!(answer("bfs", &[("searches", 7), ("scale", 8)], ""), "7");
}

#[test]
fn savinas_answers() {
    for (workload, size) in [
        ("forkjoin", "messages"),
        ("big", "pings"),
        ("bounded-buffer", "items"),
    ] {
        assert_eq!(answer(workload, &[(size, 7)], ""), "7");
    }
    // Ten accounts with a million each, and three transactions.
    let given = [("transactions", 3), ("accounts", 10)];
    assert_eq!(answer("bank", &given, ""), "10000003");
    let most = answer("bank", &[("accounts", 100_000_000)], "");
    assert!(most.parse::<i64>().is_ok(), "{most}");
    // The root and groups of ten, as many as are allowed.
    assert_eq!(answer("uts", &[], ""), "199991");
    assert_eq!(answer("uts", &[("nodes", 1_000)], ""), "991");
    assert_eq!(answer("uts", &[("nodes", 1), ("children", 3)], ""), "4");
    // With one child each, the tree is as deep as the generator says yes: a chain that soon ends.
    let chain = answer("uts", &[("children", 1)], "");
    assert!(
        chain.parse::<u64>().is_ok_and(|nodes| nodes < 100),
        "{chain}"
    );
}

#[test]
fn the_generator_jumps_to_where_steps_lead() {
    for steps in [0_u64, 1, 2, 3, 10, 1_000, 12_345] {
        assert_eq!(
            generator_after(5, u128::from(steps)),
            stepped(5, steps),
            "{steps} steps"
        );
    }
    let parts = (stepped(1, 4) ^ stepped(2, 3) ^ stepped(3, 3)).to_string();
    assert_eq!(answer("cpu", &[("rounds", 10), ("tasks", 3)], ""), parts);
    let both = (stepped(1, 12) ^ stepped(2, 12)).to_string();
    assert_eq!(answer("slot", &[("wakes", 3), ("work", 4)], "busy"), both);
    let one = stepped(1, 12).to_string();
    assert_eq!(answer("slot", &[("wakes", 3), ("work", 4)], "short"), one);
}

#[test]
fn the_generating_functions_of_dice_are_those_of_all_rolls() {
    let asked = |what, dice, sides, kept| {
        let given = [("dice", dice), ("sides", sides), ("kept", kept)];
        answer("dice", &given, what)
    };
    for (dice, sides) in [(1, 1), (1, 6), (3, 4), (4, 6), (5, 2)] {
        let all = rolls(dice, sides);
        for what in ["sum", "paths"] {
            let told = dice::of_outcomes(all.iter().map(|roll| roll.iter().sum()));
            assert_eq!(asked(what, dice, sides, 1), told.to_string(), "{what}");
        }
        for kept in 1..=dice + 1 {
            let highest = all
                .iter()
                .map(|roll| roll.iter().rev().take(kept as usize).sum());
            let told = dice::of_outcomes(highest);
            assert_eq!(asked("keep", dice, sides, kept), told.to_string());
        }
    }
}

/// Every roll, each in its order from the lowest on.
fn rolls(dice: u64, sides: u64) -> Vec<Vec<u64>> {
    (0..sides.pow(dice as u32))
        .map(|number| {
            let die = |place| number / sides.pow(place) % sides + 1;
            let mut roll: Vec<u64> = (0..dice as u32).map(die).collect();
            roll.sort_unstable();
            roll
        })
        .collect()
}

/// A state is how far each has come: 1 and 2 are forks in its hands, 4 is the end. From all states that are as far, the
/// weights go on to the next ones.
#[test]
fn philosophers_deadlock_as_often_as_the_answer_says() {
    // All weights are over one number, which every choice among up to five divides: 60 for each of the twenty steps.
    let (all, mut states) = (
        60_u128.pow(20),
        BTreeMap::from([([0_u8; 5], 60_u128.pow(20))]),
    );
    let mut deadlocks = 0;
    while !states.is_empty() {
        let mut after = BTreeMap::new();
        for (at, weight) in states {
            let holds = |who: usize, fork: usize| match fork == who {
                true => (1..=2).contains(&at[who]),
                false => (2..=3).contains(&at[who]),
            };
            let is_free = |fork: usize| !holds(fork, fork) && !holds((fork + 4) % 5, fork);
            let can = |who: &usize| match at[*who] {
                0 => is_free(*who),
                1 => is_free((*who + 1) % 5),
                step => step < 4,
            };
            let enabled: Vec<usize> = (0..5).filter(can).collect();
            if enabled.is_empty() && at != [4; 5] {
                deadlocks += weight;
            }
            for who in &enabled {
                let mut next = at;
                next[*who] += 1;
                *after.entry(next).or_insert(0) += weight / enabled.len() as u128;
            }
        }
        states = after;
    }
    let answer = answer("schedules", &[], "philosophers");
    let (above, below) = answer.split_once('/').expect("a fraction");
    let [above, below] = [above, below].map(|text| text.parse::<u128>().expect("a number"));
    assert_eq!(deadlocks * below, all * above);
}
