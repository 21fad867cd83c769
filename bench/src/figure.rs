//! One figure: a table of what was measured, and the command that measures it again.

use std::fmt;

use serde::Serialize;
use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};

use crate::spread::Spread;

/// A table. Its sections begin as those of the other transcripts in `evidence/` do.
#[derive(Debug, Serialize)]
pub(crate) struct Figure {
    pub(crate) title: String,
    /// What makes it.
    pub(crate) command: &'static str,
    /// What there is one row for, and then what is measured of it, with the unit.
    pub(crate) columns: Vec<&'static str>,
    pub(crate) rows: Vec<Row>,
    /// What else has to be known.
    pub(crate) note: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) of: String,
    pub(crate) measured: Vec<Spread>,
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Builder::default();
        table.push_record(self.columns.iter().copied());
        for Row { of, measured } in &self.rows {
            table.push_record([of.clone()].into_iter().chain(measured.iter().map(Spread::to_string)));
        }
        let mut table = table.build();
        table.with(Style::psql()).modify(Columns::new(1..), Alignment::right());
        let table = table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        write!(f, "=== {}\n$ {}\n{table}", self.title, self.command)?;
        if self.note.is_empty() { Ok(()) } else { write!(f, "\n{}", self.note) }
    }
}
