//! The seed's odd times, and columns.

use super::*;

#[test]
fn nanoseconds_without_leading_zeros() {
    let of = |time| (seconds(time).expect("a time") * 1e3).round() / 1e3;
    assert_eq!(of("00:00:23:88967938"), 23.089);
    assert_eq!(of("00:00:49:71518083"), 49.072);
    assert_eq!(of("00:02:31:215964094"), 151.216);
    assert_eq!(seconds("23.089"), None);
    assert_eq!(seconds("a:b:c:d"), None);
}

#[test]
fn all_of_benben_s_times_can_be_read() {
    let benben = LATER.iter().find(|table| table.workload == "render");
    let rows = benben.expect("it is there").rows;
    assert_eq!(rows.len(), 12);
    for row in rows {
        assert!(seconds(row[1]).is_some(), "{row:?}");
    }
}

#[test]
fn a_table_keeps_every_cell() {
    for table in LATER
        .iter()
        .chain([&RING, &PROTOTHREADS, &OCAML_GC, &GHC_GC, &LINES])
    {
        let text = table.render();
        for cell in table.rows.iter().copied().flatten() {
            assert!(text.contains(cell.trim_end()), "{cell} is lost: {text}");
        }
    }
}
