//! Methods and assemblies made at run time: `System.Reflection.Emit`.
//!
//! A dynamic method has an `Image` of its own whose tokens index its list of references instead of metadata tables, so that
//! its CIL is imported like any other. It shares the raw metadata of its module, an image in memory without members.
//! Types made at run time are in `emitted`.
//!
//! A dynamic method can be freed by itself: for it `&'static Method` means "until `DynamicMethods::free`", whose caller must know that
//! nothing refers to it any more (`runtime::dynamic_methods` decides when). Method, image and body lie in a record of `dynamic_records`.

use crate::domain::{Assembly, Image};
use crate::error::{LoadError, LoadResult};
use crate::field::Field;
use crate::identity::AssemblyName;
use crate::lazy::Lazy;
use crate::method::LocalSig;
use crate::method::{Method, MethodKind, MethodSig, impl_flags, method_flags};
use crate::ty::Ty;
use saki_metadata::writer::ImageWriter;
use saki_metadata::{MethodBody, TableId, Token};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;

pub use crate::domain::{DynamicBody, DynamicCode, DynamicRef};

impl DynamicCode {
    /// The token of reference number `index`: the class library's list has two places per reference and counts from 1.
    pub fn token(index: usize) -> Token {
        Token(2 * index as u32 + 1)
    }

    pub(crate) fn reference(&self, token: Token) -> LoadResult<DynamicRef> {
        let found = self.body.get().and_then(|body| body.refs.get(token.0 as usize / 2));
        found.copied().ok_or_else(|| wrong_token(token))
    }

    pub(crate) fn ty(&self, token: Token) -> LoadResult<Ty> {
        match self.reference(token)? {
            DynamicRef::Type(ty) => Ok(ty),
            _ => Err(wrong_token(token)),
        }
    }

    pub(crate) fn method(&self, token: Token) -> LoadResult<&'static Method> {
        match self.reference(token)? {
            DynamicRef::Method(method) => Ok(method),
            _ => Err(wrong_token(token)),
        }
    }

    pub(crate) fn field(&self, token: Token) -> LoadResult<&'static Field> {
        match self.reference(token)? {
            DynamicRef::Field(field) => Ok(field),
            _ => Err(wrong_token(token)),
        }
    }

    pub(crate) fn call_sig(&'static self, token: Token) -> LoadResult<&'static MethodSig> {
        let signatures = self.body.get().map_or(&[][..], |body| &body.signatures);
        match self.reference(token)? {
            DynamicRef::Signature(index) => signatures.get(index).ok_or_else(|| wrong_token(token)),
            _ => Err(wrong_token(token)),
        }
    }

    pub(crate) fn locals(&self) -> Vec<LocalSig> {
        self.body.get().map_or_else(Vec::new, |body| body.locals.clone())
    }

    pub(crate) fn sig(&'static self) -> &'static MethodSig {
        &self.sig
    }

    /// The references of the body; empty before `define`.
    pub(crate) fn refs(&self) -> &[DynamicRef] {
        self.body.get().map_or(&[], |body| &body.refs)
    }

    /// The body in the form of a metadata body, without a token for its locals: `Image::resolve_locals` has them.
    pub(crate) fn method_body(&'static self) -> LoadResult<MethodBody<'static>> {
        let Some(body) = self.body.get() else {
            return Err(LoadError::invalid_program("a dynamic method has no code yet"));
        };
        Ok(MethodBody {
            max_stack: body.max_stack,
            code: &body.code,
            init_locals: body.init_locals,
            local_var_sig: Token::NIL,
            eh_clauses: body.eh_clauses.clone(),
        })
    }
}

fn wrong_token(token: Token) -> LoadError {
    LoadError::invalid_program(format!("token {token} of a dynamic method names something else"))
}

/// How to make a dynamic method.
pub struct DynamicMethodSpec {
    pub name: String,
    pub module: &'static Image,
    /// The type that reflection shows as its declaring type, and from which access to fields is judged. A method without one may use all fields, as in Mono.
    pub owner: Option<Ty>,
    pub sig: MethodSig,
    pub skips_visibility: bool,
}

/// Makes a static dynamic method without code, which `define` supplies.
pub fn create_method(spec: DynamicMethodSpec) -> &'static Method {
    let scope = spec.owner.filter(|_| !spec.skips_visibility);
    let owner = spec.owner.unwrap_or(crate::universe().object());
    let code = DynamicCode { sig: spec.sig, assembly: spec.module.assembly(), scope, body: OnceLock::new() };
    let image = Image::of_dynamic_method(spec.module, code);
    crate::dynamic_records::store(image, spec.name.into_boxed_str(), |image, name| Method {
        owner,
        kind: MethodKind::Dynamic(image),
        name,
        flags: method_flags::PUBLIC | method_flags::STATIC,
        impl_flags: impl_flags::NO_INLINING,
        generic_args: &[],
        definition: None,
        runtime: Default::default(),
        slot: AtomicU32::new(u32::MAX),
        sig: Lazy::default(),
    })
}

impl Method {
    pub fn is_dynamic(&self) -> bool {
        matches!(self.kind, MethodKind::Dynamic(_))
    }

    pub(crate) fn dynamic_code(&self) -> Option<&'static DynamicCode> {
        match self.kind {
            MethodKind::Dynamic(image) => image.dynamic.as_ref(),
            _ => None,
        }
    }

    /// The references in the code of a dynamic method.
    pub fn dynamic_refs(&self) -> &'static [DynamicRef] {
        self.dynamic_code().map_or(&[], DynamicCode::refs)
    }

    /// Gives a dynamic method its code; only the first call counts.
    pub fn define(&self, body: DynamicBody) {
        if let Some(code) = self.dynamic_code() {
            let _ = code.body.set(body);
        }
    }

    /// The type from which a method's access to fields is judged; None = all fields are accessible.
    pub(crate) fn access_scope(&self) -> Option<Ty> {
        match self.dynamic_code() {
            Some(code) => code.scope,
            None => Some(self.owner),
        }
    }
}

/// The image of a module without types, and of an assembly if there is an identity.
fn module_image(name: &str, identity: Option<&AssemblyName>) -> Vec<u8> {
    const SHA1: u32 = 0x8004;
    let mut image = ImageWriter::default();
    let module_name = image.heaps.string(name).0;
    let mvid = image.heaps.guid([0; 16]).0;
    image.tables.add(TableId::Module, &[0, module_name, mvid, 0, 0]);
    let global = image.heaps.string("<Module>").0;
    image.tables.add(TableId::TypeDef, &[0, global, 0, 0, 1, 1]);
    if let Some(identity) = identity {
        let (name, culture) = (image.heaps.string(&identity.name).0, image.heaps.string(&identity.culture).0);
        let [major, minor, build, revision] = identity.version.map(u32::from);
        image.tables.add(TableId::Assembly, &[SHA1, major, minor, build, revision, 0, 0, name, culture]);
    }
    image.finish_for_loader()
}

/// An assembly with one module and no types. `is_runnable`: its types may be instantiated and its code run. `is_collectible`: it is
/// freed when it is no longer reachable.
///
/// # Errors
/// `BadImageFormat`: the names are too long.
pub fn create_assembly(
    identity: &AssemblyName,
    is_runnable: bool,
    is_collectible: bool,
) -> LoadResult<&'static Assembly> {
    let owner = if is_collectible { crate::universe().create_owner() } else { None };
    let bytes = module_image(&identity.name, Some(identity));
    let assembly = Assembly::from_dynamic(identity, bytes, is_runnable, owner)?;
    crate::universe().binder().add_dynamic(assembly);
    Ok(assembly)
}

/// A module of an assembly made by `create_assembly`.
///
/// # Errors
/// As `create_assembly`.
pub fn create_module(assembly: &'static Assembly, name: &str) -> LoadResult<&'static Image> {
    Image::in_dynamic_assembly(assembly, name, module_image(name, None))
}
