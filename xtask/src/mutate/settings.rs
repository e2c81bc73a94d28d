//! What all workers share: the runtime's command, the seed, the scratch folder.

use super::mutator::{Mutant, Original};
use saki_mutation::Random;
use std::path::PathBuf;

/// What all workers share.
pub struct Settings {
    pub(super) saki: Vec<String>,
    pub(super) seed: u64,
    pub(super) scratch: PathBuf,
}

impl Settings {
    pub(super) fn mutant(&self, original: &Original, index: u64) -> Mutant {
        original.mutate(&mut Random::new(self.seed, &original.name, index))
    }
}
