//! Names that are made from names.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Ident, Type};

/// `PingPong` to `ping_pong`.
pub(super) fn snake(name: &Ident) -> Ident {
    let mut snake = String::new();
    for (at, letter) in name.unraw().to_string().chars().enumerate() {
        if letter.is_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    Ident::new(&snake, name.span())
}

/// `stand_by` to `StandBy`.
pub(super) fn camel(name: &Ident) -> Ident {
    let mut camel = String::new();
    let text = name.unraw().to_string();
    for part in text.split('_') {
        let mut letters = part.chars();
        camel.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        camel.push_str(letters.as_str());
    }
    Ident::new(&camel, name.span())
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
