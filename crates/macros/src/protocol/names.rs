//! Names that are made from names.

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::Parser;
use syn::{Ident, Type};

/// `PingPong` to `ping_pong`.
pub(super) fn snake(name: &Ident) -> String {
    let mut snake = String::new();
    for (at, letter) in name.unraw().to_string().chars().enumerate() {
        if letter.is_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// `stand_by` to `StandBy`.
pub(super) fn camel(name: &Ident) -> String {
    let mut camel = String::new();
    let text = name.unraw().to_string();
    for part in text.split('_') {
        let mut letters = part.chars();
        camel.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        camel.push_str(letters.as_str());
    }
    camel
}

/// Whether something can be called so, be it by a raw name.
pub(super) fn is_name(text: &str) -> bool {
    let letters_fit = Ident::parse_any.parse_str(text).is_ok();
    letters_fit && !["_", "self", "Self", "super", "crate"].contains(&text)
}

/// Returns the identifier `text`, with the span of `like`. A keyword becomes a raw identifier.
pub(super) fn named(text: &str, like: &Ident) -> Ident {
    // Not among the keywords that are known to syn, as it is one from edition 2024 on.
    let newer = text == "gen";
    match syn::parse_str::<Ident>(text) {
        Ok(_) if !newer => Ident::new(text, like.span()),
        _ => Ident::new_raw(text, like.span()),
    }
}

/// Where a type of these has the name, and means what is called so in the module: not `super::Name`.
pub(super) fn alone(types: &[Type], name: &Ident) -> Option<Span> {
    fn found(tokens: TokenStream, name: &Ident) -> Option<Span> {
        let tokens: Vec<_> = tokens.into_iter().collect();
        tokens
            .iter()
            .enumerate()
            .find_map(|(at, token)| match token {
                TokenTree::Ident(ident) => {
                    (ident == name && is_looked_up(&tokens, at)).then(|| ident.span())
                }
                TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                    // The length of an array is a value: no type is meant by a name there.
                    let in_element = |token: &TokenTree| match token {
                        TokenTree::Punct(sign) => sign.as_char() != ';',
                        _ => true,
                    };
                    let element = group.stream().into_iter().take_while(in_element);
                    found(element.collect(), name)
                }
                TokenTree::Group(group) => found(group.stream(), name),
                _ => None,
            })
    }
    types
        .iter()
        .find_map(|ty| found(ty.to_token_stream(), name))
}

/// Whether the name at `at` is looked up as a type where it stands. Not so are what follows on `::`, a lifetime, an
/// associated type that is given (`Item = u8`) or bounded (`Item: Send`), and a function's argument (`fn(word: u8)`).
fn is_looked_up(tokens: &[TokenTree], at: usize) -> bool {
    let sign = |at: usize| match tokens.get(at) {
        Some(TokenTree::Punct(sign)) => Some((sign.as_char(), sign.spacing())),
        _ => None,
    };
    let before = |steps| at.checked_sub(steps).and_then(sign);
    // Of the two colons of `::`, the first is joint.
    let last = before(1).map(|(sign, _)| sign);
    let in_path = before(2) == Some((':', Spacing::Joint)) && last == Some(':');
    let declared = [Some(('=', Spacing::Alone)), Some((':', Spacing::Alone))];
    !in_path && last != Some('\'') && !declared.contains(&sign(at + 1))
}

/// Whether a type of these mentions the name.
pub(super) fn mention(types: &[Type], name: &Ident) -> bool {
    alone(types, name).is_some()
}
