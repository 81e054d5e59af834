//! The macros of Gossamer. Use them through the facade: `gossamer::main`, `gossamer::test`, `gossamer::select!`,
//! `gossamer::protocol!`.
//!
//! An internal part of `gossamer-rt`: nothing is promised of this crate alone.
//!
//! The two attributes turn an `async fn` into a plain one that builds a runtime and waits for the body with
//! `Runtime::block_on`: the body runs on the calling thread, may borrow, and need not be `Send`.
#![forbid(unsafe_code)]

mod expand;
mod options;
mod protocol;
mod select;

use proc_macro::TokenStream;

use crate::expand::{Kind, expand};

/// The macro `gossamer::main`, where its documentation is.
#[proc_macro_attribute]
pub fn main(options: TokenStream, function: TokenStream) -> TokenStream {
    expand(Kind::Main, options.into(), function.into()).into()
}

/// The macro `gossamer::test`, where its documentation is.
#[proc_macro_attribute]
pub fn test(options: TokenStream, function: TokenStream) -> TokenStream {
    expand(Kind::Test, options.into(), function.into()).into()
}

/// The macro `gossamer::select`, where its documentation is.
#[proc_macro]
pub fn select(input: TokenStream) -> TokenStream {
    select::expand(input.into()).into()
}

/// The macro `gossamer::protocol`, where its documentation is.
#[proc_macro]
pub fn protocol(protocol: TokenStream) -> TokenStream {
    protocol::expand(protocol.into()).into()
}
