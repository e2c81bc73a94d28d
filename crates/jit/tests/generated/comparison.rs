//! Whether two runs did the same: the same result, the same words, and objects that are the same as seen from these.
//! Where an object lies may differ, since the passes leave allocations out.

use crate::classes::classes;
use crate::steps::{FLOATS, VECTORS, WORDS};
use proptest::prelude::*;
use saki_abi::object::ARRAY_LENGTH_OFFSET;
use saki_il::ir::Function;
use std::collections::HashMap;

/// What a run leaves.
pub struct Outcome {
    /// The function's result, or the exception that left it.
    pub result: Result<u64, u64>,
    /// The address of the first word.
    pub base: u64,
    /// The words, and the objects that were made, behind `WORDS`.
    pub words: Vec<u64>,
}

impl Outcome {
    /// The position of the object whose address the word is.
    fn object(&self, word: u64) -> Option<usize> {
        let index = usize::try_from(word.wrapping_sub(self.base)).ok().filter(|offset| offset % 8 == 0)? / 8;
        (WORDS..self.words.len()).contains(&index).then_some(index)
    }
}

fn is_same_word(index: usize, a: u64, b: u64) -> bool {
    let both_nan = if index >= VECTORS {
        let same = |a: u64, b: u64| {
            a as u32 == b as u32 || f32::from_bits(a as u32).is_nan() && f32::from_bits(b as u32).is_nan()
        };
        f64::from_bits(a).is_nan() && f64::from_bits(b).is_nan() || same(a, b) && same(a >> 32, b >> 32)
    } else if index >= FLOATS + FLOATS / 2 {
        f64::from_bits(a).is_nan() && f64::from_bits(b).is_nan()
    } else {
        index >= FLOATS && f32::from_bits(a as u32).is_nan() && f32::from_bits(b as u32).is_nan()
    };
    a == b || both_nan
}

pub fn expect_same(what: &str, expected: &Outcome, got: &Outcome, function: &Function) -> Result<(), TestCaseError> {
    prop_assert_eq!(expected.result, got.result, "{}\n{}", what, function);
    // Objects of the one run, with those of the other that are found in the same places.
    let mut pairs: HashMap<usize, usize> = HashMap::new();
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut same_word = |index: usize, e: u64, g: u64, found: &mut Vec<(usize, usize)>| {
        let (Some(one), Some(other)) = (expected.object(e), got.object(g)) else { return is_same_word(index, e, g) };
        let known = *pairs.entry(one).or_insert_with(|| {
            found.push((one, other));
            other
        });
        known == other
    };
    for (index, (&e, &g)) in expected.words.iter().zip(&got.words).enumerate().take(WORDS) {
        let is_same = same_word(index, e, g, &mut found);
        prop_assert!(is_same, "{}: word {}: {:#x} wanted, {:#x} found\n{}", what, index, e, g, function);
    }
    while let Some((one, other)) = found.pop() {
        let class = classes().and_then(|classes| classes.of_vtable(expected.words[one])).expect("an object's vtable");
        let length = expected.words.get(one + ARRAY_LENGTH_OFFSET as usize / 8).map_or(0, |word| *word as u32);
        for index in 0..class.size_bytes(length.into()) as usize / 8 {
            let (e, g) = (expected.words[one + index], got.words[other + index]);
            let is_same = same_word(0, e, g, &mut found);
            let name = class.ty.full_name();
            prop_assert!(is_same, "{}: {}, word {}: {:#x} wanted, {:#x} found\n{}", what, name, index, e, g, function);
        }
    }
    Ok(())
}
