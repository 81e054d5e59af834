//! Files that are no lists of edges, and graphs that are too large.

use std::fs;

use tempfile::TempDir;

use crate::edge_list::read;
use crate::memory::{check, left_to_groups, readable};

fn read_text(text: &[u8], vertices: Option<u64>) -> Result<(usize, Vec<[u32; 2]>), String> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("edges.txt");
    fs::write(&path, text).unwrap();
    let list = read(&path, vertices, 0, None);
    let shown = format!("{}/", folder.path().display());
    list.map(|list| (list.vertices, list.edges))
        .map_err(|error| error.replace(&shown, ""))
}

#[test]
fn a_list_of_edges() {
    let text = b"# a comment\n0 1\n\n  3\t2 \r\n% another\n2 2";
    let edges = vec![[0, 1], [3, 2], [2, 2]];
    assert_eq!(read_text(text, None), Ok((4, edges.clone())));
    assert_eq!(read_text(text, Some(9)), Ok((9, edges)));
}

#[test]
fn bad_lines_are_named() {
    let edge = "expected an edge: two numbers, as `0 17`";
    let cases: [(&[u8], Option<u64>, String); 10] = [
        (b"", None, "edges.txt has no edge; expected one a line, as `0 17`".into()),
        (b"# nothing\n", None, "edges.txt has no edge; expected one a line, as `0 17`".into()),
        (b"0 1\n5\n", None, format!("edges.txt, line 2: found \"5\"; {edge}")),
        (b"0 1 2\n", None, format!("edges.txt, line 1: found \"0 1 2\"; {edge}")),
        (b"0 1\n\n1 -2\n", None, format!("edges.txt, line 3: found \"1 -2\"; {edge}")),
        (b"0 x\n", None, format!("edges.txt, line 1: found \"0 x\"; {edge}")),
        (b"0 1\n\xff\xfe\n", None, format!("edges.txt, line 2: found no text; {edge}")),
        (
            b"0 1\n1 7\n",
            Some(7),
            "edges.txt, line 2: vertex 7 is out of range; expected one below 7 (--vertices)".into(),
        ),
        (
            b"4294967295 0\n",
            None,
            "edges.txt, line 1: vertex 4294967295 is out of range; expected one below 4294967295 (numbers of 32 bits)"
                .into(),
        ),
        (
            b"0 99999999999999999999999\n",
            Some(7),
            "edges.txt, line 1: vertex 99999999999999999999999 is out of range; expected one below 7 (--vertices)"
                .into(),
        ),
    ];
    for (text, vertices, expected) in cases {
        assert_eq!(read_text(text, vertices), Err(expected));
    }
    let long = [b"0 1 ".repeat(1_000), b"\n".to_vec()].concat();
    let error = read_text(&long, None).unwrap_err();
    assert!(error.len() < 200, "{error}");
    let endless = [b"0 1\n#".to_vec(), b"0".repeat(5_000)].concat();
    let expected = format!("edges.txt, line 2: it has more than 4096 bytes; {edge}");
    assert_eq!(read_text(&endless, None), Err(expected));
    let longest = [b"#".repeat(4_095), b"\n0 1\n".to_vec()].concat();
    assert_eq!(read_text(&longest, None), Ok((2, vec![[0, 1]])));
}

/// What a file's length says is too little here, as it is of a pipe.
#[test]
fn a_list_that_outgrows_the_memory_is_refused_while_it_is_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("edges.txt");
    fs::write(&path, "0 1\n".repeat(1_000) + "not read\n").unwrap();
    let error = read(&path, None, 0, Some(8_000.0)).unwrap_err();
    assert!(error.contains("has 7.8 KiB left"), "{error}");
    let error = read(&path, None, 0, Some(64_000.0)).unwrap_err();
    assert!(error.contains("line 1001: found \"not read\""), "{error}");
}

#[test]
fn what_is_no_file_is_named() {
    let folder = TempDir::new().unwrap();
    let error = read(folder.path(), None, 0, None).unwrap_err();
    assert!(error.contains("is a folder; give a text file"), "{error}");
    let error = read(&folder.path().join("none"), None, 0, None).unwrap_err();
    assert!(error.contains("none: No such file"), "{error}");
}

#[test]
fn memory_is_estimated_and_refused_with_the_figures() {
    let gib = 1024.0_f64.powi(3);
    let (vertices, edges) = (2.0_f64.powi(30), 2.0_f64.powi(34));
    let error = check("a graph of scale 30", vertices, edges, 0, Some(8.0 * gib)).unwrap_err();
    let expected = "a graph of scale 30 takes about 288.0 GiB of memory, \
                    and this machine (or control group) has 8.0 GiB left; give a smaller one";
    assert_eq!(error, expected);
    assert_eq!(
        check("a graph", vertices, edges, 0, Some(300.0 * gib)),
        Ok(())
    );
    assert_eq!(check("a graph", vertices, edges, 0, None), Ok(()));
    // 1,024 tasks keep 128 bytes for each vertex.
    let error = check("a graph", vertices, edges, 1_024, Some(300.0 * gib)).unwrap_err();
    assert!(error.contains("takes about 416.0 GiB"), "{error}");
    assert_eq!(readable(1_000.0), "1000.0 B");
    assert_eq!(readable(2.0_f64.powi(75)), "32768.0 EiB");
    // A file that says it has so many vertices is refused before it is read.
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("edges.txt");
    fs::write(&path, "not read\n").unwrap();
    let error = read(&path, Some(1 << 31), 0, Some(gib)).unwrap_err();
    assert!(error.contains("its graph takes about 64.0 GiB"), "{error}");
}

#[test]
fn the_tightest_control_group_counts() {
    let folder = TempDir::new().unwrap();
    let file = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    file("outer/memory.max", "1000\n");
    file("outer/memory.current", "400\n");
    file("cached/memory.max", "1000\n");
    file("cached/memory.current", "900\n");
    let stat = "anon 100\ninactive_file 700\nactive_file 100\n";
    file("cached/memory.stat", stat);
    file("memory/cached/memory.limit_in_bytes", "500\n");
    file("memory/cached/memory.usage_in_bytes", "400\n");
    let stat = "inactive_file 1\ntotal_inactive_file 300\n";
    file("memory/cached/memory.stat", stat);
    file("outer/inner/memory.max", "max\n");
    file("memory/one/memory.limit_in_bytes", "500\n");
    file("memory/one/memory.usage_in_bytes", "1\n");
    let left = |groups: &str| left_to_groups(groups, folder.path());
    assert_eq!(left("0::/outer/inner\n"), Some(600.0));
    assert_eq!(
        left("4:cpu,cpuacct:/one\n3:memory:/one\n0::/\n"),
        Some(499.0)
    );
    // What is cached of files can be had.
    assert_eq!(left("0::/cached\n"), Some(800.0));
    assert_eq!(left("3:memory:/cached\n"), Some(400.0));
    assert_eq!(left("0::/elsewhere\n"), None);
    assert_eq!(left(""), None);
}
