//! Compiling single methods to text without running the program: `saki --compile-only`, and the filetests.
//!
//! Invariant: the text is the same on every machine of an architecture: no address, no processor feature beyond the baseline,
//! no class initialised by chance. Nothing is placed in the code heap.

use crate::compile::{self, CompileJob};
use saki_il::import::NothingInitialised;
use saki_jit::{Compiler, CompilerOptions};
use saki_metadata::TableId;
use saki_types::{Assembly, LoadError, LoadErrorKind, LoadResult, Method};
use std::fmt::Write;

/// The form in which a method is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// The intermediate representation after import.
    Ir,
    /// Cranelift's input.
    Clif,
    /// Machine instructions.
    Disassembly,
}

/// The text of the methods named `Namespace.Type:Method` (every overload) in `assembly`.
///
/// # Errors
/// `MissingMethod` when there is none; errors of loading and compiling it.
pub fn compile_to_text(assembly: &'static Assembly, name: &str, form: Form) -> LoadResult<String> {
    let mut text = String::new();
    for rid in 1..=assembly.image.meta.row_count(TableId::TypeDef) {
        for method in assembly.image.type_def(rid)?.methods()? {
            let full_name = method.full_name();
            if full_name.split(" (").next() == Some(name) && !method.is_open() {
                write_method(&mut text, method, form)?;
            }
        }
    }
    if text.is_empty() {
        let message = format!("no method {name} in {}", assembly.path.display());
        return Err(LoadError::new(LoadErrorKind::MissingMethod, message, name));
    }
    Ok(text)
}

fn write_method(text: &mut String, method: &'static Method, form: Form) -> LoadResult<()> {
    let job = CompileJob::new(method, compile::purpose(), compile::compiler(), &NothingInitialised);
    let function = saki_il::import::import(method, &job.import_options(), &NothingInitialised)?;
    let failed = |error: &dyn std::fmt::Display| {
        LoadError::new(LoadErrorKind::InvalidProgram, format!("{}: {error}", function.title()), &*function.title())
    };
    let dump = match form {
        Form::Ir => function.to_string(),
        Form::Clif | Form::Disassembly => {
            let of_machine = compile::compiler().options().clone();
            let fence_after_atomics = of_machine.fence_after_atomics || !saki_jit::baseline_atomics_are_fences();
            let options = CompilerOptions { host_features: false, verify: true, fence_after_atomics, ..of_machine };
            let dump = Compiler::new(options).and_then(|c| c.dump(&function)).map_err(|e| failed(&e))?;
            if form == Form::Clif { dump.clif_text() } else { dump.machine_text() }
        }
    };
    write!(text, "{dump}").map_err(|e| failed(&e))
}
