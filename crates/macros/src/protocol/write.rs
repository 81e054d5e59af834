//! Generates the code that stands for a protocol.
//!
//! A module named after it. In it: for each side a module with one endpoint type a state; for each state an enum of
//! what is received in it; the functions that make pipes; and one hidden enum of all messages, which is what the slot
//! holds. What has to do with payload types stands in the outer module, so that all of them are looked up there.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::{Attribute, Ident};

use super::check::check;
use super::names::{camel, mention, named, snake};
use super::read::{END, Message, Protocol, State};

/// Expands the macro to the protocol's module, or to the errors that were found.
pub(crate) fn expand(protocol: TokenStream) -> TokenStream {
    let protocol = syn::parse2(protocol).and_then(|protocol: Protocol| {
        check(&protocol)?;
        Ok(protocol)
    });
    match protocol {
        Ok(protocol) => write(&protocol),
        Err(error) => error.into_compile_error(),
    }
}

/// The module.
fn write(protocol: &Protocol) -> TokenStream {
    let Protocol {
        attributes,
        visibility,
        ..
    } = protocol;
    let name = named(&snake(&protocol.name), &protocol.name);
    let facade = &protocol.facade;
    let sides = protocol.sides.iter().map(|side| protocol.side(side));
    let all = protocol.all_messages();
    let pipes = protocol.pipes();
    let mut number = 0;
    let states = protocol.states.iter().map(|state| {
        let first = number;
        number += state.messages.len();
        Writer {
            protocol,
            state,
            first,
        }
        .write()
    });
    quote! {
        #(#attributes)*
        #[allow(
            unused_imports, unreachable_patterns, unreachable_pub, dead_code, clippy::all, clippy::pedantic
        )]
        #visibility mod #name {
            use super::*;
            use #facade as __gossamer;
            use __gossamer::channel::pipe as __pipe;
            #(#sides)*
            #all
            #pipes
            #(#states)*
        }
    }
}

impl Protocol {
    /// Whose end, for the types of pipes: who sends first is the first.
    fn marker(&self, side: &Ident) -> TokenStream {
        if self.states[0].side == *side {
            quote!(First)
        } else {
            quote!(Second)
        }
    }

    /// The type parameters, with commas.
    fn parameters(&self) -> TokenStream {
        let parameters = &self.parameters;
        quote!(#(#parameters,)*)
    }

    /// A side's module: its endpoints.
    fn side(&self, side: &Ident) -> TokenStream {
        let parameters = self.parameters();
        let marker = self.marker(side);
        let endpoints = self.states.iter().map(|state| {
            let (name, docs) = (&state.name, docs(&state.attributes));
            let (kind, does) = if state.side == *side {
                (quote!(SendingEnd), "sends")
            } else {
                (quote!(ReceivingEnd), "receives")
            };
            let text = format!("The endpoint of `{side}` in the state `{name}`, in which it {does}.");
            let text = after(&docs, text);
            // Seen where the state stands, as what the compiler says names it.
            quote_spanned! {name.span()=>
                #(#docs)*
                #[doc = #text]
                #[must_use = "dropping the endpoint closes the pipe"]
                pub struct #name<#parameters __Flavour: super::__pipe::PipePolicy = super::__gossamer::raw::Shared>(
                    pub(super) super::__pipe::#kind<super::__Message<#parameters>, __Flavour, super::__pipe::#marker>,
                );
            }
        });
        let text = format!("The endpoints of `{side}`.");
        quote! {
            #[doc = #text]
            pub mod #side { #(#endpoints)* }
        }
    }

    /// All messages: what the slot holds.
    fn all_messages(&self) -> TokenStream {
        let parameters = self.parameters();
        let messages = self.states.iter().flat_map(|state| &state.messages);
        let variants = messages.enumerate().map(|(number, message)| {
            let (variant, payload) = (numbered(number), &message.payload);
            quote!(#variant(#(#payload),*))
        });
        quote! {
            #[doc(hidden)]
            pub enum __Message<#parameters> { #(#variants),* }
        }
    }

    /// The functions that make pipes.
    fn pipes(&self) -> TokenStream {
        let parameters = self.parameters();
        let [one, other] = &self.sides;
        let start = &self.states[0].name;
        let ends = if self.states[0].side == *one {
            quote!((#one::#start(first), #other::#start(second)))
        } else {
            quote!((#one::#start(second), #other::#start(first)))
        };
        let text =
            format!("A pipe that follows the protocol: the ends of `{one}` and of `{other}`");
        let pipe = format!("{text}.");
        let local = format!("{text}, for one thread.");
        let either = format!("{text}, of either flavour.");
        quote! {
            #[doc = #pipe]
            pub fn pipe<#parameters>() -> (#one::#start<#parameters>, #other::#start<#parameters>) {
                pipe_of()
            }
            #[doc = #local]
            pub fn local_pipe<#parameters>() -> (
                #one::#start<#parameters __gossamer::raw::Local>,
                #other::#start<#parameters __gossamer::raw::Local>,
            ) {
                pipe_of()
            }
            #[doc = #either]
            pub fn pipe_of<#parameters __Flavour: __pipe::PipePolicy>() -> (
                #one::#start<#parameters __Flavour>,
                #other::#start<#parameters __Flavour>,
            ) {
                let (first, second) = __pipe::pair();
                #ends
            }
        }
    }
}

/// One state, whose messages are numbered from `first`.
struct Writer<'a> {
    protocol: &'a Protocol,
    state: &'a State,
    first: usize,
}

impl Writer<'_> {
    fn write(&self) -> TokenStream {
        let heard = self.heard();
        let sends = self.sends();
        let hears = self.hears();
        quote!(#heard #sends #hears)
    }

    /// The side that receives.
    fn other(&self) -> &Ident {
        let [one, other] = &self.protocol.sides;
        if self.state.side == *one { other } else { one }
    }

    fn messages(&self) -> impl Iterator<Item = (Ident, &Message)> {
        let messages = self.state.messages.iter().enumerate();
        messages.map(|(at, message)| (numbered(self.first + at), message))
    }

    /// Whether the same side sends again after the message.
    fn sends_again(&self, message: &Message) -> bool {
        let next = self.protocol.state(&message.next);
        next.is_some_and(|next| next.side == self.state.side)
    }

    /// Whether something can follow.
    fn goes_on(&self) -> bool {
        self.state
            .messages
            .iter()
            .any(|message| message.next != END)
    }

    /// The parameters of the enum of what is received, with commas.
    fn heard_parameters(&self) -> TokenStream {
        if self.goes_on() {
            let parameters = self.protocol.parameters();
            return quote!(#parameters __Flavour);
        }
        let used = |name: &&Ident| {
            let mut messages = self.state.messages.iter();
            messages.any(|message| mention(&message.payload, name))
        };
        let used = self.protocol.parameters.iter().filter(used);
        quote!(#(#used,)*)
    }

    /// The enum of what is received.
    fn heard(&self) -> TokenStream {
        let State {
            name, attributes, ..
        } = self.state;
        let other = self.other();
        let all = self.protocol.parameters();
        let variants = self.state.messages.iter().map(|message| {
            let (attributes, name) = (&message.attributes, received(message));
            let (payload, next) = (&message.payload, &message.next);
            let text = format!("`{}`.", message.name);
            let text = docs(attributes).is_empty().then(|| quote!(#[doc = #text]));
            if next == END && payload.is_empty() {
                return quote!(#(#attributes)* #text #name);
            }
            let end = (next != END).then(|| quote!(#other::#next<#all __Flavour>));
            quote!(#(#attributes)* #text #name(#(#payload,)* #end))
        });
        let parameters = if self.goes_on() {
            quote!(#all __Flavour: __pipe::PipePolicy = __gossamer::raw::Shared)
        } else {
            self.heard_parameters()
        };
        let text = format!("What is received in the state `{name}`, by `{other}`.");
        let text = after(&docs(attributes), text);
        quote! {
            #(#attributes)*
            #[doc = #text]
            pub enum #name<#parameters> { #(#variants),* }
        }
    }

    /// What the endpoints of both sides have.
    fn endpoint(&self, side: &Ident, marker: &TokenStream) -> TokenStream {
        let (name, all) = (&self.state.name, self.protocol.parameters());
        let debug = format!("{}::{side}::{name}", snake(&self.protocol.name));
        quote! {
            impl<#all __Flavour: __pipe::PipePolicy> __pipe::Endpoint for #side::#name<#all __Flavour> {
                type Message = __Message<#all>;
                type Flavour = __Flavour;
                type Side = __pipe::#marker;
            }
            impl<#all __Flavour: __pipe::PipePolicy> ::core::fmt::Debug for #side::#name<#all __Flavour> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.write_str(#debug)
                }
            }
        }
    }

    /// Generates the methods and trait implementations of the side that sends.
    fn sends(&self) -> TokenStream {
        let (name, side) = (&self.state.name, &self.state.side);
        let all = self.protocol.parameters();
        let marker = self.protocol.marker(side);
        let methods = self
            .messages()
            .map(|(variant, message)| self.method(&variant, message));
        let endpoint = self.endpoint(side, &marker);
        quote! {
            impl<#all __Flavour: __pipe::PipePolicy> #side::#name<#all __Flavour> {
                #(#methods)*
            }
            impl<#all __Flavour: __pipe::PipePolicy> __pipe::Speaks for #side::#name<#all __Flavour> {
                #[inline(always)]
                fn of_sending_end(end: __pipe::SendingEnd<__Message<#all>, __Flavour, __pipe::#marker>) -> Self {
                    Self(end)
                }
            }
            #endpoint
        }
    }

    /// Sending one message.
    fn method(&self, variant: &Ident, message: &Message) -> TokenStream {
        let (name, side) = (&message.name, &self.state.side);
        let (payload, next) = (&message.payload, &message.next);
        let all = self.protocol.parameters();
        let values = values(message);
        // One name for both places, whatever hygiene the message's own name has.
        let end = format_ident!("end");
        let (follows, made) = if next == END {
            (quote!(()), quote!(::core::mem::drop(#end)))
        } else if self.sends_again(message) {
            let full = quote!(__pipe::Full<#side::#next<#all __Flavour>>);
            let made = quote!(__pipe::Hears::of_receiving_end(#end));
            (full, made)
        } else {
            (
                quote!(#side::#next<#all __Flavour>),
                quote!(#side::#next(#end)),
            )
        };
        let (back, given) = match (&payload[..], &values[..]) {
            ([payload], [value]) => (quote!(#payload), quote!(#value)),
            _ => (quote!((#(#payload),*)), quote!((#(#values),*))),
        };
        let docs = docs(&message.attributes);
        let text = format!(
            "Sends `{name}`, and gives the endpoint in the state that follows, `{next}`. Never waits."
        );
        let text = after(&docs, text);
        quote_spanned! {name.span()=>
            #(#docs)*
            #[doc = #text]
            ///
            /// # Errors
            /// The other end was dropped: gives the message back.
            #[inline(always)]
            pub fn #name(self, #(#values: #payload),*)
                -> ::core::result::Result<#follows, __gossamer::channel::SendError<#back>>
            {
                match self.0.say(__Message::#variant(#(#values),*)) {
                    ::core::result::Result::Ok(#end) => ::core::result::Result::Ok(#made),
                    ::core::result::Result::Err(__gossamer::channel::SendError(__Message::#variant(#(#values),*))) => {
                        ::core::result::Result::Err(__gossamer::channel::SendError(#given))
                    }
                    ::core::result::Result::Err(_) => ::core::unreachable!(),
                }
            }
        }
    }

    /// Generates the methods and trait implementations of the side that receives.
    fn hears(&self) -> TokenStream {
        let (name, other) = (&self.state.name, self.other());
        let all = self.protocol.parameters();
        let marker = self.protocol.marker(other);
        let heard = self.heard_parameters();
        let arms = self.messages().map(|(variant, message)| {
            let (values, next) = (values(message), &message.next);
            let received = received(message);
            let heard = if next == END && values.is_empty() {
                quote!(#name::#received)
            } else if next == END {
                quote!(#name::#received(#(#values),*))
            } else if self.sends_again(message) {
                quote!(#name::#received(#(#values,)* #other::#next(end.pass())))
            } else {
                quote!(#name::#received(#(#values,)* #other::#next(end)))
            };
            quote!(::core::option::Option::Some(__Message::#variant(#(#values),*)) => #heard,)
        });
        let endpoint = self.endpoint(other, &marker);
        quote! {
            impl<#all __Flavour: __pipe::PipePolicy> #other::#name<#all __Flavour> {
                /// Receives what the other side sends in this state.
                ///
                /// # Cancellation
                /// The operation has the endpoint: dropped, it closes the pipe. `recv().timeout(…)` gives it back in
                /// its error; in `select!` the branch is a `&mut` of the operation, whose `into_endpoint()` gives it back.
                ///
                /// # Errors
                /// `Closed`, from the operation: the other end was dropped.
                #[inline(always)]
                pub fn recv(self) -> __pipe::Receiving<Self> {
                    __pipe::Receiving::new(self)
                }
            }
            impl<#all __Flavour: __pipe::PipePolicy> __pipe::Hears for #other::#name<#all __Flavour> {
                type Heard = #name<#heard>;

                #[inline(always)]
                fn of_receiving_end(end: __pipe::ReceivingEnd<__Message<#all>, __Flavour, __pipe::#marker>) -> Self {
                    Self(end)
                }

                #[inline(always)]
                fn into_receiving_end(self) -> __pipe::ReceivingEnd<__Message<#all>, __Flavour, __pipe::#marker> {
                    self.0
                }

                #[inline(always)]
                fn hear(
                    message: ::core::option::Option<__Message<#all>>,
                    end: __pipe::SendingEnd<__Message<#all>, __Flavour, __pipe::#marker>,
                ) -> Self::Heard {
                    match message {
                        #(#arms)*
                        _ => ::core::unreachable!(),
                    }
                }
            }
            #endpoint
        }
    }
}

/// Returns the name of the variant that a received message is.
fn received(message: &Message) -> Ident {
    named(&camel(&message.name), &message.name)
}

/// A message among all of them.
fn numbered(number: usize) -> Ident {
    format_ident!("M{number}")
}

/// Names for the parts of a message.
fn values(message: &Message) -> Vec<Ident> {
    let parts = 0..message.payload.len();
    parts.map(|at| format_ident!("part_{at}")).collect()
}

/// Those of the attributes that are documentation.
fn docs(attributes: &[Attribute]) -> Vec<&Attribute> {
    let docs = attributes.iter();
    docs.filter(|attribute| attribute.path().is_ident("doc"))
        .collect()
}

/// The text as a paragraph after these docs.
fn after(docs: &[&Attribute], text: String) -> String {
    if docs.is_empty() {
        text
    } else {
        format!("\n\n{text}")
    }
}
