//! Internal calls and features that a run asked for and Saki lacks, for `saki --missing`.

use saki_base::locks::{Mutex, rank};
use std::collections::BTreeMap;

static HIT: Mutex<rank::MissingCalls, BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

/// Counts one hit of a missing feature.
pub fn record(what: &str) {
    *HIT.lock().entry(what.to_string()).or_default() += 1;
}

/// Names and counts, sorted by name.
pub fn hits() -> Vec<(String, u64)> {
    HIT.lock().iter().map(|(name, count)| (name.clone(), *count)).collect()
}
