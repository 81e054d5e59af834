//! Atomics and threads come through platform module, `crates/core/src/platform`, so that loom can stand
//! behind it. A crate's own code that goes past the platform module is code no model checks.

use regex::Regex;
use syn::UseTree;
use syn::visit::{self, Visit};

use super::Finding;
use crate::repo::Repo;

const FORBIDDEN: &str = r"\b((?:std|core)::sync::atomic|std::thread|loom::|shuttle::)";

/// No crate's own code names std's atomics or threads, or a model checker, except the platform module.
pub(super) fn only_platform(repo: &Repo) -> Vec<Finding> {
    let forbidden = Regex::new(FORBIDDEN).expect("a valid pattern");
    let mut findings = Vec::new();
    for (file, source) in repo.rust().filter(|(file, _)| file.is_crate_source()) {
        if file.path.starts_with("crates/core/src/platform/")
            || file.path == "crates/core/src/platform.rs"
        {
            continue;
        }
        let mut lines = Vec::new();
        for found in forbidden.find_iter(&source.code) {
            let next = source.code[found.end()..].chars().next().unwrap_or(' ');
            let longer_name = found.as_str().ends_with(|last: char| last != ':')
                && (next.is_alphanumeric() || next == '_');
            if !longer_name && !source.in_test(found.start()) {
                lines.push((source.line(found.start()), found.as_str().to_string()));
            }
        }
        let mut imports = Imports::default();
        if let Ok(parsed) = syn::parse_file(&file.text) {
            imports.visit_file(&parsed);
        }
        for (line, path) in imports.0 {
            let known = lines.iter().any(|(at, _)| *at == line);
            if let Some(found) = forbidden.find(&path).filter(|found| found.start() == 0)
                && !known
                && path_ends(&path, found.end())
            {
                lines.push((line, path));
            }
        }
        for (line, path) in lines {
            let found = format!("`{path}` past the platform module");
            let expected = "import it from `gossamer_core::platform`";
            findings.push(Finding::new(&file.path, line, found, expected));
        }
    }
    findings
}

fn path_ends(path: &str, at: usize) -> bool {
    path[..at].ends_with(':') || path.len() == at || path[at..].starts_with("::")
}

/// Line and full path of every import, with nested braces written out.
#[derive(Default)]
struct Imports(Vec<(usize, String)>);

impl Imports {
    fn add(&mut self, before: &str, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => self.add(&format!("{before}{}::", path.ident), &path.tree),
            UseTree::Name(name) => self.push(before, &name.ident),
            UseTree::Rename(rename) => self.push(before, &rename.ident),
            UseTree::Glob(glob) => {
                self.0
                    .push((glob.star_token.spans[0].start().line, format!("{before}*")));
            }
            UseTree::Group(group) => group.items.iter().for_each(|item| self.add(before, item)),
        }
    }

    fn push(&mut self, before: &str, name: &syn::Ident) {
        // `use std::sync::atomic::{self}` imports the path before it.
        let path = match name == "self" {
            true => before.trim_end_matches("::").to_string(),
            false => format!("{before}{name}"),
        };
        self.0.push((name.span().start().line, path));
    }
}

impl<'ast> Visit<'ast> for Imports {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.add("", &item.tree);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let is_test = |attribute: &syn::Attribute| {
            attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|path| path.is_ident("test"))
        };
        if !item.attrs.iter().any(is_test) {
            visit::visit_item_mod(self, item);
        }
    }
}
