//! What the audit found, in words.

use command::text::wrapped;
use tabled::builder::Builder;
use tabled::settings::Style;

use super::audit::{Fault, Row};
use super::source::Barriers;

/// One line a kernel; then what is wrong with those that are only reported.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut table = Builder::default();
    table.push_record(["kernel", "barriers", "bar.sync", "ld/st.shared", "audit"]);
    for row in rows {
        table.push_record([
            row.kernel.clone(),
            in_source(row.source),
            row.barriers.to_string(),
            match row.generic {
                0 => row.shared.to_string(),
                generic => format!("{}, {generic} generic", row.shared),
            },
            row.fault.as_ref().map_or("ok", Fault::name).to_owned(),
        ]);
    }
    let table = table.build().with(Style::psql()).to_string();
    let mut lines: Vec<_> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    let faults = rows.iter().filter(|row| !row.refused);
    let faults = faults.filter_map(|Row { kernel, fault, .. }| Some((kernel, fault.as_ref()?)));
    let mut faults =
        faults.map(|(kernel, fault)| wrapped(&format!("  {kernel}: "), &fault.to_string())).peekable();
    if faults.peek().is_some() {
        lines.push("only reported:".to_owned());
    }
    lines.extend(faults);
    lines.join("\n")
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
    let fault = row.fault.as_ref()?;
    Some(match fault {
        Fault::Missing => format!("error: the PTX has no kernel {kernel}; no PTX was written"),
        Fault::Split(_) => format!(
            "error: the compiler split a barrier of {kernel}: {fault}, where threads of one block wait \
             apart (rust-lang/rust#137086); no PTX was written"
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
