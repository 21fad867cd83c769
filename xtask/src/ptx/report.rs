//! What the audit found, in words.

use tabled::builder::Builder;
use tabled::settings::Style;

use super::audit::{Fault, Row};
use super::source::Barriers;

/// One line a kernel.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut table = Builder::default();
    table.push_record(["kernel", "barriers in source", "bar.sync in PTX", "shared accesses", "audit"]);
    for row in rows {
        table.push_record([
            row.kernel.clone(),
            in_source(row.source),
            row.barriers.to_string(),
            match row.generic {
                0 => format!("{} ld/st.shared", row.shared),
                generic => format!("{} ld/st.shared, {generic} generic", row.shared),
            },
            match &row.fault {
                None => "ok".to_owned(),
                Some(fault) if row.refused => fault.to_string(),
                Some(fault) => format!("{fault} (reported only)"),
            },
        ]);
    }
    let table = table.build().with(Style::psql()).to_string();
    table.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

fn in_source(barriers: Option<Barriers>) -> String {
    match barriers {
        None => "not seen".to_owned(),
        Some(Barriers { straight, looped: 0 }) => straight.to_string(),
        Some(Barriers { straight: 0, looped }) => format!("{looped} in loops"),
        Some(Barriers { straight, looped }) => format!("{straight}, and {looped} in loops"),
    }
}

/// A line for each kernel whose fault stops the build.
pub(crate) fn refusals(rows: &[Row]) -> Vec<String> {
    rows.iter().filter(|row| row.refused).filter_map(refusal).collect()
}

fn refusal(row: &Row) -> Option<String> {
    let Row { kernel, barriers, .. } = row;
    Some(match row.fault.as_ref()? {
        Fault::Missing => format!("error: the PTX has no kernel {kernel}; no PTX was written"),
        Fault::Split(place) => format!(
            "error: the compiler split a barrier of {kernel}: copies of {place} stand on alternative paths, where \
             threads of one block wait apart (rust-lang/rust#137086); no PTX was written"
        ),
        Fault::Count => format!(
            "error: the compiler left {barriers} bar.sync in {kernel} where the source has {} calls of \
             sync_threads (rust-lang/rust#137086 is one cause); no PTX was written",
            in_source(row.source)
        ),
        Fault::Generic(leaks) => format!(
            "error: the compiler made {leaks} uses of a shared array in {kernel} that are neither ld.shared nor \
             st.shared (Rust-GPU/rust-cuda#402 is one cause); no PTX was written"
        ),
    })
}
