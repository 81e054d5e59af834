//! What each type name of the facade means: one thing, under whatever paths.
//!
//! The check reads what `pub use` says, from the facade down to the definitions. An alias means what it is an alias of,
//! so the flavours of a primitive (`sync::Mutex`, `local::Mutex`, `raw::Mutex`) are one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use syn::{Item, UseTree, Visibility};

use super::Finding;
use super::retired::{TABLE, Words};
use crate::repo::Repo;

/// Where the facade is.
const FACADE: &str = "crates/gossamer/src/lib.rs";

/// A type that a macro is given to define.
static MADE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\bpub (?:struct|enum) (\w+)").expect("a valid pattern"));

/// A type that the facade has: its name, the file that defines it, and a path by which it is reached.
type Types = BTreeMap<String, BTreeMap<String, String>>;

/// No type name of the facade means two things, unless the table says why.
pub(super) fn one_meaning_a_name(repo: &Repo) -> Vec<Finding> {
    let words = match Words::of(repo) {
        Ok(words) => words,
        // The other check tells.
        Err(_) => return Vec::new(),
    };
    let mut walk = Walk {
        repo,
        types: Types::new(),
        seen: BTreeSet::new(),
        depth: 0,
    };
    walk.module(FACADE, "gossamer", None);
    let several = |(name, defined): (&String, &BTreeMap<String, String>)| {
        let where_ = defined
            .iter()
            .map(|(file, path)| format!("{path} ({file})"));
        (defined.len() > 1).then(|| (name.clone(), where_.collect::<Vec<_>>().join(", ")))
    };
    let several: BTreeMap<_, _> = walk.types.iter().filter_map(several).collect();
    let refused = several
        .iter()
        .filter(|(name, _)| !words.roles.contains_key(*name));
    let mut findings: Vec<_> = refused
        .map(|(name, paths)| {
            let found = format!("the type name `{name}` means several things: {paths}");
            Finding::new(
                FACADE,
                1,
                found,
                format!("a name for each, or a reason in {TABLE}"),
            )
        })
        .collect();
    let needless = words
        .roles
        .keys()
        .filter(|name| !several.contains_key(*name));
    findings.extend(needless.filter(|_| repo.get(FACADE).is_some()).map(|name| {
        let found = format!("`{name}` means one thing by now");
        Finding::new(TABLE, 1, found, "no reason for more")
    }));
    findings
}

struct Walk<'a> {
    repo: &'a Repo,
    types: Types,
    seen: BTreeSet<(String, String, Option<String>)>,
    /// How many inline modules deep the walk is in its file.
    depth: usize,
}

impl Walk<'_> {
    /// What the module in `file` shows under `path`: all of it, or only what is called `only`.
    fn module(&mut self, file: &str, path: &str, only: Option<&str>) {
        let key = (file.to_string(), path.to_string(), only.map(str::to_string));
        let Some(text) = self.repo.get(file).filter(|_| self.seen.insert(key)) else {
            return;
        };
        if let Ok(parsed) = syn::parse_file(&text.text) {
            self.inline(&parsed.items, 0, file, path, only);
        }
    }

    /// What these items show, which are so many inline modules deep.
    fn inline(&mut self, items: &[Item], depth: usize, file: &str, path: &str, only: Option<&str>) {
        let before = std::mem::replace(&mut self.depth, depth);
        self.items(items, file, path, only);
        self.depth = before;
    }

    fn items(&mut self, items: &[Item], file: &str, path: &str, only: Option<&str>) {
        let wanted = |name: &str| only.is_none_or(|only| only == name);
        for item in items {
            match item {
                Item::Struct(item) => self.define(&item.vis, &item.ident, file, path, only),
                Item::Enum(item) => self.define(&item.vis, &item.ident, file, path, only),
                Item::Union(item) => self.define(&item.vis, &item.ident, file, path, only),
                Item::Trait(item) => self.define(&item.vis, &item.ident, file, path, only),
                // `pin_project! { pub struct … }`
                Item::Macro(item) => {
                    let text = item.mac.tokens.to_string();
                    for name in MADE.captures_iter(&text).filter(|name| wanted(&name[1])) {
                        self.note(&name[1], file, path);
                    }
                }
                Item::Mod(item) if is_public(&item.vis) && wanted(&item.ident.to_string()) => {
                    let inner = format!("{path}::{}", item.ident);
                    match &item.content {
                        Some((_, items)) => self.inline(items, self.depth + 1, file, &inner, None),
                        None => {
                            if let Some(child) = self.child(file, &item.ident.to_string()) {
                                self.module(&child, &inner, None);
                            }
                        }
                    }
                }
                Item::Use(item) if is_public(&item.vis) => {
                    self.reexport(&item.tree, &mut Vec::new(), file, path, only);
                }
                _ => {}
            }
        }
    }

    fn define(
        &mut self,
        vis: &Visibility,
        name: &syn::Ident,
        file: &str,
        path: &str,
        only: Option<&str>,
    ) {
        let name = name.to_string();
        if is_public(vis) && only.is_none_or(|only| only == name) {
            self.note(&name, file, path);
        }
    }

    fn note(&mut self, name: &str, file: &str, path: &str) {
        let defined = self.types.entry(name.to_string()).or_default();
        let reached = defined.entry(file.to_string()).or_default();
        if reached.is_empty() {
            *reached = format!("{path}::{name}");
        }
    }

    /// Follows one `pub use`.
    fn reexport(
        &mut self,
        tree: &UseTree,
        from: &mut Vec<String>,
        file: &str,
        path: &str,
        only: Option<&str>,
    ) {
        match tree {
            UseTree::Path(tree) => {
                from.push(tree.ident.to_string());
                self.reexport(&tree.tree, from, file, path, only);
                from.pop();
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.reexport(tree, from, file, path, only);
                }
            }
            UseTree::Name(name) => {
                let name = name.ident.to_string();
                if only.is_none_or(|only| only == name) {
                    self.named(from, &name, &name, file, path);
                }
            }
            UseTree::Rename(rename) => {
                let name = rename.rename.to_string();
                if only.is_none_or(|only| only == name) {
                    self.named(from, &rename.ident.to_string(), &name, file, path);
                }
            }
            UseTree::Glob(_) => {
                if let Some((source, inline)) = self.find(from, file) {
                    self.shown(&source, &inline, path, only);
                }
            }
        }
    }

    /// One name that is shown: a module with all it shows, or an item.
    fn named(&mut self, from: &[String], name: &str, shown: &str, file: &str, path: &str) {
        let mut module = from.to_vec();
        module.push(name.to_string());
        if let Some((source, inline)) = self.find(&module, file) {
            self.shown(&source, &inline, &format!("{path}::{shown}"), None);
        }
        if let Some((source, inline)) = self.find(from, file) {
            self.shown(&source, &inline, path, Some(name));
        }
    }

    /// What a module shows that is in a file, or inline there.
    fn shown(&mut self, file: &str, inline: &[String], path: &str, only: Option<&str>) {
        let [first, rest @ ..] = inline else {
            return self.module(file, path, only);
        };
        let Some(parsed) = self
            .repo
            .get(file)
            .and_then(|text| syn::parse_file(&text.text).ok())
        else {
            return;
        };
        if let Some(items) = inside(&parsed.items, first, rest) {
            self.inline(items, inline.len(), file, path, only);
        }
    }

    /// The file of a module, and the modules inside that lead to it.
    fn find(&self, path: &[String], from: &str) -> Option<(String, Vec<String>)> {
        let mut file = from.to_string();
        let mut inline = Vec::new();
        let mut depth = self.depth;
        for (at, part) in path.iter().enumerate() {
            match part.as_str() {
                "self" => {}
                "super" if depth > 0 => depth -= 1,
                "super" => file = self.parent(&file)?,
                "crate" => file = format!("{}/src/lib.rs", crate_of(&file)?),
                part if at == 0 && part.starts_with("gossamer_") => {
                    file = format!("crates/{}/src/lib.rs", &part["gossamer_".len()..]);
                    self.repo.get(&file)?;
                }
                part => match self.child(&file, part).filter(|_| inline.is_empty()) {
                    Some(child) => file = child,
                    None => {
                        let text = &self.repo.get(&file)?.text;
                        let inner = format!("mod {part} {{");
                        text.contains(&inner)
                            .then(|| inline.push(part.to_string()))?;
                    }
                },
            }
        }
        Some((file, inline))
    }

    fn child(&self, file: &str, name: &str) -> Option<String> {
        let folder = file
            .strip_suffix("/lib.rs")
            .or_else(|| file.strip_suffix("/mod.rs"));
        let folder = folder.unwrap_or_else(|| file.trim_end_matches(".rs"));
        let files = [
            format!("{folder}/{name}.rs"),
            format!("{folder}/{name}/mod.rs"),
        ];
        files.into_iter().find(|file| self.repo.get(file).is_some())
    }

    fn parent(&self, file: &str) -> Option<String> {
        let folder = file.strip_suffix("/mod.rs").unwrap_or(file);
        let (folder, _) = folder.rsplit_once('/')?;
        let files = [
            format!("{folder}.rs"),
            format!("{folder}/mod.rs"),
            format!("{folder}/lib.rs"),
        ];
        files.into_iter().find(|file| self.repo.get(file).is_some())
    }
}

fn crate_of(file: &str) -> Option<&str> {
    file.split_once("/src/").map(|(name, _)| name)
}

fn inside<'a>(items: &'a [Item], first: &str, rest: &[String]) -> Option<&'a [Item]> {
    let module = items.iter().find_map(|item| match item {
        Item::Mod(module) if module.ident == first => module.content.as_ref(),
        _ => None,
    });
    let (_, items) = module?;
    match rest {
        [] => Some(items),
        [first, rest @ ..] => inside(items, first, rest),
    }
}

fn is_public(vis: &Visibility) -> bool {
    matches!(vis, Visibility::Public(_))
}
