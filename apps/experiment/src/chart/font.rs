//! The font that a PNG is written with: one of the system's.

use fontdb::{Database, Family, Query, Style};
use plotters::style::{FontStyle, register_font};

const NONE: &str = "a PNG needs a font, and none was found: install one (Debian: fonts-dejavu-core), or write --svg";

/// Finds a font, and gives it to plotters under the name that the charts use.
pub(super) fn register() -> Result<(), String> {
    let mut fonts = Database::new();
    fonts.load_system_fonts();
    let bytes = find(&fonts).ok_or(NONE)?;
    // Plotters keeps fonts for ever, and a run of the program registers one.
    let registered = register_font("sans-serif", FontStyle::Normal, bytes.leak());
    registered.map_err(|_| NONE.into())
}

/// A plain one without serifs, if there is one.
pub(super) fn find(fonts: &Database) -> Option<Vec<u8>> {
    let usual = ["DejaVu Sans", "Noto Sans", "Liberation Sans", "Arial"];
    let families: Vec<_> = usual.iter().map(|name| Family::Name(name)).collect();
    let query = Query {
        families: &families,
        ..Query::default()
    };
    let usual = fonts.query(&query);
    let any = || {
        let mut faces = fonts.faces();
        faces.find(|face| face.index == 0 && face.style == Style::Normal)
    };
    let id = usual.or_else(|| any().map(|face| face.id))?;
    fonts.with_face_data(id, |bytes, _| bytes.to_vec())
}
