//! One compilation: from a method to a body that can be installed.
//!
//! | act | runs on | what it may do |
//! |---|---|---|
//! | prepare | a managed thread | run managed code: module constructors, and the answers to requests of loading (`CompileJob::answer`) |
//! | execute | any thread | read metadata, fill in facts of types under the loader lock; CIL → IR → machine code |
//! | install | a managed thread | make the strings, type objects and descriptors that the code names, place it, publish it (`link`) |
//!
//! Invariant: executing runs no managed code, throws no managed exception and names no thread (tidy checks that). When
//! a fact needs the program's answer, executing fails with `CompileFailure::Unanswered`; a managed thread asks, and the
//! job is executed again from the start. That is rare: an assembly is asked for once.

use super::dump;
use super::statistics::{GUARDED_CALLS, STATISTICS, Stopwatch};
use crate::object::versions::Purpose;
use saki_code::CodeKind;
use saki_il::import::{Continuation, Facts, ImportOptions};
use saki_il::ir::Function;
use saki_jit::{CompileError, CompiledCode, Compiler, Tiers};
use saki_types::requests::{self, Request};
use saki_types::{LoadError, LoadErrorKind, LoadResult, Method};
use std::sync::atomic::Ordering;

/// See the module header.
pub(crate) struct CompileJob<'a> {
    pub method: &'static Method,
    pub purpose: Purpose,
    pub compiler: &'a Compiler,
    pub facts: &'a dyn Facts,
    /// Requests that executing met, which the program has been asked since.
    answered: Vec<Request>,
}

/// What executing makes: code that nothing refers to yet.
pub(crate) struct Body {
    pub code: CompiledCode,
    pub kind: CodeKind,
    /// Errors that the code throws, by number (`deferred`).
    pub deferred_errors: Vec<LoadError>,
}

/// Why there is no body.
#[derive(Debug)]
pub(crate) enum CompileFailure {
    /// An error of the program.
    Load(LoadError),
    /// The code generator's complaint about the method.
    Generator(String),
    Unanswered(Request),
    /// The baseline compiler does not cover the method, so its calls cannot be counted.
    Uncovered,
}

impl CompileFailure {
    /// The error for the program.
    pub fn load_error(self, method: &'static Method) -> LoadError {
        match self {
            CompileFailure::Load(error) => error,
            CompileFailure::Generator(message) => {
                LoadError::new(LoadErrorKind::InvalidProgram, message, method.full_name())
            }
            CompileFailure::Unanswered(_) => saki_base::bug!("{} waits for an answer", method.full_name()),
            CompileFailure::Uncovered => saki_base::bug!("{} is not compiled in the second tier", method.full_name()),
        }
    }
}

impl<'a> CompileJob<'a> {
    pub fn new(method: &'static Method, purpose: Purpose, compiler: &'a Compiler, facts: &'a dyn Facts) -> Self {
        CompileJob { method, purpose, compiler, facts, answered: Vec::new() }
    }

    /// Imports the method and compiles it.
    ///
    /// # Errors
    /// See `CompileFailure`.
    pub fn execute(&self) -> Result<Body, CompileFailure> {
        let body = requests::without_managed_code(&self.answered, || {
            let mut function = self.import().map_err(CompileFailure::Load)?;
            let mut code = self.generate(&function);
            // What an inlined callee cannot load fails when it is called, perhaps in a `try` of this method.
            if matches!(code, Err(CompileFailure::Load(_))) && !function.inline_sites.is_empty() {
                let options = ImportOptions { inline: false, ..self.import_options() };
                function = self.import_with(&options).map_err(CompileFailure::Load)?;
                code = self.generate(&function);
            }
            let code = code?;
            let kind = kind_of(self.method, &function);
            let deferred_errors = function.deferred_errors.clone();
            saki_il::recycle(function);
            Ok(Body { code, kind, deferred_errors })
        });
        body.unwrap_or_else(|request| Err(CompileFailure::Unanswered(request)))
    }

    /// Compiles code that goes on for a frame of the method at a loop.
    ///
    /// # Errors
    /// See `CompileFailure`.
    pub fn execute_continuation(&self, at: &Continuation) -> Result<Body, CompileFailure> {
        let body = requests::without_managed_code(&self.answered, || {
            let options = self.import_options();
            let function = saki_il::import::import_continuation(self.method, &options, self.facts, at);
            let function = function.map_err(CompileFailure::Load)?;
            dump::imported(self.method, &function);
            let code = self.generate(&function)?;
            let deferred_errors = function.deferred_errors.clone();
            saki_il::recycle(function);
            Ok(Body { code, kind: CodeKind::Method, deferred_errors })
        });
        body.unwrap_or_else(|request| Err(CompileFailure::Unanswered(request)))
    }

    /// Compiles a function that was made elsewhere and belongs to the method.
    ///
    /// # Errors
    /// See `CompileFailure`.
    pub fn execute_wrapper(&self, function: &Function) -> Result<Body, CompileFailure> {
        let body = requests::without_managed_code(&self.answered, || {
            let code = self.generate(function)?;
            Ok(Body { code, kind: kind_of(self.method, function), deferred_errors: Vec::new() })
        });
        body.unwrap_or_else(|request| Err(CompileFailure::Unanswered(request)))
    }

    /// Has the program answer a request that executing has met; the failure, if there is one, is what executing meets
    /// next. The caller is a managed thread.
    pub fn answer(&mut self, request: Request) {
        if let Err(error) = request.answer()
            && self.answered.contains(&request)
        {
            saki_base::bug!("{}: an answer is not remembered: {error}", self.method.full_name());
        }
        self.answered.push(request);
    }

    /// The importer's options.
    pub fn import_options(&self) -> ImportOptions {
        ImportOptions {
            // The first tier's code is to be made fast, and what is inlined is compiled at each place.
            inline: self.purpose == Purpose::Optimised && self.compiler.options().tiers != Tiers::First,
            count: self.purpose == Purpose::Counted,
            // Continuations find the variables where the method has them.
            promote_locals: self.purpose != Purpose::Counted,
            keep_allocations: self.compiler.options().keep_allocations || saki_gc::is_each_allocation_told(),
            vectors: self.compiler.options().vectors,
            explain: self.purpose == Purpose::Optimised && dump::is_explained(self.method),
            ..ImportOptions::default()
        }
    }

    /// The method's IR: of its CIL, or the body that the machine supplies.
    ///
    /// # Errors
    /// Those of the method, if it cannot run at all.
    pub fn import(&self) -> LoadResult<Box<Function>> {
        self.import_with(&self.import_options())
    }

    fn import_with(&self, options: &ImportOptions) -> LoadResult<Box<Function>> {
        let started = Stopwatch::start();
        let method = self.method;
        if method.is_open() {
            let message = format!(
                "Could not execute the method because the containing type '{}', is not fully instantiated.",
                method.owner.full_name()
            );
            return Err(LoadError::new(LoadErrorKind::InvalidOperation, message, method.full_name()));
        }
        let mut function = match method.body()? {
            Some(_) if self.is_library_loop() => Box::new(saki_il::synth::internal_call::internal_call(method)?),
            Some(_) => saki_il::import::import(method, options, self.facts)?,
            None if method.is_internal_call() && self.facts.is_host_call(method) => {
                Box::new(saki_il::synth::host_call::host_call(method)?)
            }
            None if method.is_internal_call() && !self.facts.has_internal_call(method) => {
                Box::new(saki_il::synth::internal_call::missing_internal_call(method)?)
            }
            None => match saki_il::synth::synthesise(method)? {
                Some(function) => Box::new(function),
                None if method.is_abstract() && !method.is_static() => {
                    let message = format!("abstract method {} was called", method.full_name());
                    return Err(LoadError::new(LoadErrorKind::InvalidProgram, message, method.full_name()));
                }
                None => {
                    let message = format!("{} has no body that Saki can run", method.full_name());
                    return Err(LoadError::new(LoadErrorKind::BadImageFormat, message, method.full_name()));
                }
            },
        };
        self.facts.add_probes(method, &mut function);
        started.add_to(&STATISTICS.import_nanoseconds);
        if let Some(body) = method.body()? {
            // Relaxed: a counter.
            super::IL_BYTES.fetch_add(body.code.len() as u64, Ordering::Relaxed);
        }
        dump::imported(method, &function);
        Ok(function)
    }

    /// Whether a library loop's function replaces the whole method.
    fn is_library_loop(&self) -> bool {
        let function = self.facts.library_loop(self.method);
        function.is_some_and(|function| function.is_whole() && (function.corrects || self.compiler.options().vectors))
    }

    /// # Errors
    /// Those of the code generator.
    fn generate(&self, function: &Function) -> Result<CompiledCode, CompileFailure> {
        let started = Stopwatch::start();
        let code = match self.purpose {
            Purpose::Counted => self
                .compiler
                .compile_baseline(function)
                .filter(|code| code.is_counted)
                .ok_or(CompileFailure::Uncovered)?,
            _ => self.compiler.compile(function).map_err(|error| match error {
                CompileError::Load(error) => CompileFailure::Load(error),
                error => CompileFailure::Generator(format!("{}: {error}", self.method.full_name())),
            })?,
        };
        started.add_to(&STATISTICS.codegen_nanoseconds);
        // Relaxed: a counter.
        GUARDED_CALLS.fetch_add(u64::from(function.guards), Ordering::Relaxed);
        dump::explain(self.method, self.purpose, function, &code);
        dump::generated(self.method, self.compiler, function);
        Ok(code)
    }
}

pub(crate) fn kind_of(method: &Method, function: &Function) -> CodeKind {
    if method.is_pinvoke() || method.is_internal_call() {
        CodeKind::NativeThunk
    } else if function.is_stub {
        CodeKind::Stub
    } else {
        CodeKind::Method
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::fixture::class_libraries;
    use saki_il::ir::Symbol;
    use saki_jit::{CompilerOptions, RelocTarget};
    use saki_types::{Assumption, Ty};
    use std::cell::RefCell;

    /// A machine that is not there: no class is initialised, and each assumption is kept.
    #[derive(Default)]
    struct NoMachine(RefCell<Vec<Assumption>>);

    impl Facts for NoMachine {
        fn is_initialised(&self, _: Ty) -> bool {
            false
        }

        fn has_internal_call(&self, _: &'static Method) -> bool {
            true
        }

        fn assume(&self, assumption: Assumption) {
            self.0.borrow_mut().push(assumption);
        }
    }

    /// A compiler for a heap that is not there.
    fn compiler() -> Compiler {
        Compiler::new(CompilerOptions::new(saki_gc::heap_layout())).expect("a code generator")
    }

    /// A method of the class library; None without class libraries.
    fn method_of(namespace: &str, type_name: &str, name: &str) -> Option<&'static Method> {
        let (universe, _) = class_libraries()?;
        let ty = universe.corlib().find_type(namespace, type_name).expect("readable").expect("the type is there");
        Some(ty.methods().expect("methods").find(|method| method.name == name).expect("the method is there"))
    }

    /// The body of a method of the class library, and what it assumes.
    fn body_of(namespace: &str, type_name: &str, name: &str) -> Option<(Body, Vec<Assumption>)> {
        let method = method_of(namespace, type_name, name)?;
        let compiler = compiler();
        let facts = NoMachine::default();
        let body = CompileJob::new(method, Purpose::Optimised, &compiler, &facts).execute();
        Some((body.unwrap_or_else(|failure| panic!("{failure:?}")), facts.0.take()))
    }

    #[test]
    fn a_body_is_compiled_without_a_machine() {
        // On a thread that is not managed, and no heap, code region or domain was made.
        let Some((body, assumed)) = body_of("System", "Version", "CompareTo") else { return };
        assert_eq!(body.kind, CodeKind::Method);
        assert!(!body.code.bytes.is_empty() && body.deferred_errors.is_empty());
        let names_own_type = |a: &Assumption| matches!(a, Assumption::Type(ty) if ty.full_name() == "System.Version");
        assert!(assumed.iter().any(names_own_type), "{assumed:?}");
        assert_eq!(body.code.tables.check(), Ok(()));
    }

    #[test]
    fn a_literal_stays_a_name_until_the_body_is_installed() {
        // Its first constructor names the arguments that it refuses.
        let Some((body, _)) = body_of("System", "Version", ".ctor") else { return };
        let is_literal = |reloc: &saki_abi::Reloc<RelocTarget>| {
            matches!(reloc.target, RelocTarget::Symbol(Symbol::StringLiteral(..)))
        };
        assert!(body.code.relocs.iter().any(is_literal), "{:?}", body.code.relocs);
    }

    #[test]
    fn an_abstract_method_has_no_body() {
        let Some(method) = method_of("System.IO", "Stream", "Flush") else { return };
        let compiler = compiler();
        let failure = CompileJob::new(method, Purpose::Optimised, &compiler, &NoMachine::default()).execute();
        let Err(CompileFailure::Load(error)) = failure else { panic!("it was compiled") };
        assert_eq!(error.kind, LoadErrorKind::InvalidProgram);
    }
}
