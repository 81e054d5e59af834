//! Reading a protocol.
//!
//! ```text
//! protocol   = ["crate" "=" PATH ";"] ["pub"] "protocol" NAME ["<" T, … ">"] "between" SIDE "and" SIDE "{" state, … "}"
//! state      = STATE ":" SIDE "{" message, … "}"
//! message    = NAME ["(" TYPE, … ")"] "->" STATE | "End"
//! ```

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, Ident, Path, Token, Type, Visibility, braced, parenthesized};

/// The name of no state: where a protocol ends.
pub(super) const END: &str = "End";

/// A protocol as it was written.
pub(super) struct Protocol {
    pub(super) facade: Path,
    pub(super) attributes: Vec<Attribute>,
    pub(super) visibility: Visibility,
    pub(super) name: Ident,
    pub(super) parameters: Vec<Ident>,
    pub(super) sides: [Ident; 2],
    pub(super) states: Vec<State>,
}

/// In it, one side sends one of some messages.
pub(super) struct State {
    pub(super) attributes: Vec<Attribute>,
    pub(super) name: Ident,
    pub(super) side: Ident,
    pub(super) messages: Vec<Message>,
}

/// A message, and the state that follows.
pub(super) struct Message {
    pub(super) attributes: Vec<Attribute>,
    pub(super) name: Ident,
    pub(super) payload: Vec<Type>,
    pub(super) next: Ident,
}

impl Protocol {
    /// The state of this name; `None` for the end.
    pub(super) fn state(&self, name: &Ident) -> Option<&State> {
        self.states.iter().find(|state| state.name == *name)
    }
}

/// The next token is this word.
fn word(input: ParseStream<'_>, word: &str, shape: &str) -> syn::Result<()> {
    let at = input.span();
    match input.parse::<Ident>() {
        Ok(found) if found == word => Ok(()),
        _ => Err(Error::new(
            at,
            format!("expected `{word}`, as in `{shape}`"),
        )),
    }
}

const HEAD: &str = "protocol Name between one and other { … }";

impl Parse for Protocol {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let facade = facade(input)?;
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        word(input, "protocol", HEAD)?;
        let name = input.parse()?;
        let parameters = parameters(input)?;
        word(input, "between", HEAD)?;
        let one = input.parse()?;
        word(input, "and", HEAD)?;
        let other = input.parse()?;
        let content;
        braced!(content in input);
        if !input.is_empty() {
            return Err(input.error("a protocol ends here: write each in a `protocol!` of its own"));
        }
        let mut states = Vec::new();
        while !content.is_empty() {
            states.push(content.parse()?);
            content.parse::<Option<Token![,]>>()?;
        }
        Ok(Self {
            facade,
            attributes,
            visibility,
            name,
            parameters,
            sides: [one, other],
            states,
        })
    }
}

/// Where the facade is.
fn facade(input: ParseStream<'_>) -> syn::Result<Path> {
    if !(input.peek(Token![crate]) && input.peek2(Token![=])) {
        return Ok(syn::parse_quote!(::gossamer));
    }
    input.parse::<Token![crate]>()?;
    input.parse::<Token![=]>()?;
    let facade = input.call(Path::parse_mod_style)?;
    input.parse::<Token![;]>()?;
    Ok(facade)
}

/// Type parameters: names alone.
fn parameters(input: ParseStream<'_>) -> syn::Result<Vec<Ident>> {
    let mut parameters = Vec::new();
    if input.parse::<Option<Token![<]>>()?.is_none() {
        return Ok(parameters);
    }
    while !input.peek(Token![>]) {
        let name = input.parse::<Ident>().map_err(|error| {
            let text = "the parameters of a protocol are types: names alone, as in `<T, U>`";
            Error::new(error.span(), text)
        })?;
        parameters.push(name);
        if input.peek(Token![:]) {
            return Err(input.error("the parameters of a protocol have no bounds"));
        }
        if !input.peek(Token![>]) {
            input.parse::<Token![,]>()?;
        }
    }
    input.parse::<Token![>]>()?;
    Ok(parameters)
}

impl Parse for State {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let name = input.parse()?;
        if !input.peek(Token![:]) {
            return Err(input.error("expected who sends in this state, as in `State: side { … }`"));
        }
        input.parse::<Token![:]>()?;
        let side = input.parse()?;
        let content;
        braced!(content in input);
        let messages = Punctuated::<Message, Token![,]>::parse_terminated(&content)?;
        Ok(Self {
            attributes,
            name,
            side,
            messages: messages.into_iter().collect(),
        })
    }
}

impl Parse for Message {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let name = input.parse()?;
        let payload = if input.peek(syn::token::Paren) {
            let content;
            parenthesized!(content in input);
            let payload = Punctuated::<Type, Token![,]>::parse_terminated(&content)?;
            payload.into_iter().collect()
        } else {
            Vec::new()
        };
        if !input.peek(Token![->]) {
            let text = format!(
                "expected the state that follows, as in `{name} -> State` or `{name}(u32) -> End`"
            );
            return Err(input.error(text));
        }
        input.parse::<Token![->]>()?;
        Ok(Self {
            attributes,
            name,
            payload,
            next: input.parse()?,
        })
    }
}
