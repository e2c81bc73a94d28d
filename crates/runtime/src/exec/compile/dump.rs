//! Printing what the compiler makes: `--trace-compile`, `--explain`, `--dump-ir`, `--dump-clif` and their kin.

use crate::object::versions::Purpose;
use saki_il::ir::{Function, Op};
use saki_jit::{CompiledBy, CompiledCode, Compiler};
use saki_types::Method;
use std::fmt::Write;
use std::sync::OnceLock;

/// What to print while compiling.
#[derive(Clone, Default, Debug)]
pub struct DumpOptions {
    /// Print the IR of methods whose full name contains this.
    pub ir: Option<String>,
    /// Print Cranelift's input and the machine code of methods with this name.
    pub clif: Option<String>,
    /// Print what was decided about calls, checks and loops of methods whose full name contains this.
    pub explain: Option<String>,
    /// Print each method's name when it is compiled.
    pub trace: bool,
}

static DUMP: OnceLock<DumpOptions> = OnceLock::new();

pub(super) fn init(options: DumpOptions) {
    let _ = DUMP.set(options);
}

/// Whether somebody wants to know what is decided about the method's code.
pub(super) fn is_explained(method: &'static Method) -> bool {
    let wanted = DUMP.get().and_then(|dump| dump.explain.as_ref());
    wanted.is_some_and(|name| method.full_name().contains(name.as_str()))
}

/// Called for each function that was compiled.
pub(super) fn explain(method: &'static Method, purpose: Purpose, function: &Function, code: &CompiledCode) {
    if is_explained(method) {
        saki_base::tell!("{}", explanation(method, purpose, function, code).trim_end());
    }
}

fn explanation(method: &'static Method, purpose: Purpose, function: &Function, code: &CompiledCode) -> String {
    let count = |is_wanted: fn(&Op) -> bool| {
        let values = function.blocks.iter().flat_map(|block| &block.insts);
        values.filter(|value| is_wanted(&function.insts[value.0 as usize].op)).count()
    };
    let tier = match (code.compiled_by, purpose) {
        (CompiledBy::Baseline, Purpose::Counted) => "first tier, counting",
        (CompiledBy::Baseline, _) => "first tier",
        _ if function.is_continuation => "second tier, goes on in a loop",
        _ => "second tier",
    };
    // Writing to a string cannot fail.
    let mut text = String::new();
    let _ = writeln!(text, "{}: {tier}, {} bytes", method.full_name(), code.bytes.len());
    let _ = writeln!(
        text,
        "  checks of indices: {}, of null: {}, of classes: {}; casts: {}; allocations: {}; calls: {}; polls: {}",
        count(|op| matches!(op, Op::BoundsCheck { .. })),
        count(|op| matches!(op, Op::NullCheck(_))),
        count(|op| matches!(op, Op::ClassInit(_))),
        count(|op| matches!(op, Op::CastClass(..) | Op::IsInst(..))),
        count(|op| matches!(op, Op::NewObject(_) | Op::NewArray(..) | Op::NewString(_))),
        count(|op| matches!(op, Op::Call { .. })),
        count(|op| matches!(op, Op::Poll)),
    );
    for decision in &function.decisions {
        let _ = write!(text, "  IL_{:04x}", decision.il_offset);
        if let Some(inner) = decision.method.filter(|&inner| !std::ptr::eq(inner, method)) {
            let _ = write!(text, " of {}", inner.full_name());
        }
        let _ = writeln!(text, ": {}", decision.text);
    }
    text
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
