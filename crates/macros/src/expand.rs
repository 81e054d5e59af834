//! From the `async fn` to the plain one.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Error, Ident, ItemFn, Path, parse_quote};

use crate::options::{Options, SimOption};

/// Which attribute it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Main,
    Test,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Main => "#[gossamer::main]",
            Self::Test => "#[gossamer::test]",
        }
    }
}

/// Expands the attribute to the new function, or to the error why it cannot.
pub(crate) fn expand(kind: Kind, options: TokenStream, function: TokenStream) -> TokenStream {
    match try_expand(kind, options, function.clone()) {
        Ok(expanded) => expanded,
        Err(error) => {
            let error = error.into_compile_error();
            // A function of that name stays, so that this is the only error.
            match syn::parse2::<ItemFn>(function) {
                Ok(ItemFn { vis, sig, .. }) => {
                    let name = sig.ident;
                    quote!(#error #[allow(dead_code)] #vis fn #name() {})
                }
                Err(_) => error,
            }
        }
    }
}

fn try_expand(kind: Kind, options: TokenStream, function: TokenStream) -> syn::Result<TokenStream> {
    let function: ItemFn = syn::parse2(function).map_err(|error| {
        let text = format!("{} goes on an async fn", kind.name());
        Error::new(error.span(), text)
    })?;
    check(kind, &function)?;
    function.modifiers.require_empty()?;
    let options: Options = syn::parse2(options)?;
    match (kind, &options.sim) {
        (Kind::Test, Some(sim)) => Ok(simulate(sim, &options, function)),
        (Kind::Main, Some(sim)) => {
            let text = "only a test is simulated: `sim` belongs into #[gossamer::test(…)]";
            Err(Error::new(sim.name.span(), text))
        }
        (_, None) => Ok(write(kind, &options, function)),
    }
}

fn check(kind: Kind, function: &ItemFn) -> syn::Result<()> {
    let name = kind.name();
    let sig = &function.sig;
    if sig.asyncness.is_none() {
        let text = format!("{name} goes on an async fn: write `async fn {}`", sig.ident);
        return Err(Error::new_spanned(sig.fn_token, text));
    }
    if !sig.inputs.is_empty() || sig.variadic.is_some() {
        let text = format!(
            "a function under {name} has no arguments; `runtime = NAME` gives the body its runtime"
        );
        return Err(Error::new_spanned(&sig.inputs, text));
    }
    if !sig.generics.params.is_empty() {
        let text = format!("a function under {name} must not be generic");
        return Err(Error::new_spanned(&sig.generics.params, text));
    }
    let qualifiers: [&dyn ToTokens; 3] = [&sig.constness, &sig.safety, &sig.abi];
    for qualifier in qualifiers {
        let found = qualifier.to_token_stream();
        if !found.is_empty() {
            let text = format!("a function under {name} must not be `{found}`");
            return Err(Error::new_spanned(found, text));
        }
    }
    let again = |attribute: &&syn::Attribute| attribute.path().is_ident("test");
    if kind == Kind::Test
        && let Some(attribute) = function.attrs.iter().find(again)
    {
        let text = format!("{name} makes this a test: leave `#[test]` out");
        return Err(Error::new_spanned(attribute, text));
    }
    Ok(())
}

/// The `async fn` as it was, inside a plain one of the same name: so its types are what the user wrote.
fn write(kind: Kind, options: &Options, function: ItemFn) -> TokenStream {
    let ItemFn {
        attrs,
        vis,
        sig,
        block,
        ..
    } = function;
    let facade = options.facade();
    let runtime = Ident::new("runtime", Span::mixed_site());
    let error = Ident::new("error", Span::mixed_site());

    let mut plain = sig.clone();
    plain.asyncness = None;
    let mut inner = sig;
    let name = inner.ident.clone();
    let argument = options.runtime.as_ref().map(|chosen| {
        inner.inputs.push(parse_quote!(#chosen: &#facade::Runtime));
        quote!(&#runtime)
    });
    let test = (kind == Kind::Test).then(|| quote!(#[::core::prelude::v1::test]));
    let model = match &options.model {
        Some(model) if !cfg!(mutant = "attribute_forgets_model") => Some(model.value(&facade)),
        _ => None,
    };
    let failed = format!("{}: the runtime cannot be built: {{}}", kind.name());
    let build = build(&facade, model, options);
    quote! {
        #test
        #(#attrs)*
        #vis #plain {
            #inner #block
            let #runtime = match #build {
                ::core::result::Result::Ok(#runtime) => #runtime,
                ::core::result::Result::Err(#error) => ::core::panic!(#failed, #error),
            };
            #runtime.block_on(#name(#argument))
        }
    }
}

/// A test that runs the `async fn` under each seed.
fn simulate(sim: &SimOption, options: &Options, function: ItemFn) -> TokenStream {
    let ItemFn {
        attrs,
        vis,
        sig,
        block,
        ..
    } = function;
    let facade = options.facade();
    let name = &sig.ident;
    let settings = match &sim.settings {
        Some(settings) => quote!(#settings),
        None => quote!(#facade::sim::Sim::new()),
    };
    let fibers = options.fibers.iter();
    let seeds = match &options.seeds {
        Some(seeds) if !cfg!(mutant = "attribute_forgets_seeds") => quote!(#seeds),
        _ => quote!(0..100),
    };
    let settings = quote!(#settings #(.fibers(#fibers))*);
    let call = match &options.every {
        Some(every) => {
            let shortest = every.shortest && !cfg!(mutant = "attribute_forgets_shortest");
            quote!(#facade::sim::test_all(#settings, #shortest, #name))
        }
        None => quote!(#facade::sim::test(#settings, #seeds, #name)),
    };
    quote! {
        #[::core::prelude::v1::test]
        #(#attrs)*
        #vis fn #name() {
            #sig #block
            #facade::__needs_sim! { #call }
        }
    }
}

fn build(facade: &Path, model: Option<TokenStream>, options: &Options) -> TokenStream {
    let (model, workers, fibers) = (model.iter(), options.workers.iter(), options.fibers.iter());
    quote! {
        #facade::Runtime::builder()
            #(.model(#model))*
            #(.workers(#workers))*
            #(.fibers(#fibers))*
            .build()
    }
}
