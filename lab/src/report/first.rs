//! The opening of the report: who is first in each workload, and by how much, as a sentence and a picture.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::format::figure;
use crate::results::Row;

use super::chart::OPENING_PX;
use super::chart::bars::{Bar, chart};
use super::columns::Column;
use super::markup::{Element, el, text};
use super::means::geometric;
use super::races::{Race, plain};
use super::{class_of, family_of};

/// The family of what only shows what the machine can do, and is no contender here.
const CONTROL: &str = "control";

/// Who is first in one race, and by how much.
struct First<'a> {
    race: &'a Race<'a>,
    first: &'a Row,
    /// The quickest of the others if the first is ours, of ours if it is not; without any of these the
    /// next of another family.
    next: &'a Row,
    by: f64,
}

/// The sentence and the picture; nothing without a race of two.
#[must_use]
pub fn opening(columns: &[Column<'_>]) -> Vec<Element> {
    let firsts: Vec<First<'_>> = columns.iter().filter_map(|(_, race)| first(race)).collect();
    if firsts.is_empty() {
        return Vec::new();
    }
    let said = sentence(&firsts);
    let bars: Vec<Bar<'_>> = firsts.iter().map(bar).collect();
    let caption = "who is first in each workload, and how many times as quick as whom; logarithmic";
    let chart = chart(&bars, Some(1.0), OPENING_PX, &said);
    let figure = el("figure")
        .child(text("figcaption", caption))
        .children(chart);
    vec![
        text("p", &said).class("said"),
        el("div").class("scrolling opening").child(figure),
    ]
}

fn first<'a>(race: &'a Race<'a>) -> Option<First<'a>> {
    let measured = || {
        race.measured()
            .filter(|(row, _)| family_of(&row.contender) != CONTROL)
    };
    let (first, ns) = measured().next()?;
    let ours = |row: &Row| class_of(&row.contender) == "ours";
    let of_others = measured().find(|(row, _)| ours(row) != ours(first));
    let next_family =
        |(row, _): &(&Row, f64)| family_of(&row.contender) != family_of(&first.contender);
    let (next, next_ns) = of_others.or_else(|| measured().find(next_family))?;
    Some(First {
        race,
        first,
        next,
        by: next_ns / ns,
    })
}

fn sentence(firsts: &[First<'_>]) -> String {
    if let [only] = firsts {
        let (first, next) = (&only.first.contender, &only.next.contender);
        return format!(
            "{first} is first, {} × as quick as {next}.",
            figure(only.by)
        );
    }
    let mut families: BTreeMap<&str, Vec<&First<'_>>> = BTreeMap::new();
    for one in firsts {
        families
            .entry(family_of(&one.first.contender))
            .or_default()
            .push(one);
    }
    let mut families: Vec<_> = families.into_iter().collect();
    families.sort_by_key(|(_, own)| Reverse(own.len()));
    let parts = families.into_iter().map(|(family, own)| {
        let ratios: Vec<f64> = own.iter().map(|one| one.by).collect();
        let by = geometric(&ratios).map_or(f64::NAN, |mean| mean.mean);
        let before = match (
            class_of(&own[0].first.contender),
            class_of(&own[0].next.contender),
        ) {
            ("ours", _) => "the quickest other",
            (_, "ours") => family_of(&own[0].next.contender),
            _ => "the next",
        };
        format!(
            "{family} in {}, {} × as quick as {before}",
            own.len(),
            figure(by)
        )
    });
    let parts: Vec<String> = parts.collect();
    let count = firsts.len();
    format!(
        "First in {count} workloads or settings of them: {} (geometric means).",
        parts.join("; ")
    )
}

fn bar<'a>(one: &First<'a>) -> Bar<'a> {
    let (first, next) = (&one.first.contender, &one.next.contender);
    Bar {
        name: name(one.race),
        contender: first,
        category: None,
        value: one.by,
        range: None,
        label: format!("{first}, {} × {next}", figure(one.by)),
    }
}

/// The workload, with the options that are not the usual ones.
fn name(race: &Race<'_>) -> String {
    let usual = race.known().map(|known| known.usual_values().recorded());
    let other = race.setting.iter().filter(|(name, value)| {
        let usual = usual.as_ref().and_then(|usual| usual.get(name));
        usual != Some(value)
    });
    let other = other.map(|(name, value)| format!(" {name} {}", plain(value)));
    other.fold(race.workload.to_owned(), |all, one| all + &one)
}
