//! What is wrong with an expression, and where.

use std::ops::Range;

/// A part of the text, in bytes.
pub type Span = Range<usize>;

/// What is wrong with an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What was found, what was expected, and what to do.
    pub message: String,
    /// Where: an empty span is a place where something is missing.
    pub span: Span,
}

impl Fault {
    /// A fault at this place.
    pub fn new(message: impl Into<String>, span: Span) -> Fault {
        Fault {
            message: message.into(),
            span,
        }
    }

    /// The message, and below it the text with a mark under the place.
    pub fn in_text(&self, text: &str) -> String {
        // A tab or a line's end would move the mark away from its place.
        let is_gap = |letter: char| letter.is_whitespace() || letter.is_control();
        let shown: String = text
            .chars()
            .map(|letter| if is_gap(letter) { ' ' } else { letter })
            .collect();
        let before = text[..self.span.start].chars().count();
        let marked = text[self.span.clone()].chars().count().max(1);
        format!(
            "{}\n  {}\n  {}{} here",
            self.message,
            shown.trim_end(),
            " ".repeat(before),
            "^".repeat(marked)
        )
    }
}
