//! The modules of one crate, and which file uses an item of which other.
//!
//! A module is a file; an inline `mod` belongs to the file it stands in. A path (`crate::`, `self::`, `super::`, a child
//! module's or an imported name, also inside a macro's arguments) is followed through re-exports to the file that
//! defines the item. So a parent that declares a child, or re-exports its items, does not use it by that alone.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};

use super::super::submodule::file_of;
use crate::repo::{File, Repo};

/// Re-exports that are followed from one name, at most: names may import each other in a circle.
const RE_EXPORTS_MAX: usize = 16;

/// A file uses an item that another file defines.
pub(super) struct Use {
    pub(super) line: usize,
    /// The path as it is written.
    pub(super) path: String,
}

/// The files of a crate, and the first use of each file by each other one.
#[derive(Default)]
pub(super) struct Modules<'a> {
    repo: Option<&'a Repo>,
    pub(super) files: Vec<&'a File>,
    modules: Vec<Module>,
}

#[derive(Default)]
struct Module {
    /// Its file's index.
    file: usize,
    parent: Option<usize>,
    /// By name; several, where `cfg` chooses one.
    children: BTreeMap<String, Vec<usize>>,
    names: Names,
}

/// What the text of one module says.
#[derive(Default)]
struct Names {
    defined: BTreeSet<String>,
    imported: BTreeMap<String, Vec<Vec<String>>>,
    /// The modules of `use module::*`.
    globs: Vec<Vec<String>>,
    /// Every path, with its line; those of re-exports are not among them.
    used: Vec<(Vec<String>, usize)>,
}

/// What a path leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Module(usize),
    /// An item that this module defines.
    ItemOf(usize),
}

impl<'a> Modules<'a> {
    /// Reads the crate in `folder`, from its root on; nothing, if it has no `src/lib.rs`.
    pub(super) fn read(repo: &'a Repo, folder: &str) -> Self {
        let mut modules = Self {
            repo: Some(repo),
            ..Self::default()
        };
        modules.add_file(&format!("{folder}/src/lib.rs"), None);
        modules
    }

    /// For each two files of which one uses an item of the other, the first use.
    pub(super) fn uses(&self) -> BTreeMap<(usize, usize), Use> {
        let mut uses: BTreeMap<(usize, usize), Use> = BTreeMap::new();
        for (at, module) in self.modules.iter().enumerate() {
            for (path, line) in &module.names.used {
                for found in self.follow(at, path, 0) {
                    let Found::ItemOf(to) = found else {
                        continue;
                    };
                    let (from, to) = (module.file, self.modules[to].file);
                    if from != to {
                        uses.entry((from, to)).or_insert_with(|| Use {
                            line: *line,
                            path: path.join("::"),
                        });
                    }
                }
            }
        }
        uses
    }

    fn add_file(&mut self, path: &str, parent: Option<usize>) -> Option<usize> {
        let file = self.repo?.get(path).filter(|file| !file.is_test())?;
        let parsed = syn::parse_file(&file.text).ok()?;
        self.files.push(file);
        Some(self.add_module(self.files.len() - 1, parent, &parsed.items, &[]))
    }

    /// `inline` names the inline modules around, from the file's own on.
    fn add_module(
        &mut self,
        file: usize,
        parent: Option<usize>,
        items: &[syn::Item],
        inline: &[String],
    ) -> usize {
        let at = self.modules.len();
        let mut reader = Reader {
            file: self.files[file],
            names: Names::default(),
        };
        for item in items {
            reader.define(item);
            reader.visit_item(item);
        }
        self.modules.push(Module {
            file,
            parent,
            names: reader.names,
            ..Module::default()
        });
        for item in items {
            let syn::Item::Mod(item) = item else {
                continue;
            };
            if needs_test(&item.attrs) {
                continue;
            }
            let name = item.ident.to_string();
            let child = match &item.content {
                Some((_, items)) => {
                    let inline = [inline, std::slice::from_ref(&name)].concat();
                    Some(self.add_module(file, Some(at), items, &inline))
                }
                None => {
                    let from = (self.files[file].path.as_str(), file == 0);
                    self.repo
                        .and_then(|repo| file_of(repo, from, item, inline))
                        .and_then(|path| self.add_file(&path, Some(at)))
                }
            };
            if let Some(child) = child {
                self.modules[at]
                    .children
                    .entry(name)
                    .or_default()
                    .push(child);
            }
        }
        at
    }

    /// What a path in the text of `module` leads to; nothing, if that is not of this crate.
    fn follow(&self, module: usize, path: &[String], depth: usize) -> Vec<Found> {
        let Some((first, mut rest)) = path.split_first() else {
            return Vec::new();
        };
        if depth > RE_EXPORTS_MAX {
            return Vec::new();
        }
        let mut found = match first.as_str() {
            "crate" => vec![Found::Module(0)],
            "self" => vec![Found::Module(module)],
            "super" => self.modules[module]
                .parent
                .map(Found::Module)
                .into_iter()
                .collect(),
            name => self.member(module, name, depth),
        };
        while let Some((name, after)) = rest.split_first() {
            let mut next = Vec::new();
            for one in found {
                match one {
                    Found::ItemOf(_) => next.push(one),
                    Found::Module(at) if name == "super" => {
                        next.extend(self.modules[at].parent.map(Found::Module));
                    }
                    Found::Module(at) => {
                        let members = self.member(at, name, depth);
                        // A macro may have made it.
                        let made = members.is_empty().then_some(Found::ItemOf(at));
                        next.extend(members.into_iter().chain(made));
                    }
                }
            }
            (found, rest) = (next, after);
        }
        found
    }

    /// What a name means inside a module.
    fn member(&self, at: usize, name: &str, depth: usize) -> Vec<Found> {
        let module = &self.modules[at];
        if let Some(children) = module.children.get(name) {
            return children.iter().copied().map(Found::Module).collect();
        }
        if module.names.defined.contains(name) {
            return vec![Found::ItemOf(at)];
        }
        if let Some(paths) = module.names.imported.get(name) {
            return self.follow_all(at, paths, depth);
        }
        let mut found = Vec::new();
        for one in self.follow_all(at, &module.names.globs, depth) {
            if let Found::Module(of) = one
                && of != at
                && depth < RE_EXPORTS_MAX
            {
                found.extend(self.member(of, name, depth + 1));
            }
        }
        found
    }

    fn follow_all(&self, at: usize, paths: &[Vec<String>], depth: usize) -> Vec<Found> {
        let mut found = Vec::new();
        for path in paths {
            for one in self.follow(at, path, depth + 1) {
                if !found.contains(&one) {
                    found.push(one);
                }
            }
        }
        found
    }
}

/// Whether an item is there only in tests.
fn needs_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else {
            return false;
        };
        let mut words = Vec::new();
        words_of(list.tokens.clone(), &mut words);
        let has = |word: &str| words.iter().any(|known| known == word);
        list.path.is_ident("cfg") && has("test") && !has("not") && !has("any")
    })
}

fn words_of(tokens: TokenStream, words: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(word) => words.push(word.to_string()),
            TokenTree::Group(group) => words_of(group.stream(), words),
            _ => {}
        }
    }
}

/// Reads the text of one module, without the modules in it.
struct Reader<'a> {
    file: &'a File,
    names: Names,
}

impl Reader<'_> {
    fn define(&mut self, item: &syn::Item) {
        let name = match item {
            syn::Item::Const(item) => &item.ident,
            syn::Item::Enum(item) => &item.ident,
            syn::Item::Fn(item) => &item.sig.ident,
            syn::Item::Static(item) => &item.ident,
            syn::Item::Struct(item) => &item.ident,
            syn::Item::Trait(item) => &item.ident,
            syn::Item::Type(item) => &item.ident,
            syn::Item::Union(item) => &item.ident,
            syn::Item::Macro(syn::ItemMacro {
                ident: Some(name), ..
            }) => name,
            _ => return,
        };
        self.names.defined.insert(name.to_string());
    }

    fn note(&mut self, path: Vec<String>, span: Span) {
        let start = span.start();
        let in_test = self
            .file
            .source
            .as_ref()
            .is_some_and(|source| source.in_test(span.byte_range().start));
        if !in_test {
            self.names.used.push((path, start.line));
        }
    }

    fn import(&mut self, tree: &syn::UseTree, before: &[String], re_exports: bool) {
        let path = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        let (name, to, span) = match tree {
            syn::UseTree::Path(tree) => {
                return self.import(&tree.tree, &path(&tree.ident), re_exports);
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, before, re_exports);
                }
                return;
            }
            syn::UseTree::Glob(glob) => {
                if !re_exports {
                    // All that is there, so what it defines itself.
                    self.note([before, &["*".to_string()]].concat(), glob.star_token.span);
                }
                self.names.globs.push(before.to_vec());
                return;
            }
            syn::UseTree::Name(tree) if tree.ident == "self" => match before.last() {
                Some(last) => (last.clone(), before.to_vec(), tree.ident.span()),
                None => return,
            },
            syn::UseTree::Name(tree) => {
                (tree.ident.to_string(), path(&tree.ident), tree.ident.span())
            }
            syn::UseTree::Rename(tree) => (
                tree.rename.to_string(),
                path(&tree.ident),
                tree.ident.span(),
            ),
        };
        if !re_exports {
            self.note(to.clone(), span);
        }
        self.names.imported.entry(name).or_default().push(to);
    }

    /// The paths among the arguments of a macro, which nobody has parsed.
    fn scan(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let (mut first, mut colons, mut after_dot) = (Span::call_site(), 0, false);
        for token in tokens {
            match token {
                TokenTree::Ident(word) => {
                    if colons != 2 {
                        self.end_path(&mut path, first);
                    }
                    if path.is_empty() {
                        first = word.span();
                    }
                    if !after_dot {
                        path.push(word.to_string());
                    }
                    (colons, after_dot) = (0, false);
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                other => {
                    self.end_path(&mut path, first);
                    (colons, after_dot) = (
                        0,
                        matches!(&other, TokenTree::Punct(mark) if mark.as_char() == '.'),
                    );
                    if let TokenTree::Group(group) = other {
                        self.scan(group.stream());
                    }
                }
            }
        }
        self.end_path(&mut path, first);
    }

    fn end_path(&mut self, path: &mut Vec<String>, first: Span) {
        if !path.is_empty() {
            self.note(std::mem::take(path), first);
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    // A module of its own.
    fn visit_item_mod(&mut self, _: &'ast syn::ItemMod) {}

    // `pub(in path)` uses nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !needs_test(&item.attrs) {
            let re_exports = !matches!(item.vis, syn::Visibility::Inherited);
            self.import(&item.tree, &[], re_exports);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let words = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string());
        if let Some(first) = path
            .segments
            .first()
            .filter(|_| path.leading_colon.is_none())
        {
            self.note(words.collect(), first.ident.span());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, invoked: &'ast syn::Macro) {
        self.scan(invoked.tokens.clone());
        visit::visit_macro(self, invoked);
    }
}
