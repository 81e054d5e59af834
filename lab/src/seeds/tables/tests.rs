//! The figures of every table once more, typed anew from the documents, and columns.

use std::ops::Range;

use super::*;

/// These columns of a table, a line a row.
#[track_caller]
fn pinned(table: &Table, columns: Range<usize>, expected: &[&str]) {
    let row = |cells: &&[&str]| cells.get(columns.clone()).unwrap_or_default().join(" ");
    let rows: Vec<String> = table.rows.iter().map(row).collect();
    assert_eq!(rows, expected, "{}", table.title);
}

fn of(workload: &str) -> &'static Table {
    let table = LATER.iter().find(|table| table.workload == workload);
    table.expect("there is such a table")
}

#[test]
fn the_rings_figures() {
    let rows = [
        "2680KB 1.22",
        "5178KB 1.85",
        "2760KB 1.9",
        "2016KB 2.05",
        "1228KB 3.06",
        "5996KB 3.96",
        "3788KB 4.10",
        "970KB 4.24",
        "3300KB 15.27",
        "4520KB 28.7",
    ];
    pinned(&RING, 1..3, &rows);
    pinned(&PROTOTHREADS, 1..3, &["220KB 0.076s", "220KB 18.6s"]);
}

#[test]
fn the_collectors_figures() {
    let rows = [
        "369560098 369589896",
        "4075042 130355359",
        "4075554 130355871",
        "352 11278",
        "176 5639",
        "[...] [...]",
    ];
    pinned(&OCAML_GC, 1..3, &rows);
    let rows = [
        "80,753,700",
        "1,984,712",
        "5,120",
        "634,880",
        "154",
        "1",
        "[...]",
        "",
        "[...]",
    ];
    pinned(&GHC_GC, 0..1, &rows);
    assert_eq!(GHC_GC.rows[7][1], "%GC time 0.3% (1.2% elapsed)");
    let rows = ["3 to 4", "around 180", "around 2200", "6 more, 10 % slower"];
    pinned(&LINES, 1..2, &rows);
}

#[test]
fn the_pipes_figures() {
    let rows = [
        "881,578 232.8%",
        "378,740 100.0%",
        "227,020 59.9%",
        "173,436 45.8%",
        "78,670 20.8%",
        "76,405 20.2%",
    ];
    pinned(&MSGSEND, 1..3, &rows);
    let rows = [
        "Sent 1000000 messages in 0.227634 seconds",
        "  4.39301e+06 messages / second",
        "  0.227634 µs / message",
    ];
    pinned(&MESSAGE_RING, 0..1, &rows);
    pinned(&PBFS, 1..4, &["0.914772 0.777784 17.6%"]);
    pinned(of("k-nucleotide"), 1..4, &["4.335 3.125 38.7%"]);
}

#[test]
fn benben_s_figures() {
    let rows = [
        "00:00:23:88967938 6,806,318 112.62 MiB",
        "00:00:49:561379837 3,157,491 82.06 MiB",
        "00:01:25:153285603 1,829,959 53.44 MiB",
        "00:00:21:316036046 7,445,727 152.65 MiB",
        "00:00:49:71518083 3,186,044 113.33 MiB",
        "00:01:03:478200751 2,462,458 73.96 MiB",
        "00:01:28:427111020 1,766,431 58.58 MiB",
        "00:02:31:215964094 1,030,649 13.94 GiB",
        "00:02:26:233878863 1,066,631 1.20 GiB",
        "00:02:25:331626453 1,072,926 112.62 MiB",
        "00:02:24:504344037 1,078,986 82.06 MiB",
        "00:02:24:695090870 1,077,629 53.44 MiB",
    ];
    pinned(of("render"), 1..4, &rows);
}

#[test]
fn three_dice() {
    let half = [
        "0.00462962962962963",
        "0.0138888888888889",
        "0.0277777777777778",
        "0.0462962962962963",
        "0.0694444444444444",
        "0.0972222222222222",
        "0.115740740740741",
        "0.125",
    ];
    let rows: Vec<String> = (3..=18)
        .map(|sum: usize| format!("{sum} {}", half[(sum - 3).min(18 - sum)]))
        .collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    pinned(of("3d6"), 0..2, &rows);
}

#[test]
fn figures_stand_to_the_right() {
    let lines = [["what", "KB"], ["one", "5"], ["three", "1228KB"]];
    let lines = lines.map(|line| line.map(String::from).to_vec());
    assert_eq!(
        columns(&lines),
        "what       KB\none         5\nthree  1228KB\n"
    );
}
