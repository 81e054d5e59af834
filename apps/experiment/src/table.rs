//! A table for the terminal, with a bar behind each row.

#[cfg(test)]
mod tests;

/// A bar is at least so wide, however narrow the terminal is.
const LEAST_WIDTH: usize = 10;
/// Parts of a letter's width, from one eighth on.
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// A row.
#[derive(Debug, Clone)]
pub struct Row {
    /// What it says, a text for each column.
    pub cells: Vec<String>,
    /// How long its bar is; the longest of all is as wide as there is room for.
    pub length: f64,
}

/// The rows below their heads, the columns aligned to the right, within this width.
pub fn table(heads: &[&str], rows: &[Row], width: usize) -> String {
    let widths: Vec<usize> = heads
        .iter()
        .enumerate()
        .map(|(column, head)| {
            let cells = rows.iter().map(|row| row.cells[column].chars().count());
            cells.chain([head.chars().count()]).max().unwrap_or(0)
        })
        .collect();
    let used: usize = widths.iter().map(|width| width + 2).sum();
    let room = width.saturating_sub(used + 3).max(LEAST_WIDTH);
    let longest = rows.iter().map(|row| row.length).fold(0.0, f64::max);
    let line = |cells: &mut dyn Iterator<Item = &str>| -> String {
        let cells = cells.zip(&widths);
        cells
            .map(|(cell, width)| format!("  {cell:>width$}"))
            .collect()
    };
    let mut text = line(&mut heads.iter().copied()) + "\n";
    for row in rows {
        let cells = line(&mut row.cells.iter().map(String::as_str));
        let bar = bar(row.length, longest, room);
        let whole = format!("{cells}  {bar}");
        text += whole.trim_end();
        text.push('\n');
    }
    text
}

/// A bar of blocks and a part of one; a length that is not zero shows at least the smallest part.
fn bar(length: f64, longest: f64, room: usize) -> String {
    if length <= 0.0 || longest <= 0.0 {
        return String::new();
    }
    let eighths = (length / longest * room as f64 * 8.0).round().max(1.0) as usize;
    let mut bar = EIGHTHS[7].to_string().repeat(eighths / 8);
    bar.extend((eighths % 8).checked_sub(1).map(|part| EIGHTHS[part]));
    bar
}
