//! Passes over a finished `Function`. Each keeps the invariants of `ir` and changes no observable behaviour.

mod bounds;
mod checks;
mod cold;
mod dead;
mod flow;
mod leaves;
mod objects;
mod owners;
mod promote;
#[cfg(test)]
mod tests;
mod unroll;
mod vectors;
mod versions;

use crate::import::options::ImportOptions;
use crate::ir::Function;
pub(crate) use promote::may_be_variables;
use rustc_hash::FxHashMap;

/// Keeps the vectors that a synthesised body passes on in registers. Not for bodies whose locals must be in memory.
pub(crate) fn keep_vectors(function: &mut Function) {
    promote::run(function, true, &FxHashMap::default());
    dead::run(function, &[]);
}

/// Runs the passes that the options select.
pub fn run(function: &mut Function, options: &ImportOptions) {
    for filter in &mut function.filters {
        dead::run(filter, &[]);
    }
    if options.promote_locals {
        objects::run(function, options);
    }
    let mut non_null_lengths = Vec::new();
    if options.eliminate_bounds_checks {
        bounds::run(function);
        non_null_lengths = checks::run(function);
    }
    owners::run(function);
    dead::run(function, &non_null_lengths);
    if options.inline {
        cold::run(function);
        versions::run(function, options.explain);
        unroll::run(function, options.explain);
    }
}
