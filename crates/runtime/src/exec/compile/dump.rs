//! Printing what the compiler makes: `--trace-compile`, `--dump-ir`, `--dump-clif` and their kin.

use saki_il::ir::Function;
use saki_jit::Compiler;
use saki_types::Method;
use std::sync::OnceLock;

/// What to print while compiling.
#[derive(Clone, Default, Debug)]
pub struct DumpOptions {
    /// Print the IR of methods whose full name contains this.
    pub ir: Option<String>,
    /// Print Cranelift's input and the machine code of methods with this name.
    pub clif: Option<String>,
    /// Print each method's name when it is compiled.
    pub trace: bool,
}

static DUMP: OnceLock<DumpOptions> = OnceLock::new();

pub(super) fn init(options: DumpOptions) {
    let _ = DUMP.set(options);
}

/// Called for each function that was imported.
pub(super) fn imported(method: &'static Method, function: &Function) {
    let Some(dump) = DUMP.get() else { return };
    if dump.trace {
        saki_base::tell!("compile {}", method.full_name());
    }
    if dump.ir.as_ref().is_some_and(|name| method.full_name().contains(name.as_str())) {
        saki_base::tell!("{function}");
    }
}

/// Called for each function that was compiled.
pub(super) fn generated(method: &'static Method, compiler: &Compiler, function: &Function) {
    let wanted = DUMP.get().and_then(|dump| dump.clif.as_ref());
    if wanted.is_some_and(|name| method.full_name().contains(name.as_str())) {
        match compiler.dump(function) {
            Ok(dump) => saki_base::tell!("{dump}"),
            Err(error) => saki_base::tell!("{}: {error}", method.full_name()),
        }
    }
}
