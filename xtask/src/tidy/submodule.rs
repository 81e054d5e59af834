//! Where the text of `mod name;` is.

use crate::repo::Repo;

/// The file of `mod name;` in the file at `path`, inside the inline modules `inline`; `None` if there is none.
/// `is_root` says that a crate begins at `path`.
pub(super) fn file_of(
    repo: &Repo,
    (path, is_root): (&str, bool),
    item: &syn::ItemMod,
    inline: &[String],
) -> Option<String> {
    let (folder, own) = path.rsplit_once('/')?;
    if let Some(written) = item.attrs.iter().find_map(written) {
        return Some(format!("{folder}/{written}"));
    }
    let mut path = folder.to_string();
    let stem = own.trim_end_matches(".rs");
    let below = (!is_root && stem != "mod").then_some(stem);
    for part in below.into_iter().chain(inline.iter().map(String::as_str)) {
        path = format!("{path}/{part}");
    }
    let name = &item.ident;
    let both = [format!("{path}/{name}.rs"), format!("{path}/{name}/mod.rs")];
    both.into_iter().find(|path| repo.get(path).is_some())
}

/// The text of `#[path = "text"]`.
fn written(attribute: &syn::Attribute) -> Option<String> {
    match &attribute.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Str(text),
                ..
            }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}
