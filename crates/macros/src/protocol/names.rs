//! Names that are made from names.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
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
    let begins = text.starts_with(|first: char| !first.is_numeric());
    begins && !["_", "self", "Self", "super", "crate"].contains(&text)
}

/// What is called so, where `like` stands. A keyword becomes a raw name.
pub(super) fn named(text: &str, like: &Ident) -> Ident {
    match syn::parse_str::<Ident>(text) {
        Ok(_) => Ident::new(text, like.span()),
        Err(_) => Ident::new_raw(text, like.span()),
    }
}

/// Where a type of these has the name, and means what is called so in the module: not `super::Name`.
pub(super) fn alone(types: &[Type], name: &Ident) -> Option<Span> {
    fn found(tokens: TokenStream, name: &Ident) -> Option<Span> {
        let mut after_colon = false;
        for token in tokens {
            match &token {
                TokenTree::Ident(ident) if ident == name && !after_colon => {
                    return Some(ident.span());
                }
                TokenTree::Group(group) => {
                    if let Some(span) = found(group.stream(), name) {
                        return Some(span);
                    }
                }
                _ => {}
            }
            after_colon = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ':');
        }
        None
    }
    types
        .iter()
        .find_map(|ty| found(ty.to_token_stream(), name))
}

/// Whether a type of these mentions the name.
pub(super) fn mention(types: &[Type], name: &Ident) -> bool {
    fn found(tokens: TokenStream, name: &Ident) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(ident) => ident == *name,
            TokenTree::Group(group) => found(group.stream(), name),
            _ => false,
        })
    }
    types.iter().any(|ty| found(ty.to_token_stream(), name))
}
