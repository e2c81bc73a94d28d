//! What the importer asks of the running machine, and the record of the answers that the code relies on.
//!
//! Invariant: an answer without which the code would be wrong is noted by `Facts::assume` before the importer uses it.
//! Left out: facts about the compiled method itself and about the class library's own types, which always hold.

use super::options::LibraryLoop;
use crate::ir::Function;
use saki_metadata::Token;
use saki_types::method::LocalSig;
use saki_types::{Assumption, Field, GenericContext, Image, LoadResult, Method, MethodSig, Ty};
use std::sync::atomic::AtomicU32;

/// The machine as a compilation sees it.
pub trait Facts {
    /// Whether the class constructor has finished (or there is none), so that accesses need no check.
    fn is_initialised(&self, ty: Ty) -> bool;

    /// The value of a `static readonly` number whose class is initialised, as the bits of the field, extended by zeros.
    /// None: it may differ from run to run, or is not known.
    fn constant(&self, _field: &'static Field) -> Option<u64> {
        None
    }

    /// The Rust function that replaces this method's loop, if there is one. Without `ImportOptions::vectors` only those
    /// that correct the body count.
    fn library_loop(&self, _method: &'static Method) -> Option<LibraryLoop> {
        None
    }

    /// Whether the machine implements this method, which the class library declares as an internal call.
    fn has_internal_call(&self, _method: &'static Method) -> bool {
        true
    }

    /// Whether an embedding host implements this internal call, in C.
    fn is_host_call(&self, _method: &'static Method) -> bool {
        false
    }

    /// The classes, one or two, of nearly all objects that the call or cast at this IL offset of `method` has met so
    /// far, as the first tier's code has noted.
    fn usual_classes(&self, _method: &'static Method, _il_offset: u32) -> [Option<Ty>; 2] {
        [None; 2]
    }

    /// The methods, one or two, of nearly all delegates that the call at this IL offset of `method` was made on so far.
    fn usual_delegates(&self, _method: &'static Method, _il_offset: u32) -> [Option<&'static Method>; 2] {
        [None; 2]
    }

    /// Whether no class overrides this method as yet, so that a direct call behind a test of `Symbol::Overrides` pays.
    fn is_never_overridden(&self, _method: &'static Method) -> bool {
        false
    }

    /// How often the method's blocks ran in the first tier (`Op::CountBlock`), by number; empty if nothing is known.
    fn block_counts(&self, _method: &'static Method) -> &'static [AtomicU32] {
        &[]
    }

    /// Adds probes to the method's code, if its calls are recorded.
    fn add_probes(&self, _method: &'static Method, _function: &mut Function) {}

    /// The CIL offsets at which statements of the method begin, in ascending order, if code is to tell when it reaches
    /// them (`HelperId::CoverStatement`). Called only without `ImportOptions::inline`.
    fn statements(&self, _method: &'static Method) -> Vec<u32> {
        Vec::new()
    }

    /// Whether code is to tell when it enters a finally clause without an exception: by `HelperId::CoverStatement` with
    /// the clause's number, all of its bits inverted, in place of an offset.
    fn are_clauses_told(&self) -> bool {
        false
    }

    /// Notes that the code relies on this, possibly several times.
    fn assume(&self, assumption: Assumption);
}

/// Facts of a machine in which no class is initialised yet, whose assumptions nobody reads.
pub struct NothingInitialised;

impl Facts for NothingInitialised {
    fn is_initialised(&self, _ty: Ty) -> bool {
        false
    }

    fn assume(&self, _assumption: Assumption) {}
}

/// Questions with the notes that their answers need.
#[derive(Clone, Copy)]
pub(super) struct Noting<'e>(pub &'e dyn Facts);

impl Noting<'_> {
    /// Whether the class constructor has finished (or there is none), so that accesses need no check. If so, notes that
    /// the code relies on it.
    pub fn is_initialised(self, ty: Ty) -> bool {
        let is_initialised = self.0.is_initialised(ty);
        // Types without a static constructor always count as initialised.
        if is_initialised && !matches!(ty.has_initializer(), Ok(false)) {
            self.0.assume(Assumption::Initialised(ty));
        }
        is_initialised
    }

    /// The value of a `static readonly` field of an initialised class. Notes that the code relies on it.
    pub fn constant(self, field: &'static Field) -> Option<u64> {
        let is_constant = field.is_static() && field.is_init_only() && !field.is_thread_static && !field.has_rva();
        if !is_constant || !self.is_initialised(field.owner) {
            return None;
        }
        self.0.constant(field).inspect(|&bits| self.0.assume(Assumption::Constant(field, bits)))
    }

    /// The type of a TypeDef, TypeRef or TypeSpec token. Notes that the code relies on it.
    pub fn resolve_type(self, image: &'static Image, token: Token, context: &GenericContext) -> LoadResult<Ty> {
        image.resolve_type(token, context).inspect(|ty| self.0.assume(Assumption::Type(ty)))
    }

    /// The method of a MethodDef, MemberRef or MethodSpec token. Notes that the code relies on it.
    pub fn resolve_method(
        self,
        image: &'static Image,
        token: Token,
        context: &GenericContext,
    ) -> LoadResult<&'static Method> {
        image.resolve_method(token, context).inspect(|method| self.0.assume(Assumption::Method(method)))
    }

    /// The method of a call site, with the site's own signature where it is a vararg call. Notes that the code relies
    /// on the method and on the types of that signature.
    pub fn resolve_method_call(
        self,
        image: &'static Image,
        token: Token,
        context: &GenericContext,
    ) -> LoadResult<(&'static Method, Option<&'static MethodSig>)> {
        let (method, site_sig) = image.resolve_method_call(token, context)?;
        self.0.assume(Assumption::Method(method));
        site_sig.iter().for_each(|sig| self.types_of(sig));
        Ok((method, site_sig))
    }

    /// What a call of the static virtual `method` that is constrained to `ty` runs. Notes that the code relies on it. It
    /// is found by way of the type's ancestors and interfaces, on which code that names the type relies anyway.
    pub fn resolve_static_virtual(self, ty: Ty, method: &'static Method) -> LoadResult<&'static Method> {
        ty.resolve_static_virtual(method).inspect(|target| self.0.assume(Assumption::Method(target)))
    }

    /// The field of a Field or MemberRef token. Notes that the code relies on it.
    pub fn resolve_field(
        self,
        image: &'static Image,
        token: Token,
        context: &GenericContext,
    ) -> LoadResult<&'static Field> {
        image.resolve_field(token, context).inspect(|field| self.0.assume(Assumption::Field(field)))
    }

    /// The signature of a `calli`. Notes that the code relies on its types.
    pub fn resolve_standalone_sig(
        self,
        image: &'static Image,
        token: Token,
        context: &GenericContext,
    ) -> LoadResult<&'static MethodSig> {
        image.resolve_standalone_sig(token, context).inspect(|sig| self.types_of(sig))
    }

    /// The local variables of a body; the nil token gives none. Notes that the code relies on their types.
    pub fn resolve_locals(
        self,
        image: &'static Image,
        token: Token,
        context: &GenericContext,
    ) -> LoadResult<Vec<LocalSig>> {
        let locals = image.resolve_locals(token, context)?;
        locals.iter().for_each(|local| self.0.assume(Assumption::Type(local.ty)));
        Ok(locals)
    }

    fn types_of(self, sig: &MethodSig) {
        std::iter::once(&sig.ret).chain(&sig.params).for_each(|ty| self.0.assume(Assumption::Type(ty)));
    }
}
