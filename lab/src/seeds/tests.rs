//! The names in the code beside the tables are those of contenders that there are, and every workload that there is
//! has its table's figures of today.

use serde_json::json;

use super::*;
use crate::machine::Machine;
use crate::measure::waiting_row;
use crate::results::{SCHEMA, Status};

fn catalogue() -> Catalogue {
    Catalogue::load(&Paths::new(None, None).contenders).expect("our own lists")
}

/// A ring of every contender, whose collector has said all that is asked for.
fn all_measured(catalogue: &Catalogue) -> Results {
    let said = json!({
        "minor_words": 1, "promoted_words": 2, "major_words": 3, "minor_collections": 4,
        "major_collections": 5, "gcs": 6, "major_gcs": 1, "gc_cpu_ns": 8, "mutator_cpu_ns": 9,
        "allocated_bytes": 10, "copied_bytes": 11, "max_live_bytes": 12
    });
    let rows = catalogue.contenders.iter().map(|contender| {
        let mut row = waiting_row(
            "ring",
            &contender.name,
            serde_json::Map::new(),
            history::HOPS,
        );
        row.status = Status::Ok;
        row.ns_per_op = Some(100.0);
        row.peak_rss_bytes = Some(1 << 20);
        row.gc = said.as_object().cloned();
        row
    });
    Results {
        schema: SCHEMA,
        machine: Machine::default(),
        results: rows.collect(),
    }
}

#[test]
fn every_name_beside_a_table_is_a_contender() {
    let catalogue = catalogue();
    for name in ALSO {
        let found = catalogue.contenders.iter().find(|entry| entry.name == name);
        let has = found.is_some_and(|entry| entry.workload.contains_key(RING.workload));
        assert!(has, "{name} has no ring");
    }
    for name in SENDING {
        let found = catalogue.contenders.iter().find(|entry| entry.name == name);
        let has =
            |table: &Table| found.is_some_and(|entry| entry.workload.contains_key(table.workload));
        assert!(has(&MSGSEND) || has(&MESSAGE_RING), "{name} sends nothing");
    }
    for Improvement { table, pairs, .. } in &IMPROVEMENTS {
        for name in pairs.iter().flat_map(|pair| [pair.channel, pair.pipe]) {
            let found = catalogue.contenders.iter().find(|entry| entry.name == name);
            let has = found.is_some_and(|entry| entry.workload.contains_key(table.workload));
            assert!(has, "{name} has no {}", table.workload);
        }
    }
    let results = all_measured(&catalogue);
    for (table, now) in now(&catalogue, &results).iter().take(4) {
        assert!(!now.contains("it is not in these results"), "{now}");
        // Mozart/Oz has no figures, and some figures no name.
        let holes = now.lines().filter(|line| line.ends_with(" -")).count();
        assert_eq!(holes, usize::from(table.title == RING.title), "{now}");
    }
    assert!(beside::collectors(&results).contains("bytes allocated in the heap"));
    for line in page::sweeps(&results) {
        let expected = if line.contender == "GHC, 2008" { 2 } else { 4 };
        assert_eq!(line.points.len(), expected, "{line:?}");
    }
}

#[test]
fn what_nobody_can_install_is_named_with_its_reason() {
    let catalogue = catalogue();
    let text = beside::ring(&catalogue, &all_measured(&catalogue));
    assert!(!catalogue.absent.is_empty());
    for absent in &catalogue.absent {
        let line = format!("{}: not installable: {}\n", absent.name, absent.why);
        assert!(text.contains(&line), "no '{line}' in {text}");
    }
}

#[test]
fn a_later_table_waits_for_its_workload_only() {
    let waiting = IMPROVEMENTS.iter().filter(|entry| entry.pairs.is_empty());
    for table in LATER.iter().chain(waiting.map(|entry| entry.table)) {
        let name = table.workload;
        assert!(
            find(name).is_none(),
            "there is a workload {name} now: put its figures beside the table, in a function of `beside`"
        );
    }
}
