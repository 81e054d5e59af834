//! Bars fill the width they have, and no more.

use super::{Row, table};

fn row(cell: &str, length: f64) -> Row {
    let cells = vec![cell.into()];
    Row { cells, length }
}

#[test]
fn the_longest_bar_ends_where_the_terminal_does() {
    let rows = [
        row("1", 1.0),
        row("20", 0.5),
        row("300", 0.0),
        row("4", 1e-9),
    ];
    let text = table(&["n"], &rows, 30);
    let lines: Vec<&str> = text.lines().collect();
    // Two spaces, three letters, two spaces, the bar, and a letter that stays free.
    assert_eq!(lines[0], "    n");
    assert_eq!(lines[1], format!("    1  {}", "█".repeat(22)));
    assert_eq!(lines[2], format!("   20  {}", "█".repeat(11)));
    assert_eq!(lines[3], "  300");
    assert_eq!(lines[4], "    4  ▏");
    assert_eq!(lines[1].chars().count(), 29);
}

#[test]
fn parts_of_a_block_are_rounded_to_eighths() {
    let rows = [row("1", 16.0), row("2", 15.0), row("3", 3.0)];
    // Room for two blocks is less than the least.
    let text = table(&["n"], &rows, 0);
    let bars: Vec<&str> = text.lines().skip(1).map(|line| &line[5..]).collect();
    assert_eq!(bars[0], "█".repeat(10));
    assert_eq!(bars[1], format!("{}▍", "█".repeat(9)));
    assert_eq!(bars[2], "█▉");
}

#[test]
fn a_table_of_nothing_has_its_heads() {
    assert_eq!(table(&["one", "other"], &[], 80), "  one  other\n");
    assert_eq!(table(&["n"], &[row("0", 0.0)], 80), "  n\n  0\n");
}
