//! Objects that do not escape become variables (escape analysis and scalar replacement).
//!
//! An object, box or delegate that the function makes escapes if something may still know it that the function does not
//! see: it is passed to a call, stored in memory, returned, thrown or locked. Any other object needs no memory: its
//! fields become variables, reads of its class and comparisons with it constants, and a delegate is what it was made
//! of. Inlined constructors, methods, comparisons and lambdas leave such objects behind.
//!
//! Each round finds the places that certainly hold the object that an allocation has made last (`aliases`), and folds
//! what is known of it (`known`): the branch of a guard that cannot be taken may be what lets it escape. Then `escapes`
//! says which objects are replaced, and `replace` makes each a block of bytes in the frame, which `promote` divides
//! into variables. The next round follows references through these variables.
//!
//! Invariant: a place counts as holding an object only if each way to it passes the allocation and stores nothing else
//! there afterwards, ways by exceptions included. So it is the object made last, which alone the variables stand for,
//! also if the allocation is in a loop.
//!
//! Left out: arrays; variables that hold one of several objects (also null or an object); objects with finalizers.
//! Monitors, volatile and atomic accesses count as escapes.

mod aliases;
mod escapes;
mod known;
mod reasons;
mod replace;
mod sites;

use super::{dead, promote};
use crate::import::options::ImportOptions;
use crate::ir::{Decision, Function, Op, position};
use aliases::Aliases;
use rustc_hash::FxHashMap;
use sites::Sites;

/// Rounds at most; an object in an object in an object takes three.
const MAX_ROUNDS: usize = 8;
/// Functions of more blocks are left as they are.
const MAX_BLOCKS: usize = 2_000;

/// Runs the pass, and `promote` with it.
pub(super) fn run(function: &mut Function, options: &ImportOptions) {
    let ImportOptions { vectors, explain, keep_allocations, .. } = *options;
    promote::run(function, vectors, &FxHashMap::default());
    if keep_allocations || function.blocks.len() > MAX_BLOCKS || !makes_objects(function) {
        return;
    }
    let mut escaping = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let sites = Sites::of(function);
        if sites.is_empty() {
            break;
        }
        let aliases = Aliases::of(function, &sites);
        if known::fold(function, &sites, &aliases) {
            dead::fold(function);
            continue;
        }
        escaping = escapes::find(function, &sites, &aliases);
        let is_replaced = |site| !escaping.iter().any(|(escaped, _)| *escaped == site);
        let replaced: Vec<_> = sites.values().filter(|site| is_replaced(*site)).collect();
        if replaced.is_empty() {
            break;
        }
        if explain {
            for &site in &replaced {
                note(function, site, "becomes variables".to_owned());
            }
        }
        let objects = replace::run(function, &sites, &aliases, &replaced);
        promote::run(function, vectors, &objects);
    }
    if explain {
        for (site, escape) in escaping {
            if matches!(function.insts[site.0 as usize].op, Op::NewObject(_)) {
                note(function, site, format!("is allocated, since {}", escape.text()));
            }
        }
    }
}

fn makes_objects(function: &Function) -> bool {
    let mut values = function.blocks.iter().flat_map(|block| &block.insts);
    values.any(|value| matches!(function.insts[value.0 as usize].op, Op::NewObject(_)))
}

/// Notes what becomes of an allocation.
fn note(function: &mut Function, site: crate::ir::ValueId, text: String) {
    let inst = &function.insts[site.0 as usize];
    let Op::NewObject(ty) = inst.op else { return };
    let (inline_site, il_offset) = position::unpack(inst.il_offset);
    let method = match inline_site.checked_sub(1) {
        Some(index) => function.inline_sites.get(index as usize).map(|site| site.method),
        None => function.method,
    };
    let text = format!("object: the {} {text}", ty.full_name());
    function.decisions.push(Decision { method, il_offset, text });
}
