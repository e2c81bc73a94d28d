//! Loading and compiling all of an assembly without running it; `cargo xtask mutate` finds faults of the virtual machine this
//! way.
//!
//! Malformed types and methods give errors, which are dropped. Generic types and methods are compiled as definitions and over
//! `object` and `int`. Bodies are imported every time, but compiled only if the same IR has not been compiled before: most
//! methods of a mutant are unchanged.

use crate::compile::{self, CompileJob, MachineFacts};
use crate::object::versions::Purpose;
use crate::thread::CurrentThread;
use crate::vtables::vtable_of;
use rustc_hash::FxHashSet;
use saki_metadata::{CaEnumType, TableId, Token, walk};
use saki_types::{Assembly, GenericContext, Image, LoadErrorKind, LoadResult, Method, Ty};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The functions that were compiled before.
pub struct Compiled<'t> {
    t: CurrentThread<'t>,
    /// Hashes of IR.
    known: FxHashSet<u64>,
    /// Methods with invalid bodies, with the reason.
    pub invalid: Vec<String>,
}

impl<'t> Compiled<'t> {
    pub fn new(t: CurrentThread<'t>) -> Compiled<'t> {
        Compiled { t, known: FxHashSet::default(), invalid: Vec::new() }
    }

    /// Loads and compiles all types and methods of an assembly.
    pub fn compile_all(&mut self, assembly: &'static Assembly) {
        let image = assembly.image;
        walk::walk(image.meta, &|_: &CaEnumType| None);
        for rid in 1..=image.meta.row_count(TableId::TypeDef) {
            let Ok(ty) = image.type_def(rid) else { continue };
            self.look_at_type(ty);
            if !ty.is_generic_definition() {
                continue;
            }
            let universe = ty.universe();
            for argument in [universe.object(), universe.int32()] {
                if let Ok(instance) = universe.instantiate(ty, &vec![argument; ty.args.len()]) {
                    self.look_at_type(instance);
                }
            }
        }
        self.look_at_references(image);
    }

    /// Types and members that the module names, without a generic context.
    fn look_at_references(&mut self, image: &'static Image) {
        let tokens = |table| (1..=image.meta.row_count(table)).map(move |rid| Token::new(table, rid));
        for token in tokens(TableId::TypeRef).chain(tokens(TableId::TypeSpec)) {
            if let Ok(ty) = image.resolve_type(token, &GenericContext::NONE) {
                let _ = facts_of(ty);
            }
        }
        for token in tokens(TableId::MemberRef).chain(tokens(TableId::MethodSpec)) {
            if let Ok(method) = image.resolve_method(token, &GenericContext::NONE) {
                let _ = method.sig();
                let _ = method.vtable_slot();
            }
            if token.table() == TableId::MemberRef {
                let _ = image.resolve_field(token, &GenericContext::NONE).map(|field| field.ty());
            }
        }
        if let Ok(method) = image.resolve_method(image.meta.entry_point_token(), &GenericContext::NONE) {
            self.look_at_method(method);
        }
    }

    fn look_at_type(&mut self, ty: Ty) {
        let _ = facts_of(ty);
        let Ok(methods) = ty.methods() else { return };
        for method in methods {
            self.look_at_method(method);
            if method.generic_args().is_empty() {
                continue;
            }
            let universe = ty.universe();
            for argument in [universe.object(), universe.int32()] {
                if let Ok(instance) = universe.instantiate_method(method, &vec![argument; method.generic_args().len()])
                {
                    self.look_at_method(instance);
                }
            }
        }
    }

    fn look_at_method(&mut self, method: &'static Method) {
        method.full_name();
        method.reflection_name();
        let _ = method.sig();
        let _ = method.vtable_slot();
        let facts = MachineFacts::of_the_start();
        let mut job = CompileJob::new(method, Purpose::Optimised, compile::compiler(), &facts);
        let function = match job.import() {
            Ok(function) => function,
            Err(error) => {
                let is_invalid = matches!(
                    error.kind,
                    LoadErrorKind::InvalidProgram | LoadErrorKind::InvalidAccessor | LoadErrorKind::BadImageFormat
                );
                if is_invalid && !method.is_open() && !method.is_abstract() {
                    self.invalid.push(format!("{}: {}", method.full_name(), error.message));
                }
                return;
            }
        };
        let mut hasher = DefaultHasher::new();
        function.to_string().hash(&mut hasher);
        if self.known.insert(hasher.finish()) {
            if cfg!(debug_assertions)
                && let Err(problem) = function.verify()
            {
                saki_base::bug!("the importer made IR that is not valid: {problem}");
            }
            // This resolves everything that the body names.
            if compile::try_out(self.t, &mut job, &function).is_err() {
                self.t.take_pending();
            }
        }
        saki_il::recycle(function);
    }
}

/// Asks for every fact about the type; ends at the first error.
fn facts_of(ty: Ty) -> LoadResult<()> {
    ty.full_name();
    ty.enclosing_type()?;
    ty.parent()?;
    ty.require_enum_base()?;
    for &interface in ty.interfaces()? {
        interface.full_name();
    }
    // Each of these may fail by itself; an error of one does not prevent the others.
    let _ = ty.class_constructor();
    let _ = ty.finalizer();
    let _ = ty.static_layout();
    for field in ty.fields()? {
        let _ = field.ty();
        let _ = field.offset_bytes();
    }
    let _ = ty.instance_size_bytes();
    let _ = ty.value_size_bytes();
    ty.vtable_layout()?;
    if !ty.is_open {
        vtable_of(ty)?;
    }
    Ok(())
}
