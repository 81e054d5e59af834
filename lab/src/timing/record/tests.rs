//! Lines that several write at once, and a file without a last end of line.

use super::*;

#[test]
fn a_line_without_its_end_gets_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("records.csv");
    for before in [format!("{HEADER}\na,b,1,2,"), HEADER.to_owned()] {
        std::fs::write(&file, &before).expect("our own folder");
        let words = ["n", "l", file.to_str().expect("a plain name")].map(String::from);
        let records = Records::open(&words).expect("it begins as it must");
        append(&records.file, "n,l,3,4,\n").expect("our own file");
        let text = std::fs::read_to_string(&file).expect("our own file");
        assert_eq!(text, format!("{before}\nn,l,3,4,\n"));
    }
}

#[test]
fn many_at_once_write_one_header() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for round in 0..100 {
        let file = folder.path().join(round.to_string());
        let start = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    start.wait();
                    append(&file, "n,l,1,2,\n").expect("our own file");
                });
            }
        });
        let text = std::fs::read_to_string(&file).expect("our own file");
        assert_eq!(text, format!("{HEADER}\n{}", "n,l,1,2,\n".repeat(4)));
    }
}
