//! The options in an attribute's parentheses.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, Ident, Lit, LitStr, Path, Token, parse_quote};

/// The most workers a pool can have; `gossamer_sched::WORKERS_MAX`, which a macro cannot ask.
const WORKERS_MAX: usize = 1024;

/// The names of all options, as an error lists them.
const NAMES: &str = "`model`, `workers`, `fibers`, `runtime`, `crate`, or, in a test, `sim`, `seeds`, `exhaustive` or `shortest`";

/// The options that were given.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) model: Option<ModelOption>,
    model_span: Option<Span>,
    pub(crate) workers: Option<Expr>,
    pub(crate) fibers: Option<Expr>,
    pub(crate) runtime: Option<Ident>,
    pub(crate) sim: Option<SimOption>,
    pub(crate) seeds: Option<Expr>,
    /// Each schedule is run, instead of some of seeds.
    pub(crate) every: Option<Every>,
    pub(crate) facade: Option<Path>,
}

/// That a test is to be simulated.
pub(crate) struct SimOption {
    pub(crate) name: Ident,
    /// How, if it was said.
    pub(crate) settings: Option<Expr>,
}

/// That each schedule is run.
pub(crate) struct Every {
    pub(crate) name: Ident,
    /// The simplest failure is told, not the first.
    pub(crate) shortest: bool,
}

/// How the model was given.
pub(crate) enum ModelOption {
    Single,
    Pool(Option<usize>),
    Threads,
    /// To be evaluated at run time.
    Value(Expr),
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut options = Self::default();
        while !input.is_empty() {
            options.parse_one(input)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        options.check_workers()?;
        options.check_sim()?;
        Ok(options)
    }
}

impl Options {
    /// Where the facade is.
    pub(crate) fn facade(&self) -> Path {
        match &self.facade {
            Some(path) => path.clone(),
            None => parse_quote!(::gossamer),
        }
    }

    fn parse_one(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let Ok(name) = input.call(Ident::parse_any) else {
            return Err(input.error(format!("expected an option: {NAMES}, each `= …`")));
        };
        let text = name.to_string();
        let known = [
            "model",
            "workers",
            "fibers",
            "runtime",
            "sim",
            "seeds",
            "exhaustive",
            "shortest",
            "crate",
        ];
        if !known.contains(&text.as_str()) {
            let text = format!("unknown option `{text}`: expected {NAMES}");
            return Err(Error::new(name.span(), text));
        }
        if text == "sim" && !input.peek(Token![=]) {
            let settings = None;
            let sim = SimOption {
                name: name.clone(),
                settings,
            };
            return set(&mut self.sim, &name, sim);
        }
        if text == "exhaustive" || text == "shortest" {
            if let Some(before) = &self.every {
                let text = format!(
                    "`{}` says how all schedules are run: one of the two",
                    before.name
                );
                return Err(Error::new(name.span(), text));
            }
            let every = Every {
                shortest: text == "shortest",
                name: name.clone(),
            };
            return set(&mut self.every, &name, every);
        }
        let needs_value = || {
            let text = format!("option `{text}` needs a value: `{text} = …`");
            Error::new(name.span(), text)
        };
        input.parse::<Token![=]>().map_err(|_| needs_value())?;
        if input.is_empty() || input.peek(Token![,]) {
            return Err(needs_value());
        }
        match text.as_str() {
            "model" => {
                self.model_span = Some(name.span());
                set(&mut self.model, &name, model(input.parse()?)?)
            }
            "workers" => set(&mut self.workers, &name, input.parse()?),
            "fibers" => set(&mut self.fibers, &name, input.parse()?),
            "runtime" => set(&mut self.runtime, &name, input.parse()?),
            "seeds" => set(&mut self.seeds, &name, input.parse()?),
            "sim" => {
                let settings = Some(input.parse()?);
                let sim = SimOption {
                    name: name.clone(),
                    settings,
                };
                set(&mut self.sim, &name, sim)
            }
            _ => set(&mut self.facade, &name, input.call(Path::parse_mod_style)?),
        }
    }

    /// Finds options that say nothing, or something else, beside `sim`.
    fn check_sim(&self) -> syn::Result<()> {
        if self.sim.is_none() {
            if let Some(Every { name, .. }) = &self.every {
                let text = format!("`{name}` is for a simulation: write `sim, {name}`");
                return Err(Error::new(name.span(), text));
            }
            let Some(seeds) = &self.seeds else {
                return Ok(());
            };
            let text = "`seeds` are a simulation's: write `sim, seeds = …`";
            return Err(Error::new(seeds.span(), text));
        }
        if let (Some(Every { name, .. }), Some(seeds)) = (&self.every, &self.seeds) {
            let text = format!(
                "`{name}` runs each schedule, so there is nothing to choose: leave `seeds` out"
            );
            return Err(Error::new(seeds.span(), text));
        }
        let unfit = |span: Span, name: &str, text: &str| {
            Err(Error::new(span, format!("{text}: leave `{name}` out")))
        };
        let threads = "a simulation runs all tasks on one thread, in an order that it chooses";
        if let Some(span) = self.model_span {
            return unfit(span, "model", threads);
        }
        if let Some(workers) = &self.workers {
            return unfit(workers.span(), "workers", threads);
        }
        if let Some(runtime) = &self.runtime {
            let text =
                "a simulation has no Runtime: spawn by gossamer::spawn() or Handle::current()";
            return unfit(runtime.span(), "runtime", text);
        }
        Ok(())
    }

    /// Finds at once what could only fail, or be ignored, at run time.
    fn check_workers(&self) -> syn::Result<()> {
        let Some(workers) = &self.workers else {
            return Ok(());
        };
        if let Some(model @ (ModelOption::Single | ModelOption::Threads)) = &self.model {
            let name = match model {
                ModelOption::Single => "single",
                _ => "threads",
            };
            let text = format!(
                "the model \"{name}\" has no workers: leave `workers` out, or use \"pool\""
            );
            return Err(Error::new(workers.span(), text));
        }
        if let Expr::Lit(ExprLit {
            lit: Lit::Int(number),
            ..
        }) = workers
            && !number
                .base10_parse()
                .is_ok_and(|number: usize| (1..=WORKERS_MAX).contains(&number))
        {
            let text = format!("a pool has 1 to {WORKERS_MAX} workers");
            return Err(Error::new(number.span(), text));
        }
        Ok(())
    }
}

fn set<T>(option: &mut Option<T>, name: &Ident, value: T) -> syn::Result<()> {
    if option.replace(value).is_some() {
        return Err(Error::new(
            name.span(),
            format!("option `{name}` is given twice"),
        ));
    }
    Ok(())
}

fn model(value: Expr) -> syn::Result<ModelOption> {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => named_model(&text),
        value => Ok(ModelOption::Value(value)),
    }
}

/// Accepts the texts that `gossamer::Model::from_str` accepts; a test compares the two.
fn named_model(text: &LitStr) -> syn::Result<ModelOption> {
    let name = text.value();
    match name.as_str() {
        "single" => Ok(ModelOption::Single),
        "pool" => Ok(ModelOption::Pool(None)),
        "threads" => Ok(ModelOption::Threads),
        _ => name
            .strip_prefix("pool:")
            .and_then(|workers| workers.parse().ok())
            .filter(|workers| (1..=WORKERS_MAX).contains(workers))
            .map(|workers| ModelOption::Pool(Some(workers)))
            .ok_or_else(|| {
                let span = text.span();
                let message = format!(
                    "\"{name}\" is no threading model: expected \"single\", \"pool\", \"pool:N\" \
                     (N from 1 to {WORKERS_MAX}) or \"threads\""
                );
                Error::new(span, message)
            }),
    }
}

impl ModelOption {
    /// The expression that gives the model.
    pub(crate) fn value(&self, facade: &Path) -> TokenStream {
        match self {
            Self::Single => quote!(#facade::Model::Single),
            Self::Pool(None) => quote!(#facade::Model::pool()),
            Self::Pool(Some(workers)) => quote!(#facade::Model::Pool { workers: #workers }),
            Self::Threads => quote!(#facade::Model::Threads),
            Self::Value(value) => quote!(#value),
        }
    }
}
