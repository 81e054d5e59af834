//! Files of at most 500 lines, functions of at most 70, with an allow-list that can only shrink.
//!
//! `xtask/allow.txt` holds `PATH LINES` for a file and `PATH#FUNCTION LINES` for a function.
//! An allowance that is larger than needed is a finding too, so the list follows every improvement.

use std::collections::BTreeMap;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::Finding;
use crate::repo::Repo;

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;
const ALLOW: &str = "xtask/allow.txt";

/// The length of a file, or of the longest function of one name in a file.
struct Size {
    path: String,
    line: usize,
    lines: usize,
    max: usize,
}

/// Checks all sizes against the limits and the allow-list.
pub(super) fn sizes(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    let sizes = measure(repo, &mut findings);
    let allowed = allowances(repo, &mut findings);
    for (name, size) in &sizes {
        let allowance = allowed.get(name).map_or(size.max, |(_, lines)| *lines);
        if size.lines > allowance {
            let found = format!("`{name}` has {} lines", size.lines);
            let expected = format!("at most {allowance}: split it by concept");
            findings.push(Finding::new(&size.path, size.line, found, expected));
        }
    }
    for (name, (line, allowance)) in allowed {
        let expected = match sizes.get(&name) {
            None => "delete the line: there is no such file or function".to_string(),
            Some(size) if size.lines <= size.max => {
                "delete the line: not needed any more".to_string()
            }
            Some(size) if size.lines < allowance => format!("shrink it to {}", size.lines),
            Some(_) => continue,
        };
        let found = format!("`{name}` is allowed {allowance} lines");
        findings.push(Finding::new(ALLOW, line, found, expected));
    }
    findings
}

fn measure(repo: &Repo, findings: &mut Vec<Finding>) -> BTreeMap<String, Size> {
    let mut sizes = BTreeMap::new();
    for (file, _) in repo.rust() {
        let lines = file.text.lines().count();
        let path = || file.path.clone();
        sizes.insert(
            path(),
            Size {
                path: path(),
                line: 1,
                lines,
                max: FILE_LINES_MAX,
            },
        );
        let mut functions = Functions::default();
        match syn::parse_file(&file.text) {
            Ok(parsed) => functions.visit_file(&parsed),
            Err(error) => {
                let found = format!("cannot be parsed ({error})");
                let line = error.span().start().line;
                findings.push(Finding::new(&file.path, line, found, "Rust that compiles"));
            }
        }
        for (function, line, lines) in functions.0 {
            let size = Size {
                path: path(),
                line,
                lines,
                max: FUNCTION_LINES_MAX,
            };
            let longest = sizes
                .entry(format!("{}#{function}", file.path))
                .or_insert(size);
            if lines > longest.lines {
                (longest.line, longest.lines) = (line, lines);
            }
        }
    }
    sizes
}

fn allowances(repo: &Repo, findings: &mut Vec<Finding>) -> BTreeMap<String, (usize, usize)> {
    let mut allowed = BTreeMap::new();
    let Some(file) = repo.get(ALLOW) else {
        return allowed;
    };
    for (at, line) in file.text.lines().enumerate() {
        let line = line.split(" #").next().unwrap_or("").trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let entry = line
            .rsplit_once(' ')
            .and_then(|(name, n)| Some((name, n.parse().ok()?)));
        match entry {
            Some((name, lines)) => {
                allowed.insert(name.trim().to_string(), (at + 1, lines));
            }
            None => {
                let expected = "`PATH LINES` or `PATH#FUNCTION LINES`";
                findings.push(Finding::new(ALLOW, at + 1, format!("`{line}`"), expected));
            }
        }
    }
    allowed
}

/// Name, first line and number of lines of every function, from its signature to its last brace.
#[derive(Default)]
struct Functions(Vec<(String, usize, usize)>);

impl Functions {
    fn add(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let first = signature.span().start().line;
        let last = block.span().end().line;
        self.0
            .push((signature.ident.to_string(), first, last + 1 - first));
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.add(&function.sig, block);
        }
        visit::visit_trait_item_fn(self, function);
    }
}
