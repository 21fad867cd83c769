//! Where functions were inlined, as debug information has it.

use std::collections::HashMap;

use gimli::{AttributeValue, DebugAbbrev, DebugInfo, LittleEndian, UnitHeader, UnitOffset};

type Reader<'b> = gimli::EndianSlice<'b, LittleEndian>;

/// The instructions of a function, or of one that was inlined in it.
#[derive(Debug)]
pub(crate) struct Scope {
    /// Addresses of the first instruction, and of the one behind the last. Those between need not all be of this scope: a compiler for PTX
    /// names one range even where there are gaps.
    pub(crate) low: u64,
    pub(crate) high: u64,
    /// The function, by its place in the debug information.
    pub(crate) function: usize,
    /// File by the number of its directive, line and column of the call that was inlined.
    pub(crate) call: (u32, u32, u32),
    /// The scope of that call; `None` for a function that was not inlined.
    pub(crate) parent: Option<usize>,
}

/// The scopes, outer ones before the inner.
///
/// # Errors
/// If the sections are not DWARF.
pub(crate) fn scopes(sections: &HashMap<&str, Vec<u8>>) -> gimli::Result<Vec<Scope>> {
    let section = |name: &str| sections.get(name).map_or(&[][..], Vec::as_slice);
    let info = DebugInfo::new(section("debug_info"), LittleEndian);
    let abbreviations = DebugAbbrev::new(section("debug_abbrev"), LittleEndian);
    let mut scopes = Vec::new();
    let mut units = info.units();
    while let Some(unit) = units.next()? {
        of_unit(&unit, &abbreviations, &mut scopes)?;
    }
    Ok(scopes)
}

fn of_unit(
    unit: &UnitHeader<Reader<'_>>,
    abbreviations: &DebugAbbrev<Reader<'_>>,
    scopes: &mut Vec<Scope>,
) -> gimli::Result<()> {
    let start = unit.debug_info_offset().map_or(0, |offset| offset.0);
    let abbreviations = unit.abbreviations(abbreviations)?;
    let mut entries = unit.entries(&abbreviations);
    // The scopes around the entry, with their depth.
    let mut around: Vec<(isize, usize)> = Vec::new();
    while let Some(entry) = entries.next_dfs()? {
        let depth = entry.depth();
        while around.last().is_some_and(|&(outer, _)| outer >= depth) {
            around.pop();
        }
        let inlined = entry.tag() == gimli::DW_TAG_inlined_subroutine;
        if !inlined && entry.tag() != gimli::DW_TAG_subprogram {
            continue;
        }
        let number = |name| entry.attr_value(name).and_then(|value| value.udata_value());
        let number = |name| number(name).and_then(|value| u32::try_from(value).ok()).unwrap_or(0);
        let Some(AttributeValue::Addr(low)) = entry.attr_value(gimli::DW_AT_low_pc) else { continue };
        let high = match entry.attr_value(gimli::DW_AT_high_pc) {
            Some(AttributeValue::Addr(high)) => high,
            Some(length) => low.wrapping_add(length.udata_value().unwrap_or(0)),
            None => continue,
        };
        let function = match entry.attr_value(gimli::DW_AT_abstract_origin) {
            Some(AttributeValue::UnitRef(UnitOffset(offset))) => start + offset,
            Some(AttributeValue::DebugInfoRef(offset)) => offset.0,
            _ => start + entry.offset().0,
        };
        let file = match entry.attr_value(gimli::DW_AT_call_file) {
            Some(AttributeValue::FileIndex(file)) => u32::try_from(file).unwrap_or(0),
            _ => 0,
        };
        let call = (file, number(gimli::DW_AT_call_line), number(gimli::DW_AT_call_column));
        let parent = around.last().map(|&(_, scope)| scope).filter(|_| inlined);
        around.push((depth, scopes.len()));
        scopes.push(Scope { low, high, function, call, parent });
    }
    Ok(())
}
