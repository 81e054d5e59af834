//! Rust text split into code, strings and comments, byte for byte, so that a check can look for a
//! word in code without finding it in a comment, and for a comment without finding it in a string.
//!
//! Every view has the length and the lines of the original: what does not belong is blank.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// What a byte of Rust text belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Text,
    Comment,
}

/// One Rust file in three views.
pub struct Source {
    /// The code; comments and the insides of string and character literals are blank.
    pub code: String,
    /// Code and literals; comments are blank.
    pub uncommented: String,
    /// The comments, with their slashes; all else is blank.
    pub comments: String,
    tests: Vec<Range<usize>>,
    line_starts: Vec<usize>,
}

impl Source {
    /// Splits `text`.
    pub fn new(text: &str) -> Source {
        let kinds = classify(text.as_bytes());
        let code = view(text, &kinds, &[Kind::Code]);
        let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Source {
            tests: test_ranges(&code),
            uncommented: view(text, &kinds, &[Kind::Code, Kind::Text]),
            comments: view(text, &kinds, &[Kind::Comment]),
            line_starts: std::iter::once(0)
                .chain(starts.map(|(at, _)| at + 1))
                .collect(),
            code,
        }
    }

    /// The line, counted from 1, that holds the byte at `offset`.
    pub fn line(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset)
    }

    /// Whether the byte at `offset` is inside an item marked `#[cfg(test)]`.
    pub fn in_test(&self, offset: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&offset))
    }

    /// The code of line `line`, counted from 1.
    pub fn code_line(&self, line: usize) -> &str {
        self.slice(&self.code, line)
    }

    /// The comment on line `line`, counted from 1.
    pub fn comment_line(&self, line: usize) -> &str {
        self.slice(&self.comments, line)
    }

    fn slice<'a>(&self, view: &'a str, line: usize) -> &'a str {
        let end = self.line_starts.get(line).copied().unwrap_or(view.len());
        view[self.line_starts[line - 1]..end].trim()
    }
}

fn view(text: &str, kinds: &[Kind], keep: &[Kind]) -> String {
    let kept = |(byte, kind): (u8, &Kind)| {
        if byte == b'\n' || keep.contains(kind) {
            byte
        } else {
            b' '
        }
    };
    let bytes: Vec<u8> = text.bytes().zip(kinds).map(kept).collect();
    String::from_utf8(bytes).expect("a character is kept whole or blanked whole")
}

fn classify(text: &[u8]) -> Vec<Kind> {
    let mut kinds = vec![Kind::Code; text.len()];
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let (inside, kind) = if rest.starts_with(b"//") {
            (at..at + line_length(rest), Kind::Comment)
        } else if rest.starts_with(b"/*") {
            (at..at + block_comment_length(rest), Kind::Comment)
        } else if let Some(quotes) = raw_string(text, at) {
            quotes
        } else if rest[0] == b'"' {
            (at + 1..at + 1 + quoted_length(&rest[1..], b'"'), Kind::Text)
        } else if rest[0] == b'\'' && is_character(rest) {
            (
                at + 1..at + 1 + quoted_length(&rest[1..], b'\''),
                Kind::Text,
            )
        } else {
            at += 1;
            continue;
        };
        kinds[inside.clone()].fill(kind);
        // A closing quote is code; skip it, or it would open the next string.
        at = inside.end.max(at) + usize::from(kind == Kind::Text);
    }
    kinds
}

fn line_length(rest: &[u8]) -> usize {
    rest.iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(rest.len())
}

fn block_comment_length(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += 1;
        }
    }
    at
}

/// The inside of a raw string that starts at `at` with `r"`, `r#"` and so on.
fn raw_string(text: &[u8], at: usize) -> Option<(Range<usize>, Kind)> {
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let prefixed = at > 0 && word(&text[at - 1]);
    let byte_or_c =
        at > 0 && matches!(text[at - 1], b'b' | b'c') && !(at > 1 && word(&text[at - 2]));
    if text[at] != b'r' || (prefixed && !byte_or_c) {
        return None;
    }
    let hashes = text[at + 1..]
        .iter()
        .take_while(|byte| **byte == b'#')
        .count();
    let start = at + 1 + hashes + 1;
    if text.get(start - 1) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'"'];
    close.resize(1 + hashes, b'#');
    let found = text[start..]
        .windows(close.len())
        .position(|window| window == close);
    Some((
        start..found.map_or(text.len(), |length| start + length),
        Kind::Text,
    ))
}

fn quoted_length(rest: &[u8], quote: u8) -> usize {
    let mut at = 0;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    at.min(rest.len())
}

/// Tells `'a'` from the lifetime `'a`.
fn is_character(rest: &[u8]) -> bool {
    match rest.get(1) {
        Some(b'\\') => true,
        Some(first) if first.is_ascii() => rest.get(2) == Some(&b'\''),
        Some(_) => rest.iter().skip(2).take(4).any(|byte| *byte == b'\''),
        None => false,
    }
}

// Once for all files: to make one takes milliseconds in a debug build.
static CONDITION: LazyLock<Regex> = LazyLock::new(|| pattern(r"#\s*\[\s*cfg\s*\(([^\]]*)\)\s*\]"));
static NEEDS_TEST: LazyLock<Regex> = LazyLock::new(|| pattern(r"\btest\b"));
static NEGATED: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(not|any)\s*\("));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a valid pattern")
}

/// The items under `#[cfg(test)]` (or a `cfg` of several conditions that needs `test`).
fn test_ranges(code: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    for found in CONDITION.captures_iter(code) {
        let (whole, condition) = (found.get(0).expect("the match"), &found[1]);
        if !NEEDS_TEST.is_match(condition) || NEGATED.is_match(condition) {
            continue;
        }
        let body = code[whole.end()..]
            .find(['{', ';'])
            .map(|length| whole.end() + length);
        if let Some(open) = body.filter(|open| code.as_bytes()[*open] == b'{') {
            ranges.push(whole.start()..closing_brace(code, open));
        }
    }
    ranges
}

fn closing_brace(code: &str, open: usize) -> usize {
    let mut depth = 0;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return at + 1;
        }
    }
    code.len()
}

#[cfg(test)]
mod tests;
