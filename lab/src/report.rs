//! The report: one HTML file that needs nothing beside it, with chart, table, machine, commands
//! and the JSON itself.

use std::fmt::Write;

use anyhow::Result;

use crate::chart;
use crate::format::figure;
use crate::results::Results;
use crate::table::{COLUMNS, cells, fastest, headings, sorted, status_text};

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;\
padding:0 1rem;color:#1f2933}table{border-collapse:collapse}td,th{padding:.2rem .6rem;\
text-align:right;border-bottom:1px solid #e4e7eb}td:first-child,th:first-child,td.why{\
text-align:left}td.why{color:#8d5b00}pre{overflow:auto;background:#f5f7fa;padding:1rem}\
svg{max-width:100%;height:auto}dt{font-weight:600}dd{margin:0 0 .4rem}";

/// Text in which nothing is markup.
#[must_use]
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// The whole page; `op` is what one operation is called, and what many are.
///
/// # Errors
/// The chart cannot be drawn.
pub fn html(title: &str, op: [&str; 2], results: &Results) -> Result<String> {
    let mut page = String::new();
    let (title, [one, many]) = (escape(title), op);
    write!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n\
         <p>Whole processes; a claim is a ratio from one run of the lab. \
         A row with fewer {many} than the others includes more of its start.</p>\n"
    )?;
    page.push_str(&chart::svg(results, one)?);
    push_table(&mut page, op, results)?;
    push_machine(&mut page, results)?;
    push_commands(&mut page, results)?;
    let json = escape(&serde_json::to_string_pretty(results)?);
    writeln!(
        page,
        "<h2>JSON</h2>\n<details><summary>all of it</summary><pre>{json}</pre></details>"
    )?;
    page.push_str("</body></html>\n");
    Ok(page)
}

fn push_table(page: &mut String, op: [&str; 2], results: &Results) -> Result<()> {
    page.push_str("<h2>Table</h2>\n<table><tr>");
    for heading in headings(op) {
        write!(page, "<th>{heading}</th>")?;
    }
    page.push_str("</tr>\n");
    let fastest = fastest(results);
    for row in sorted(results) {
        page.push_str("<tr>");
        if let Some(cells) = cells(row, fastest) {
            for cell in cells {
                write!(page, "<td>{}</td>", escape(&cell))?;
            }
        } else {
            let (name, why) = (escape(&row.contender), escape(&status_text(row)));
            write!(
                page,
                "<td>{name}</td><td class=\"why\" colspan=\"{}\">{why}</td>",
                COLUMNS - 1
            )?;
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table>\n");
    Ok(())
}

fn push_machine(page: &mut String, results: &Results) -> Result<()> {
    page.push_str("<h2>Machine</h2>\n<dl>");
    let machine = serde_json::to_value(&results.machine)?;
    for (key, value) in machine.as_object().into_iter().flatten() {
        let text = match value {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        write!(page, "<dt>{key}</dt><dd>{}</dd>", escape(&text))?;
    }
    page.push_str("</dl>\n");
    Ok(())
}

fn push_commands(page: &mut String, results: &Results) -> Result<()> {
    page.push_str("<h2>Commands</h2>\n<p>From the root of the checkout.</p>\n<pre>");
    for row in &results.results {
        let walls: Vec<String> = row
            .raw_wall_s
            .iter()
            .map(|wall| figure(wall * 1e3))
            .collect();
        writeln!(
            page,
            "{}\n  {}",
            escape(&row.contender),
            escape(&row.command)
        )?;
        if !walls.is_empty() {
            writeln!(page, "  milliseconds: {}", walls.join(" "))?;
        }
        for note in row.note.iter().chain(&row.said) {
            writeln!(page, "  {}", escape(note))?;
        }
    }
    page.push_str("</pre>\n");
    Ok(())
}
