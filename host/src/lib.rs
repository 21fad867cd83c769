//! Launches, compares, reports, gates.
