//! The formats of callgrind and addr2line, and which rows and tables are taken for which.

use std::path::Path;

use super::{Table, are_near, costs, lines};

fn table() -> Table {
    toml::from_str(include_str!("../../hops.toml")).expect("xtask/hops.toml")
}

#[test]
fn a_cost_is_its_own_and_not_that_of_a_call() {
    let text = "ob=/bin/hop\nfn=one\n0x10 3\n0x14 3\ncalls=3 0x40\n0x14 99\nob=/lib/other\n0x10 7\nob=/bin/hop\n0x10 1\n";
    let costs = costs::read(text, "/bin/hop");
    assert_eq!((costs[&0x10], costs[&0x14], costs.len()), (4, 3, 2));
}

#[test]
fn files_come_innermost_first_without_those_of_others() {
    let text = "0x10\n/std/cell.rs:5\n/r/crates/core/src/policy.rs:7\n/r/crates/sync/src/mvar.rs:1\n0x14\n??:0\n";
    let files = lines::read(text, Path::new("/r"));
    assert_eq!(
        files[0],
        ["crates/core/src/policy.rs", "crates/sync/src/mvar.rs"]
    );
    assert!(files[1].is_empty() && files.len() == 2);
}

#[test]
fn what_is_asked_counts_for_who_asks() {
    let table = table();
    let row = |files: &[&str]| {
        let files: Vec<_> = files.iter().map(|file| file.to_string()).collect();
        table.row(&files)
    };
    let lock = row(&["crates/core/src/policy/shared.rs"]);
    let platform = [
        "crates/core/src/platform/mod.rs",
        "crates/core/src/policy/shared.rs",
    ];
    assert_eq!(row(&platform), lock);
    assert!(lock < table.cause.len());
    assert_eq!(row(&[]), table.cause.len());
    assert_eq!(row(&["crates/core/src/never.rs"]), table.cause.len());
}

#[test]
fn tables_may_differ_by_a_little() {
    let page = "| a | 10 | 200 |";
    assert!(are_near(page, "| a | 12 | 203 |"));
    assert!(!are_near(page, "| a | 13 | 200 |"));
    assert!(!are_near(page, "| b | 10 | 200 |"));
    assert!(!are_near(page, "| a | 10 | 200 | 1 |"));
}
