//! The gate of each mutant, and the sanitizer's run, name tests that exist.
//!
//! A filter that selects nothing lets `cargo test` pass, and so the bug: without this check, only the run with the bug
//! would show that a test has another name by now, and nothing would show it of the sanitizer.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};
use syn::punctuated::Punctuated;

use super::Finding;
use super::submodule::file_of;
use crate::asan::RUNS;
use crate::mutants::table::{self, Mutant, TABLE};
use crate::repo::Repo;

/// The cross-crate suite.
const SUITE: &str = "tests/it/main.rs";

/// Macros whose calls are followed inside each other, at most.
const NESTED_MAX: usize = 4;

/// Of each gate that is `cargo test` of one program, that program is there, and has a test with that name.
pub(super) fn name_tests(repo: &Repo) -> Vec<Finding> {
    let text = repo.get(TABLE).map_or("", |file| &file.text);
    // What cannot be read is a finding of the table's own check.
    let mutants = table::parse(text).unwrap_or_default();
    let mut programs = BTreeMap::new();
    let mut findings = Vec::new();
    for mutant in &mutants {
        let Some((roots, filters)) = program(mutant) else {
            continue;
        };
        let root = roots.iter().find(|path| repo.get(path).is_some());
        let (found, expected) = match root {
            None => (format!("no file {}", roots[0]), "a test program"),
            Some(root) => {
                let names = programs
                    .entry((root.clone(), &mutant.rustflags))
                    .or_insert_with(|| Tests::of(repo, root, &mutant.rustflags).names);
                let selects = |filter: &&str| names.iter().any(|name| name.contains(*filter));
                let missing: Vec<_> = filters.iter().filter(|filter| !selects(filter)).collect();
                if missing.is_empty() {
                    continue;
                }
                let found = format!("{root} has no test {missing:?}");
                (found, "part of a test's name, with its modules")
            }
        };
        let named = |line: &str| line == format!("name = \"{}\"", mutant.name);
        let line = text.lines().position(named).unwrap_or(0) + 1;
        let found = format!("the gate of `{}` runs nothing: {found}", mutant.name);
        findings.push(Finding::new(TABLE, line, found, expected));
    }
    findings
}

/// Each name by which the sanitizer's tests are chosen, or left out, is part of a test's name.
pub(super) fn sanitizer_names_tests(repo: &Repo) -> Vec<Finding> {
    if repo.get(SUITE).is_none() {
        return Vec::new();
    }
    let names = Tests::of(repo, SUITE, "").names;
    let words = RUNS.iter().flat_map(|(words, _)| *words);
    let missing = words
        .filter(|word| !word.starts_with("--"))
        .filter(|word| !names.iter().any(|name| name.contains(**word)));
    missing
        .map(|word| {
            let found = format!("{SUITE} has no test `{word}`");
            let expected = "part of a test's name, with its modules";
            Finding::new("xtask/src/asan.rs", 1, found, expected)
        })
        .collect()
}

/// Where the program of a gate may begin, and the names it selects; `None` if the gate is something else.
fn program(mutant: &Mutant) -> Option<(Vec<String>, Vec<&str>)> {
    let mut words = mutant.gate.iter().map(String::as_str);
    if (words.next(), words.next()) != (Some("cargo"), Some("test")) {
        return None;
    }
    let (mut package, mut target, mut filters) = (None, None, Vec::new());
    while let Some(word) = words.next() {
        match word {
            "-p" => package = words.next(),
            "--test" => target = words.next(),
            "--lib" => target = Some(""),
            "--profile" => drop(words.next()),
            word if word.starts_with('-') => {}
            filter => filters.push(filter),
        }
    }
    let folder = match package?.strip_prefix("gossamer-")? {
        "tests" => "tests".to_string(),
        "rt" => "crates/gossamer".to_string(),
        name => format!("crates/{name}"),
    };
    let roots = match target? {
        "" => vec![format!("{folder}/src/lib.rs")],
        name if folder == "tests" => {
            vec![format!("tests/{name}/main.rs"), format!("tests/{name}.rs")]
        }
        name => vec![
            format!("{folder}/tests/{name}.rs"),
            format!("{folder}/tests/{name}/main.rs"),
        ],
    };
    Some((roots, filters))
}

/// The tests of one program.
///
/// Those of a macro's call are guessed from its text: `fn $name` behind `#[test]` stands for every word at the top of the
/// call's arguments.
struct Tests<'a> {
    repo: &'a Repo,
    root: &'a str,
    /// The compiler's flags.
    flags: &'a str,
    /// The macros, by the file they stand in and their names.
    macros: BTreeMap<(String, String), TokenStream>,
    calls: Vec<Call>,
    names: Vec<String>,
}

/// A call of a macro.
struct Call {
    /// The file it stands in.
    path: String,
    /// The module it stands in, with the colons behind it.
    module: String,
    name: String,
    arguments: TokenStream,
    /// How many calls it stands in.
    depth: usize,
}

impl<'a> Tests<'a> {
    fn of(repo: &'a Repo, root: &'a str, flags: &'a str) -> Self {
        let mut tests = Tests {
            repo,
            root,
            flags,
            macros: BTreeMap::new(),
            calls: Vec::new(),
            names: Vec::new(),
        };
        tests.file(root, "");
        while let Some(call) = tests.calls.pop() {
            tests.expand_call(call);
        }
        tests
    }

    fn file(&mut self, path: &str, module: &str) {
        let file = self.repo.get(path);
        let parsed = file.and_then(|file| syn::parse_file(&file.text).ok());
        let parsed = parsed.filter(|parsed| self.are_met(&parsed.attrs));
        for item in parsed.iter().flat_map(|parsed| &parsed.items) {
            self.item(item, path, module, &[]);
        }
    }

    /// Whether what has these attributes is compiled with the flags.
    fn are_met(&self, attributes: &[syn::Attribute]) -> bool {
        let mut conditions = attributes.iter().filter(|one| one.path().is_ident("cfg"));
        conditions.all(|one| {
            let condition = one.parse_args::<syn::Meta>();
            condition.map_or(true, |condition| {
                is_met(&condition, self.flags) != Some(false)
            })
        })
    }

    fn item(&mut self, item: &syn::Item, path: &str, module: &str, inline: &[String]) {
        let attributes = match item {
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Macro(item) => &item.attrs,
            _ => return,
        };
        if !self.are_met(attributes) {
            return;
        }
        match item {
            syn::Item::Fn(item) if item.attrs.iter().any(|one| one.path().is_ident("test")) => {
                self.names.push(format!("{module}{}", item.sig.ident));
            }
            syn::Item::Mod(item) => {
                let name = item.ident.to_string();
                let below = format!("{module}{name}::");
                if let Some((_, items)) = &item.content {
                    let inline = [inline, &[name]].concat();
                    for item in items {
                        self.item(item, path, &below, &inline);
                    }
                } else if let Some(file) =
                    file_of(self.repo, (path, path == self.root), item, inline)
                {
                    self.file(&file, &below);
                }
            }
            syn::Item::Macro(syn::ItemMacro {
                ident: Some(name),
                mac,
                ..
            }) => {
                let at = (path.to_string(), name.to_string());
                self.macros.insert(at, mac.tokens.clone());
            }
            syn::Item::Macro(item) => {
                let name = item.mac.path.segments.last();
                self.calls.push(Call {
                    path: path.to_string(),
                    module: module.to_string(),
                    name: name.map(|name| name.ident.to_string()).unwrap_or_default(),
                    arguments: item.mac.tokens.clone(),
                    depth: 0,
                });
            }
            _ => {}
        }
    }

    fn expand_call(&mut self, call: Call) {
        // The one in its own file, or else in that of a module around it, or else somewhere.
        let rank = |path: &str| {
            let around = path.trim_end_matches("mod.rs").trim_end_matches(".rs");
            (path == call.path, call.path.starts_with(around))
        };
        let named = self
            .macros
            .iter()
            .filter(|((_, name), _)| *name == call.name);
        let Some((_, body)) = named.max_by_key(|((path, _), _)| rank(path)) else {
            return;
        };
        let body = body.clone();
        if call.depth < NESTED_MAX {
            let words: Vec<String> = words(call.arguments.clone()).collect();
            self.expand(&call, &call.module, body, &words);
        }
    }

    /// The tests in the body of a macro that is called with these words.
    fn expand(&mut self, call: &Call, module: &str, body: TokenStream, words: &[String]) {
        // The last word, whether `$` stands before it, and what stood before that.
        let (mut word, mut is_given, mut before) = (String::new(), false, String::new());
        let (mut dollar, mut is_test) = (false, false);
        for token in body {
            match token {
                TokenTree::Ident(next) => {
                    before = std::mem::replace(&mut word, next.to_string());
                    is_given = std::mem::take(&mut dollar);
                    if before == "fn" && std::mem::take(&mut is_test) {
                        for name in meant(&word, is_given, words) {
                            self.names.push(format!("{module}{name}"));
                        }
                    }
                }
                TokenTree::Punct(mark) => {
                    dollar = mark.as_char() == '$';
                    if mark.as_char() == '!' {
                        before = "!".to_string();
                    }
                }
                TokenTree::Group(group) => {
                    let inner = group.stream();
                    is_test |= inner.to_string() == "test";
                    if before == "mod" {
                        for name in meant(&word, is_given, words) {
                            let below = format!("{module}{name}::");
                            self.expand(call, &below, inner.clone(), words);
                        }
                    } else if before == "!" {
                        let given = words.iter().map(|word| format!("{word} "));
                        let all = format!("{}{inner}", given.collect::<String>());
                        if let Ok(arguments) = all.parse() {
                            self.calls.push(Call {
                                path: call.path.clone(),
                                module: module.to_string(),
                                name: std::mem::take(&mut word),
                                arguments,
                                depth: call.depth + 1,
                            });
                        }
                    } else {
                        self.expand(call, module, inner, words);
                    }
                    before.clear();
                }
                TokenTree::Literal(_) => {}
            }
        }
    }
}

/// Whether a condition of `cfg` is met with these flags of the compiler; `None` if they do not say.
fn is_met(condition: &syn::Meta, flags: &str) -> Option<bool> {
    let syn::Meta::List(list) = condition else {
        let checkers = ["loom", "shuttle"].into_iter();
        let mut checkers = checkers.filter(|name| condition.path().is_ident(name));
        return checkers
            .next()
            .map(|name| flags.contains(&format!("--cfg {name}")));
    };
    let parsed = list.parse_args_with(Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated);
    let parts: Vec<_> = parsed
        .iter()
        .flatten()
        .map(|part| is_met(part, flags))
        .collect();
    let decides = list.path.is_ident("any");
    match parts.as_slice() {
        [part] if list.path.is_ident("not") => part.map(|met| !met),
        parts if parts.contains(&Some(decides)) => Some(decides),
        parts if parts.contains(&None) => None,
        _ => Some(!decides),
    }
}

/// What a name in a macro's body may stand for.
fn meant(word: &str, is_given: bool, words: &[String]) -> Vec<String> {
    if is_given {
        words.to_vec()
    } else {
        vec![word.to_string()]
    }
}

/// The words at the top of a macro's arguments.
fn words(arguments: TokenStream) -> impl Iterator<Item = String> {
    arguments.into_iter().filter_map(|token| match token {
        TokenTree::Ident(word) => Some(word.to_string()),
        _ => None,
    })
}
