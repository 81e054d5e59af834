//! A choice, and a list of them as text.

use std::fmt;

/// One choice: which of the enabled tasks, in the order in which they became enabled; with
/// [`Sim::only_operations`](crate::Sim::only_operations), in the order in which they were spawned. Or which alternative a
/// task has drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// How many there were.
    pub enabled: usize,
    /// The index of the one that was chosen.
    pub chosen: usize,
}

impl fmt::Display for Choice {
    /// As [`choices`] reads it: `0/2` is the first of two.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.chosen, self.enabled)
    }
}

/// Reads the list of choices that a failure prints: `"0/1 1/2 0/3"`.
///
/// # Panics
/// The text is not such a list; the message names the word.
#[track_caller]
pub fn choices(text: &str) -> Vec<Choice> {
    let read = |word: &str| {
        let (chosen, enabled) = word.split_once('/')?;
        let choice = Choice {
            chosen: chosen.parse().ok()?,
            enabled: enabled.parse().ok()?,
        };
        (choice.chosen < choice.enabled).then_some(choice)
    };
    let mut list = Vec::new();
    for word in text.split_whitespace() {
        match read(word) {
            Some(choice) => list.push(choice),
            None => panic!("a choice is INDEX/ENABLED, such as 1/3, not {word:?}"),
        }
    }
    list
}
