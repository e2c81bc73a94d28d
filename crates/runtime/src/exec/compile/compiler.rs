//! The code generator of the machine, set up when the first body needs it: a run that finds all its code in the cache needs none.

use saki_jit::{Compiler, CompilerOptions, Tiers};
use std::sync::OnceLock;

static COMPILER: OnceLock<Compiler> = OnceLock::new();
static OPTIONS: OnceLock<CompilerOptions> = OnceLock::new();

/// Called once, when the machine starts.
pub(super) fn init(options: CompilerOptions) {
    let _ = OPTIONS.set(options);
}

/// The tiers of this run.
pub(crate) fn tiers() -> Tiers {
    OPTIONS.get().map_or(Tiers::default(), |options| options.tiers)
}

/// The code generator.
pub(crate) fn compiler() -> &'static Compiler {
    COMPILER.get_or_init(|| {
        let Some(options) = OPTIONS.get() else { saki_base::bug!("code was compiled before start-up said how") };
        match Compiler::new(options.clone()) {
            Ok(compiler) => compiler,
            Err(error) => saki_base::bug!("the code generator does not start: {error}"),
        }
    })
}
