//! Numbers, words and signs, each with its place in the text.

use super::{Fault, Relation, Span};

/// A longer expression would be read and computed in deeper calls than a thread's stack has room for.
const MOST_TOKENS: usize = 200;

/// The smallest part of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// Digits.
    Number(i64),
    /// Letters, made small.
    Word(String),
    /// One of `+-*()%!`.
    Sign(char),
    /// A comparison.
    Relation(Relation),
    /// The end of the text.
    End,
}

/// The tokens of a text, the last of which is [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Span)>, Fault> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (token, length) = token(text, at, first)?;
        let span = at..at + length;
        if tokens.len() == MOST_TOKENS {
            let message = format!(
                "this expression has more than {MOST_TOKENS} numbers, words and signs: make it shorter"
            );
            return Err(Fault::new(message, span));
        }
        at = span.end;
        tokens.push((token, span));
    }
    // Where something is missing is behind the last token, not behind the spaces.
    let end = tokens.last().map_or(0, |(_, span)| span.end);
    tokens.push((Token::End, end..end));
    Ok(tokens)
}

/// The token that begins at this place, and its length.
fn token(text: &str, at: usize, first: char) -> Result<(Token, usize), Fault> {
    let rest = &text[at..];
    if first.is_ascii_digit() {
        let length = length_of(rest, |letter| letter.is_ascii_digit());
        return match rest[..length].parse() {
            Ok(number) => Ok((Token::Number(number), length)),
            Err(_) => {
                let message = format!("this number is too large: the largest is {}", i64::MAX);
                Err(Fault::new(message, at..at + length))
            }
        };
    }
    if first.is_ascii_alphabetic() {
        let length = length_of(rest, |letter| letter.is_ascii_alphabetic());
        return Ok((Token::Word(rest[..length].to_ascii_lowercase()), length));
    }
    // The longer ones first.
    const RELATIONS: [(&str, Relation); 7] = [
        (">=", Relation::AtLeast),
        ("<=", Relation::AtMost),
        ("!=", Relation::Unequal),
        ("==", Relation::Equal),
        (">", Relation::Above),
        ("<", Relation::Below),
        ("=", Relation::Equal),
    ];
    if let Some((sign, relation)) = RELATIONS.iter().find(|(sign, _)| rest.starts_with(sign)) {
        return Ok((Token::Relation(*relation), sign.len()));
    }
    if "+-*()%!".contains(first) {
        return Ok((Token::Sign(first), 1));
    }
    let message = format!(
        "unexpected character {first:?}: an expression has numbers, dice such as `3d6`, `+`, `-`, `*` and parentheses"
    );
    Err(Fault::new(message, at..at + first.len_utf8()))
}

fn length_of(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|letter| !belongs(letter)).unwrap_or(text.len())
}
