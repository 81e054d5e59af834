//! `select!`: what stands in it, and what becomes of it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Error, Expr, Pat, Path, Token, token};

mod kw {
    syn::custom_keyword!(biased);
    syn::custom_keyword!(wait);
}

/// The whole of it.
struct Select {
    facade: Path,
    fair: bool,
    waits: bool,
    branches: Vec<Branch>,
    otherwise: Option<Expr>,
}

/// `pattern = operation, if condition => body`
struct Branch {
    pattern: Pat,
    operation: Expr,
    condition: Option<Expr>,
    body: Expr,
}

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    match syn::parse2::<Select>(input) {
        Ok(select) => select.expand(),
        Err(error) => error.into_compile_error(),
    }
}

impl Parse for Select {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut select = Self {
            facade: syn::parse_quote!(::gossamer),
            fair: true,
            waits: false,
            branches: Vec::new(),
            otherwise: None,
        };
        select.parse_settings(input)?;
        while !input.is_empty() {
            if let Some(otherwise) = &select.otherwise {
                let text = "`else` is the last of a select!: nothing comes after it";
                return Err(Error::new(otherwise.span(), text));
            }
            if input.peek(Token![else]) {
                input.parse::<Token![else]>()?;
                select.otherwise = Some(body(input)?);
            } else {
                select.branches.push(input.parse()?);
            }
        }
        if select.branches.is_empty() {
            let text = "a select! has at least one branch: `pattern = operation => body`";
            return Err(Error::new(Span::call_site(), text));
        }
        Ok(select)
    }
}

impl Select {
    /// `biased;`, `wait;` and `crate = path;`, in any order.
    fn parse_settings(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        loop {
            if input.peek(kw::biased) && input.peek2(Token![;]) {
                input.parse::<kw::biased>()?;
                self.fair = false;
            } else if input.peek(kw::wait) && input.peek2(Token![;]) {
                input.parse::<kw::wait>()?;
                self.waits = true;
            } else if input.peek(Token![crate]) && input.peek2(Token![=]) {
                input.parse::<Token![crate]>()?;
                input.parse::<Token![=]>()?;
                self.facade = input.parse()?;
            } else {
                return Ok(());
            }
            input.parse::<Token![;]>()?;
        }
    }

    fn expand(&self) -> TokenStream {
        let facade = &self.facade;
        let internal = |name: &str| Ident::new(name, Span::mixed_site());
        // Items are seen by what the user writes, too: a name that nobody has.
        let branches = internal("__GossamerSelected");
        let [output, select, branch, cx] = ["output", "select", "branch", "cx"].map(internal);
        let count = self.branches.len();
        let places = match self.fair && count > 1 {
            true => quote!(const { #facade::select::places(#count) }),
            false => quote!(0),
        };
        let types: Vec<_> = (0..count).map(|at| internal(&format!("T{at}"))).collect();
        let names: Vec<_> = (0..count)
            .map(|at| internal(&format!("Branch{at}")))
            .collect();
        let ops: Vec<_> = (0..count)
            .map(|at| internal(&format!("operation{at}")))
            .collect();
        let made = self.branches.iter().map(Branch::operation);
        let asked = self.branches.iter().enumerate().map(|(at, own)| {
            let name = &names[at];
            own.asked(facade, at, &ops[at], &quote!(#branches::#name), &cx)
        });
        let finish = match self.waits {
            false => quote!(#select.await),
            true => quote!(#facade::Wait::wait(#select)),
        };
        let bodies = self.branches.iter().zip(&names).map(|(own, name)| {
            let (pattern, body) = (&own.pattern, &own.body);
            quote!(::core::option::Option::Some(#branches::#name(#pattern)) => #body,)
        });
        let otherwise = match &self.otherwise {
            Some(body) => quote!(#body),
            None => quote! {
                ::core::panic!("select!: no branch takes part any more, and there is no else")
            },
        };
        quote! {{
            enum #branches<#(#types),*> { #(#names(#types)),* }
            let #output = {
                #(let mut #ops = ::core::pin::pin!(#made);)*
                #[allow(unused_imports)]
                use #facade::select::{LeaveOfOurs as _, StayOfOthers as _};
                #[allow(unused_imports)]
                use #facade::select::{RangeOfReference as _, RangeOfValue as _};
                let #select = #facade::select::Select::new(#count, #places, |#branch, #cx| match #branch {
                    #(#asked)*
                    _ => ::core::unreachable!(),
                });
                #finish
            };
            match #output {
                #(#bodies)*
                ::core::option::Option::None => #otherwise,
                #[allow(unreachable_patterns)]
                _ => ::core::unreachable!("the pattern has been looked at"),
            }
        }}
    }
}

impl Parse for Branch {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let pattern = Pat::parse_multi_with_leading_vert(input)?;
        if !input.peek(Token![=]) || input.peek(Token![=>]) {
            let text = "expected `= operation`: a branch is `pattern = operation => body`";
            return Err(input.error(text));
        }
        input.parse::<Token![=]>()?;
        let operation = input.parse()?;
        let mut condition = None;
        if input.peek(Token![,]) && input.peek2(Token![if]) {
            input.parse::<Token![,]>()?;
            input.parse::<Token![if]>()?;
            condition = Some(input.parse()?);
        }
        let body = body(input)?;
        Ok(Self {
            pattern,
            operation,
            condition,
            body,
        })
    }
}

/// `=> body`, and the comma after it, which a block does without.
fn body(input: ParseStream<'_>) -> syn::Result<Expr> {
    if !input.peek(Token![=>]) {
        let text = "expected `=> body`: a branch is `pattern = operation => body`, or \
                    `pattern = operation, if condition => body`";
        return Err(input.error(text));
    }
    input.parse::<Token![=>]>()?;
    let is_block = input.peek(token::Brace);
    let body = match is_block {
        // As in a match: what stands after the block does not belong to it.
        true => Expr::Block(input.parse()?),
        false => input.parse()?,
    };
    if input.peek(Token![,]) {
        input.parse::<Token![,]>()?;
    } else if !is_block && !input.is_empty() {
        return Err(input.error("expected `,` after a branch whose body is no block"));
    }
    Ok(body)
}

impl Branch {
    /// The arm that polls the branch at this place, whose operation is `op`, and wraps its output in `name`.
    fn asked(
        &self,
        facade: &Path,
        at: usize,
        op: &Ident,
        name: &TokenStream,
        cx: &Ident,
    ) -> TokenStream {
        let [pinned, value] = ["pinned", "value"].map(|name| Ident::new(name, Span::mixed_site()));
        let looked_at = looked_at(&self.pattern);
        quote! {
            #at => match #op.as_mut().as_pin_mut() {
                ::core::option::Option::None => #facade::select::Turn::Out,
                ::core::option::Option::Some(#pinned) => match #cx {
                    ::core::option::Option::None => {
                        (&mut #facade::select::Leaving(#pinned)).leave();
                        #facade::select::Turn::Out
                    }
                    ::core::option::Option::Some(#cx) => match #facade::select::poll_branch_at(
                        (&#facade::select::Branch(&*#pinned)).range(),
                        #pinned,
                        #cx,
                    ) {
                        ::core::task::Poll::Pending => #facade::select::Turn::Waits,
                        #[allow(unreachable_patterns)]
                        ::core::task::Poll::Ready(#value) => match #value {
                            #looked_at => #facade::select::Turn::Ready(#name(#value)),
                            _ => {
                                // It is out, and the others go on.
                                #op.set(::core::option::Option::None);
                                #facade::select::Turn::Out
                            }
                        },
                    },
                },
            }
        }
    }

    /// The operation, if it takes part.
    fn operation(&self) -> TokenStream {
        let operation = &self.operation;
        let made = quote_spanned! { operation.span() =>
            ::core::option::Option::Some(::core::future::IntoFuture::into_future(#operation))
        };
        match &self.condition {
            None => made,
            Some(condition) => {
                let holds = Ident::new("holds", Span::mixed_site());
                quote!({
                    let #holds: bool = #condition;
                    if #holds { #made } else { ::core::option::Option::None }
                })
            }
        }
    }
}

/// The pattern without its bindings, so that looking whether it matches moves nothing.
fn looked_at(pattern: &Pat) -> Pat {
    let mut pattern = pattern.clone();
    bind_nothing(&mut pattern);
    pattern
}

fn bind_nothing(pattern: &mut Pat) {
    match pattern {
        Pat::Ident(bound) => {
            if let Some((_, inner)) = bound.subpat.take() {
                let mut inner = *inner;
                bind_nothing(&mut inner);
                *pattern = inner;
            } else if bound.by_ref.is_some()
                || bound.mutability.is_some()
                || is_binding(&bound.ident)
            {
                *pattern = syn::parse_quote!(_);
            }
        }
        Pat::Or(or) => or.cases.iter_mut().for_each(bind_nothing),
        Pat::Paren(paren) => bind_nothing(&mut paren.pat),
        Pat::Reference(reference) => bind_nothing(&mut reference.pat),
        Pat::Slice(slice) => slice.elems.iter_mut().for_each(bind_nothing),
        Pat::Struct(fields) => fields.fields.iter_mut().for_each(|field| {
            field.colon_token.get_or_insert_default();
            bind_nothing(&mut field.pat);
        }),
        Pat::Tuple(tuple) => tuple.elems.iter_mut().for_each(bind_nothing),
        Pat::TupleStruct(tuple) => tuple.elems.iter_mut().for_each(bind_nothing),
        _ => {}
    }
}

/// Whether the name stands for what has come, and not for a constant or a variant: those begin with a capital.
fn is_binding(name: &Ident) -> bool {
    let name = name.to_string();
    !name.starts_with(|first: char| first.is_uppercase())
}
