//! `unsafe` lives in few, named files, each use has its reason, and every other crate forbids it.

use std::collections::BTreeMap;

use regex::Regex;
use syn::visit::{self, Visit};
use toml::{Table, Value};

use super::Finding;
use crate::repo::{File, Repo};
use crate::source::Source;

const LIST: &str = "docs/UNSAFE.md";

/// The offsets of the word `unsafe` in code.
fn uses(source: &Source) -> impl Iterator<Item = usize> {
    let word = Regex::new(r"\bunsafe\b").expect("a valid pattern");
    let found: Vec<usize> = word
        .find_iter(&source.code)
        .map(|found| found.start())
        .collect();
    found.into_iter()
}

/// The files with `unsafe` are those that `docs/UNSAFE.md` lists.
pub(super) fn only_where_listed(repo: &Repo) -> Vec<Finding> {
    let row = Regex::new(r"^\|\s*`([^`]+\.rs)`\s*\|").expect("a valid pattern");
    let mut listed = BTreeMap::new();
    for (at, line) in repo
        .get(LIST)
        .map_or("", |file| &file.text)
        .lines()
        .enumerate()
    {
        if let Some(found) = row.captures(line) {
            listed.insert(found[1].to_string(), at + 1);
        }
    }
    let mut findings = Vec::new();
    for (file, source) in repo.rust() {
        let first = uses(source).next();
        match (first, listed.remove(&file.path)) {
            (Some(at), None) => {
                let expected = format!("safe code, or a row for this file in {LIST}");
                let line = source.line(at);
                findings.push(Finding::new(&file.path, line, "`unsafe`", expected));
            }
            (None, Some(line)) => {
                let found = format!("`{}` is listed and has no `unsafe`", file.path);
                findings.push(Finding::new(LIST, line, found, "delete the row"));
            }
            _ => {}
        }
    }
    for (path, line) in listed {
        let found = format!("`{path}` is listed and does not exist");
        findings.push(Finding::new(LIST, line, found, "delete the row"));
    }
    findings
}

/// Every `unsafe` block, `impl` and attribute has `// SAFETY:`; every `unsafe fn` and `trait` says
/// what its caller promises under `# Safety` (or in a `// SAFETY:` comment, where nobody reads docs).
pub(super) fn each_has_its_reason(repo: &Repo) -> Vec<Finding> {
    let kind = Regex::new(r#"^unsafe\s*(\{|impl\b|trait\b|\(|extern\s*(?:"\s*"\s*)?\{|(?:extern\s*(?:"\s*"\s*)?)?fn\s*(\()?)"#)
        .expect("a valid pattern");
    let mut findings = Vec::new();
    for (file, source) in repo.rust() {
        let mut methods = TraitMethods::default();
        if let Ok(parsed) = syn::parse_file(&file.text) {
            methods.visit_file(&parsed);
        }
        for at in uses(source) {
            let line = source.line(at);
            let what = kind.captures(&source.code[at..]).map(|found| {
                let pointer_type = found.get(2).is_some();
                (found[1].to_string(), pointer_type)
            });
            let declares = match &what {
                Some((_, true)) => continue,
                Some((what, _)) => what.contains("fn") || what == "trait",
                None => false,
            };
            if declares && methods.0.contains(&line) {
                continue;
            }
            let above = comments_above(source, line);
            if above.contains("SAFETY:") || (declares && above.contains("# Safety")) {
                continue;
            }
            let what = what.map_or(String::new(), |(what, _)| format!(" {what}"));
            let expected = match declares {
                true => "`# Safety` in its docs: what the caller promises",
                false => "`// SAFETY:` just above: why each condition holds",
            };
            let found = format!("`unsafe{what}` without its reason");
            findings.push(Finding::new(&file.path, line, found, expected));
        }
    }
    findings
}

/// The comments on `line` and just above the statement or item that it belongs to.
fn comments_above(source: &Source, line: usize) -> String {
    let mut text = source.comment_line(line).to_string();
    for line in (1..line).rev() {
        let (code, comment) = (source.code_line(line), source.comment_line(line));
        // Another statement ends here: what stands above belongs to that one.
        let ends = code.ends_with([';', '{', '}', ',']) && !code.starts_with('#');
        if ends || (code.is_empty() && comment.is_empty()) {
            break;
        }
        text.push_str(comment);
        text.push('\n');
    }
    text
}

/// The lines of methods in `impl Trait for`: the trait's docs hold their contract.
#[derive(Default)]
struct TraitMethods(Vec<usize>);

impl<'ast> Visit<'ast> for TraitMethods {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        for member in item.items.iter().filter(|_| item.trait_.is_some()) {
            if let syn::ImplItem::Fn(method) = member {
                self.0.push(method.sig.fn_token.span.start().line);
            }
        }
        visit::visit_item_impl(self, item);
    }
}

/// Every crate of ours without `unsafe` says `#![forbid(unsafe_code)]` in each of its roots.
pub(super) fn forbidden_elsewhere(repo: &Repo) -> Vec<Finding> {
    let forbids =
        Regex::new(r"#!\s*\[\s*forbid\s*\([^)]*\bunsafe_code\b").expect("a valid pattern");
    let mut findings = Vec::new();
    for manifest in repo.files().filter(|file| is_ours(&file.path)) {
        let folder = manifest.path.trim_end_matches("Cargo.toml");
        let roots = roots(repo, manifest, folder);
        if roots.is_empty() {
            let expected = "src/lib.rs, src/main.rs or a target with a path";
            findings.push(Finding::new(
                &manifest.path,
                1,
                "a crate without a root",
                expected,
            ));
        }
        for (root, source) in roots {
            // The files of a root are those beside and below it.
            let beside = root
                .path
                .rsplit_once('/')
                .map_or(0, |(folder, _)| folder.len() + 1);
            let mut files = repo
                .rust()
                .filter(|(file, _)| file.path.starts_with(&root.path[..beside]));
            let has_unsafe = files.any(|(_, source)| uses(source).next().is_some());
            if !has_unsafe && !forbids.is_match(&source.code) {
                let found = "a crate without `unsafe` that does not forbid it";
                let expected = "`#![forbid(unsafe_code)]`";
                findings.push(Finding::new(&root.path, 1, found, expected));
            }
        }
    }
    findings
}

fn is_ours(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    matches!(
        parts.as_slice(),
        ["crates", _, "Cargo.toml"] | ["lab" | "xtask" | "tests", "Cargo.toml"]
    )
}

/// The crate's roots: the usual files, and targets that name a path.
fn roots<'a>(repo: &'a Repo, manifest: &File, folder: &str) -> Vec<(&'a File, &'a Source)> {
    let table: Table = manifest.text.parse().unwrap_or_default();
    let path = |target: &Value| {
        target
            .get("path")
            .and_then(Value::as_str)
            .map(str::to_string)
    };
    let mut paths: Vec<String> = table.get("lib").and_then(path).into_iter().collect();
    // The cross-crate suite is a package of tests; elsewhere a test may need what its crate does not.
    let kinds: &[&str] = if folder == "tests/" {
        &["bin", "test"]
    } else {
        &["bin"]
    };
    for kind in kinds {
        let targets = table.get(*kind).and_then(Value::as_array);
        paths.extend(targets.into_iter().flatten().filter_map(path));
    }
    paths.extend(["src/lib.rs", "src/main.rs"].map(str::to_string));
    paths.sort();
    paths.dedup();
    let file = |path: &String| {
        let file = repo.get(&format!("{folder}{path}"))?;
        Some((file, file.source.as_ref()?))
    };
    paths.iter().filter_map(file).collect()
}
