//! A list of edges from a text file: two numbers a line, between spaces or tabs. Empty lines and those that begin with
//! `#` or `%` say nothing.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::generator::Edge;
use crate::memory;

/// More vertices than this have no number of their own in 32 bits, one of which means "none".
pub const VERTICES_MAX: u64 = u32::MAX as u64;

/// No line is longer, in bytes: what is may have no end at all.
const LINE_MAX: usize = 4096;

/// A graph as it was read.
#[derive(Debug)]
pub struct EdgeList {
    /// As asked for, or one more than the largest that was read.
    pub vertices: usize,
    /// In the order of the file.
    pub edges: Vec<Edge>,
}

/// Reads a file; its vertices are below `vertices`, if that was asked for.
///
/// # Errors
/// It cannot be read, has no edge, or a line that is none; with file and line.
pub fn read(
    path: &Path,
    vertices: Option<u64>,
    scanners: usize,
    available: Option<f64>,
) -> Result<EdgeList, String> {
    let shown = path.display();
    let unreadable = |error: std::io::Error| {
        format!("{shown}: {error}; give a text file with an edge a line, as `0 17`")
    };
    let file = File::open(path).map_err(unreadable)?;
    let about = file.metadata().map_err(unreadable)?;
    if about.is_dir() {
        return Err(format!(
            "{shown} is a folder; give a text file with an edge a line, as `0 17`"
        ));
    }
    // No edge takes more text than two numbers of ten digits, a space and the end of its line.
    let (least, most) = (about.len() as f64 / 22.0, vertices.unwrap_or(0) as f64);
    let what = format!("{shown}: its graph");
    memory::check(&what, most, least, scanners, available)?;
    let limit = vertices.unwrap_or(VERTICES_MAX);
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let (mut edges, mut largest, mut text) = (Vec::new(), 0, Vec::new());
    for line in 1_u64.. {
        text.clear();
        let mut limited = reader.by_ref().take(LINE_MAX as u64 + 1);
        if limited.read_until(b'\n', &mut text).map_err(unreadable)? == 0 {
            break;
        }
        if text.len() > LINE_MAX {
            return Err(format!(
                "{shown}, line {line}: it has more than {LINE_MAX} bytes; expected an edge: two numbers, as `0 17`"
            ));
        }
        let edge = parse(&text, limit, vertices.is_some());
        let edge = edge.map_err(|what| format!("{shown}, line {line}: {what}"))?;
        if let Some(edge) = edge {
            largest = edge.into_iter().fold(largest, u32::max);
            if edges.len() == edges.capacity() {
                // A pipe has no length, so that nothing was known of its edges before.
                let (vertices, count) = (most.max(f64::from(largest)), edges.len() as f64);
                memory::check(&what, vertices, count, scanners, available)?;
                let grown = edges.try_reserve(1);
                grown.map_err(|error| {
                    format!("{shown}, line {line}: no memory for more edges: {error}; give a smaller graph")
                })?;
            }
            edges.push(edge);
        }
    }
    if edges.is_empty() {
        return Err(format!(
            "{shown} has no edge; expected one a line, as `0 17`"
        ));
    }
    let vertices = vertices.unwrap_or(u64::from(largest) + 1);
    let count = edges.len() as f64;
    memory::check(&what, vertices as f64, count, scanners, available)?;
    Ok(EdgeList {
        vertices: vertices as usize,
        edges,
    })
}

/// The edge of a line, if it has one.
fn parse(line: &[u8], limit: u64, asked: bool) -> Result<Option<Edge>, String> {
    let expected = "expected an edge: two numbers, as `0 17`";
    let text = std::str::from_utf8(line).map_err(|_| format!("found no text; {expected}"))?;
    let text = text.trim();
    if text.is_empty() || text.starts_with(['#', '%']) {
        return Ok(None);
    }
    let shortened = || -> String {
        match text.char_indices().nth(40) {
            Some((end, _)) => format!("{:?} …", &text[..end]),
            None => format!("{text:?}"),
        }
    };
    let no_edge = || format!("found {}; {expected}", shortened());
    let mut words = text.split_whitespace();
    let (Some(one), Some(other), None) = (words.next(), words.next(), words.next()) else {
        return Err(no_edge());
    };
    let vertex = |word: &str| -> Result<u32, String> {
        let digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        if !digits {
            return Err(no_edge());
        }
        // A number that is too large for 64 bits is out of range, too.
        let number = word.parse().ok().filter(|number: &u64| *number < limit);
        number.map(|number| number as u32).ok_or_else(|| {
            let why = if asked {
                "--vertices"
            } else {
                "numbers of 32 bits"
            };
            format!("vertex {word} is out of range; expected one below {limit} ({why})")
        })
    };
    Ok(Some([vertex(one)?, vertex(other)?]))
}
