//! Intervals of medians, and a row of today.

use super::*;
use crate::machine::Machine;
use crate::measure::waiting_row;
use crate::results::{SCHEMA, spread};

/// By the table of the sign test: of six values all are needed for 95 %, of nine all but the outermost.
#[test]
fn an_interval_is_as_narrow_as_is_sure() {
    let values = |count: u32| (1..=count).map(f64::from).rev().collect::<Vec<f64>>();
    for (count, least, most, sure) in [
        (1, 1.0, 1.0, 0.0),
        (5, 1.0, 5.0, 0.9375),
        (6, 1.0, 6.0, 0.96875),
        (8, 1.0, 8.0, 0.9921875),
        (9, 2.0, 8.0, 0.9609375),
        (12, 3.0, 10.0, 0.96142578125),
    ] {
        let expected = Interval { least, most, sure };
        assert_eq!(interval(&values(count)), Some(expected), "{count} values");
    }
    assert_eq!(interval(&[]), None);
}

fn row(contender: &str, walls: &[f64], ops: u64) -> Row {
    let mut row = waiting_row("k-nucleotide", contender, serde_json::Map::new(), ops);
    row.status = Status::Ok;
    row.raw_wall_s = walls.to_vec();
    row.wall_s = spread(walls);
    row
}

#[test]
fn an_improvement_is_that_of_an_operation() {
    let results = Results {
        schema: SCHEMA,
        machine: Machine::default(),
        results: vec![
            row("gossamer/channel-1", &[3.0, 2.0, 4.0], 100),
            // Half as many operations: 1, 4 and 2 s for as many, so 200 %, -50 % and 100 %.
            row("gossamer/pipe-1", &[0.5, 2.0, 1.0], 50),
        ],
    };
    let text = IMPROVEMENTS[1].now(&results);
    let line = text.lines().nth(1).expect("a row");
    let cells: Vec<&str> = line.split_whitespace().collect();
    // Not what the medians give, 3 s by 2 s, which is 50 %.
    let expected = "K-Nucleotide, one worker 3.0000 1.0000 100.0% -50.0 to 200.0 % (75 %)";
    assert_eq!(cells.join(" "), expected, "{text}");
    assert!(
        text.contains("K-Nucleotide, two workers: it is not in these results"),
        "{text}"
    );
    assert!(
        IMPROVEMENTS[1]
            .now(&Results {
                results: Vec::new(),
                ..results
            })
            .lines()
            .count()
            == 2
    );
}

/// The search's own time counts, which its program says; the process's does not.
#[test]
fn an_improvement_of_the_search_is_that_of_its_own_time() {
    let row = |contender: &str, times: &[f64]| {
        let mut row = row(contender, &[9.0; 3], 64);
        row.workload = "bfs".into();
        let said = times
            .iter()
            .map(|ms| serde_json::json!({ "search_ms": ms }));
        row.raw_figures = said.filter_map(|said| said.as_object().cloned()).collect();
        row
    };
    let results = Results {
        schema: SCHEMA,
        machine: Machine::default(),
        results: vec![
            row("gossamer/bfs-futures", &[120.0, 110.0, 130.0]),
            row("gossamer/bfs-futures-pipe", &[80.0, 100.0, 120.0]),
        ],
    };
    let text = IMPROVEMENTS[0].now(&results);
    let line = text.lines().nth(1).expect("a row");
    let cells: Vec<&str> = line.split_whitespace().collect();
    // Not what the medians give, 20 %.
    let expected = "Graph500 PBFS 0.1200 0.1000 10.0% 8.3 to 50.0 % (75 %)";
    assert_eq!(cells.join(" "), expected, "{text}");
}
