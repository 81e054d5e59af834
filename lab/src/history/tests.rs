//! Nothing is lost between the printed tables and the numbers.

use super::*;
use crate::catalogue::Catalogue;
use crate::paths::Paths;

#[test]
fn every_row_is_a_number() {
    let all = of("ring");
    let memory: Vec<u32> = all.iter().map(|past| past.memory_kb).collect();
    assert_eq!(
        memory,
        [
            2680, 5178, 2760, 2016, 1228, 5996, 3788, 970, 3300, 4520, 220, 220
        ]
    );
    let total: f64 = all.iter().map(|past| past.seconds).sum();
    assert!((total - 85.026).abs() < 1e-9, "{total}");
    assert_eq!(of("spawn"), []);
}

#[test]
fn who_runs_it_today_is_a_contender() {
    let catalogue = Catalogue::load(&Paths::new(None, None).contenders).expect("our own lists");
    for past in of("ring") {
        let today = past.contender;
        let mut all = catalogue.contenders.iter();
        match past.implementation {
            "Mozart/Oz" => assert_eq!(today, ""),
            _ => assert!(all.any(|entry| entry.name == today), "no {today}"),
        }
    }
}

#[test]
fn every_row_is_as_it_was_printed() {
    let printed: Vec<&str> = of("ring").iter().map(|past| past.printed).collect();
    let expected = [
        "1.22", "1.85", "1.9", "2.05", "3.06", "3.96", "4.10", "4.24", "15.27", "28.7", "0.076",
        "18.6",
    ];
    assert_eq!(printed, expected);
    let later = |past: &Past| past.source.contains("2008-04-01");
    let later: Vec<bool> = of("ring").iter().map(later).collect();
    assert_eq!(later, [[false; 10].as_slice(), &[true; 2]].concat());
}
