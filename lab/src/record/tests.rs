//! How a machine is called in a folder's name.

use super::*;

#[test]
fn names_of_machines() {
    for (cpu, cores, name) in [
        ("AMD EPYC", 2, "epyc-2-cores"),
        (
            "Intel(R) Core(TM) i7-8550U CPU @ 1.80GHz",
            8,
            "i7-8550u-8-cores",
        ),
        ("unknown", 4, "machine-4-cores"),
        ("../..", 1, "machine-1-cores"),
    ] {
        assert_eq!(machine_name(cpu, cores), name);
    }
}

#[test]
fn dates() {
    assert!(is_date("2026-11-21"));
    for text in ["2026-1-21", "2026-11-2x", "../../../x", ""] {
        assert!(!is_date(text), "{text}");
    }
}
