//! `protocol!`: from states and messages to a type for each side and state.
//!
//! What is read is in `read`, what can be wrong with it in `check`, what is written in `write`.

mod check;
mod names;
mod read;
mod write;

use proc_macro2::TokenStream;
use syn::{Attribute, Ident, Path, Type, Visibility};

/// The name of no state: where a protocol ends.
const END: &str = "End";

/// A protocol as it was written.
struct Protocol {
    facade: Path,
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    parameters: Vec<Ident>,
    sides: [Ident; 2],
    states: Vec<State>,
}

/// In it, one side sends one of some messages.
struct State {
    attributes: Vec<Attribute>,
    name: Ident,
    side: Ident,
    messages: Vec<Message>,
}

/// A message, and the state that follows.
struct Message {
    attributes: Vec<Attribute>,
    name: Ident,
    payload: Vec<Type>,
    next: Ident,
}

impl Protocol {
    /// The state of this name; `None` for the end.
    fn state(&self, name: &Ident) -> Option<&State> {
        self.states.iter().find(|state| state.name == *name)
    }
}

/// What stands in the macro's place: the module, or what is wrong.
pub(crate) fn expand(protocol: TokenStream) -> TokenStream {
    let protocol = syn::parse2(protocol).and_then(|protocol: Protocol| {
        check::check(&protocol)?;
        Ok(protocol)
    });
    match protocol {
        Ok(protocol) => write::write(&protocol),
        Err(error) => error.into_compile_error(),
    }
}
