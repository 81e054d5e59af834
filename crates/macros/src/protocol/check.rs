//! Checks a protocol, and reports all of its errors at once.

use std::collections::HashSet;

use proc_macro2::Span;
use syn::{Error, Ident};

use super::names::{alone, camel, is_name, mention, snake};
use super::read::{END, Protocol, State};

/// The errors found so far, as one.
#[derive(Default)]
struct Errors(Option<Error>);

impl Errors {
    fn add(&mut self, at: &Ident, text: String) {
        self.add_at(at.span(), text);
    }

    fn add_at(&mut self, at: Span, text: String) {
        let error = Error::new(at, text);
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }
}

/// Finds all of it.
pub(super) fn check(protocol: &Protocol) -> syn::Result<()> {
    let mut errors = Errors::default();
    let module = snake(&protocol.name);
    if !is_name(&module) {
        let text =
            format!("the module of this protocol would be called `{module}`: take another name");
        errors.add(&protocol.name, text);
    }
    let [one, other] = &protocol.sides;
    if one == other {
        errors.add(other, format!("both sides are called `{one}`"));
    }
    if protocol.states.is_empty() {
        let text = format!("the protocol `{}` has no states", protocol.name);
        errors.add(&protocol.name, text);
    }
    parameters(protocol, &mut errors);
    for (at, state) in protocol.states.iter().enumerate() {
        names(protocol, at, state, &mut errors);
        messages(protocol, state, &mut errors);
    }
    reachable(protocol, &mut errors);
    errors.0.map_or(Ok(()), Err)
}

fn parameters(protocol: &Protocol, errors: &mut Errors) {
    for (at, name) in protocol.parameters.iter().enumerate() {
        if protocol.state(name).is_some() {
            errors.add(
                name,
                format!("a state is called `{name}`: take another name"),
            );
        } else if protocol.parameters[..at].contains(name) {
            errors.add(name, format!("two parameters are called `{name}`"));
        }
        let mut messages = protocol.states.iter().flat_map(|state| &state.messages);
        if !messages.any(|message| mention(&message.payload, name)) {
            errors.add(name, format!("no message has a `{name}` in it"));
        }
    }
}

/// The names of a state, and of its side.
fn names(protocol: &Protocol, at: usize, state: &State, errors: &mut Errors) {
    let name = &state.name;
    if name == END {
        let text = "`End` is where a protocol ends: a state cannot be called so";
        errors.add(name, text.to_string());
    }
    if protocol.sides.contains(name) {
        errors.add(name, format!("a side is called `{name}` already"));
    }
    if protocol.states[..at]
        .iter()
        .any(|other| other.name == *name)
    {
        errors.add(name, format!("there is a state `{name}` already"));
    }
    if !protocol.sides.contains(&state.side) {
        let [one, other] = &protocol.sides;
        let text = format!(
            "no side is called `{}`: expected `{one}` or `{other}`",
            state.side
        );
        errors.add(&state.side, text);
    }
}

fn messages(protocol: &Protocol, state: &State, errors: &mut Errors) {
    if state.messages.is_empty() {
        let text = format!(
            "in the state `{}` there is nothing to send: let what leads to it lead to `End`",
            state.name
        );
        errors.add(&state.name, text);
    }
    for (at, message) in state.messages.iter().enumerate() {
        let name = camel(&message.name);
        if !is_name(&name) {
            let why = if name.is_empty() {
                "there is no letter in it".to_string()
            } else {
                format!("it would be received as `{name}`")
            };
            let text = format!("a message cannot be called `{}`: {why}", message.name);
            errors.add(&message.name, text);
        }
        for state in &protocol.states {
            let name = &state.name;
            if !protocol.parameters.contains(name)
                && let Some(at) = alone(&message.payload, name)
            {
                let text = format!(
                    "here `{name}` is what is received in the state `{name}`: take another name, or write `super::{name}`"
                );
                errors.add_at(at, text);
            }
        }
        if let Some(other) = state.messages[..at]
            .iter()
            .find(|other| camel(&other.name) == name)
        {
            let text = if other.name == message.name {
                format!(
                    "the state `{}` has a message `{}` already",
                    state.name, other.name
                )
            } else {
                format!(
                    "`{}` and `{}` are both received as `{name}`",
                    other.name, message.name
                )
            };
            errors.add(&message.name, text);
        }
        if message.next != END && protocol.state(&message.next).is_none() {
            let text = format!(
                "no state is called `{}`: expected {} or `End`",
                message.next,
                known_states(protocol)
            );
            errors.add(&message.next, text);
        }
    }
}

/// Their names, each once.
fn known_states(protocol: &Protocol) -> String {
    let mut known = Vec::new();
    for state in &protocol.states {
        let name = format!("`{}`", state.name);
        if state.name != END && !known.contains(&name) {
            known.push(name);
        }
    }
    known.join(", ")
}

/// Each state but the first follows on something that can be reached.
fn reachable(protocol: &Protocol, errors: &mut Errors) {
    let mut found = HashSet::new();
    let mut left: Vec<_> = protocol.states.first().into_iter().collect();
    while let Some(state) = left.pop() {
        if found.insert(&state.name) {
            let next = state.messages.iter().map(|message| &message.next);
            left.extend(next.filter_map(|next| protocol.state(next)));
        }
    }
    for state in &protocol.states {
        if !found.contains(&state.name) {
            let first = &protocol.states[0].name;
            let text = format!(
                "no messages lead from `{first}`, the first state, to `{}`",
                state.name
            );
            errors.add(&state.name, text);
        }
    }
}
