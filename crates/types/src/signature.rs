//! Signatures with generic arguments substituted while they are decoded; and substitution into finished types.

use crate::collectible;
use crate::domain::Image;
use crate::error::{LoadError, LoadErrorKind, LoadResult};
use crate::field::Field;
use crate::method::{ArrayMethod, Method, MethodKind, MethodSig};
use crate::ty::GenericContext;
use crate::ty::{Ty, TypeKind};
use saki_metadata::{CallConv, ElementType, MethodSigRaw, TableId, Token, TypeSig};

/// Arrays with more dimensions cannot be loaded, as in .NET.
pub const MAX_ARRAY_RANK: u32 = 32;

/// The type that a decoded signature denotes in `context`.
///
/// # Errors
/// `BadImageFormat` for a parameter number that the context does not have; what the tokens give.
pub fn resolve_type_sig(image: &'static Image, sig: &TypeSig, context: &GenericContext) -> LoadResult<Ty> {
    let universe = image.universe;
    let argument = |args: &[Ty], index: u32| {
        args.get(index as usize).copied().ok_or_else(|| {
            let message = format!("generic parameter {index} outside a context that has {}", args.len());
            LoadError::new(LoadErrorKind::BadImageFormat, message, "")
        })
    };
    Ok(match sig {
        TypeSig::Prim(element) => universe.primitive(*element),
        TypeSig::Class(token) | TypeSig::ValueType(token) => named_type(image, *token, context)?,
        TypeSig::Var(index) => argument(context.class_args, *index)?,
        TypeSig::MVar(index) => argument(context.method_args, *index)?,
        TypeSig::Ptr(inner) => universe.pointer_to(resolve_type_sig(image, inner, context)?),
        TypeSig::ByRef(inner) => universe.byref_to(resolve_type_sig(image, inner, context)?),
        TypeSig::SzArray(inner) => universe.sz_array_of(resolve_type_sig(image, inner, context)?),
        TypeSig::Array { elem, rank, .. } if *rank > MAX_ARRAY_RANK => {
            let element = resolve_type_sig(image, elem, context)?.full_name();
            let message = format!("Could not load type '{element}[...]': an array of {rank} dimensions");
            return Err(LoadError::type_load(message, element));
        }
        TypeSig::Array { elem, rank, .. } => universe.array_of(resolve_type_sig(image, elem, context)?, *rank),
        TypeSig::GenericInst { token, args, .. } => {
            let definition = named_type(image, *token, context)?;
            let definition = definition.generic_definition().unwrap_or(definition);
            let args = args.iter().map(|a| resolve_type_sig(image, a, context)).collect::<LoadResult<Vec<_>>>()?;
            universe.instantiate(definition, &args)?
        }
        TypeSig::FnPtr(raw) => universe.function_pointer(resolve_method_sig(image, raw, context)?),
        TypeSig::Pinned(inner) | TypeSig::Modified { inner, .. } => resolve_type_sig(image, inner, context)?,
    })
}

/// Limit of TypeSpecs that name others in their signatures. Compilers emit none; a TypeSpec that names itself, directly
/// or through others, would recurse without end.
const MAX_NESTED_TYPE_SPECS: u32 = 8;

/// The type that a token in a signature names.
fn named_type(image: &'static Image, token: Token, context: &GenericContext) -> LoadResult<Ty> {
    require_finite(image, token, MAX_NESTED_TYPE_SPECS)?;
    image.resolve_type(token, context)
}

fn require_finite(image: &'static Image, token: Token, levels: u32) -> LoadResult<()> {
    if token.table() != TableId::TypeSpec {
        return Ok(());
    }
    let Some(levels) = levels.checked_sub(1) else { return Err(image.bad_token(token)) };
    let row = image.meta.type_spec(token.rid())?;
    let sig = saki_metadata::parse_type_spec(image.meta.blob(row.signature)?)?;
    require_finite_tokens(image, &sig, levels)
}

fn require_finite_tokens(image: &'static Image, sig: &TypeSig, levels: u32) -> LoadResult<()> {
    let inner = |sig: &TypeSig| require_finite_tokens(image, sig, levels);
    match sig {
        TypeSig::Class(token) | TypeSig::ValueType(token) => require_finite(image, *token, levels),
        TypeSig::Ptr(of) | TypeSig::ByRef(of) | TypeSig::SzArray(of) | TypeSig::Array { elem: of, .. } => inner(of),
        TypeSig::Pinned(of) | TypeSig::Modified { inner: of, .. } => inner(of),
        TypeSig::GenericInst { token, args, .. } => {
            require_finite(image, *token, levels)?;
            args.iter().try_for_each(inner)
        }
        TypeSig::FnPtr(raw) => std::iter::once(&raw.ret).chain(&raw.params).try_for_each(inner),
        TypeSig::Prim(_) | TypeSig::Var(_) | TypeSig::MVar(_) => Ok(()),
    }
}

/// A method signature in `context`.
///
/// # Errors
/// `BadImageFormat` for a parameter of type void and for a generic parameter number that the context does not have;
/// what the tokens give.
pub fn resolve_method_sig(
    image: &'static Image,
    raw: &MethodSigRaw,
    context: &GenericContext,
) -> LoadResult<MethodSig> {
    let params: Vec<Ty> = raw.params.iter().map(|p| resolve_type_sig(image, p, context)).collect::<LoadResult<_>>()?;
    if params.iter().any(|param| param.element_type == ElementType::Void) {
        return Err(LoadError::new(
            LoadErrorKind::BadImageFormat,
            "a parameter of type void",
            image.meta.path().display().to_string(),
        ));
    }
    Ok(MethodSig {
        has_this: raw.has_this,
        explicit_this: raw.explicit_this,
        is_vararg: raw.call_conv == CallConv::VarArg,
        unmanaged_convention: match raw.call_conv {
            CallConv::Default | CallConv::VarArg => 0,
            CallConv::Unmanaged => 1,
            other => other as u8,
        },
        generic_param_count: raw.generic_param_count,
        ret: resolve_type_sig(image, &raw.ret, context)?,
        params,
        sentinel: raw.sentinel,
    })
}

/// The undecoded signature of a metadata method.
pub(crate) fn raw_method_sig(image: &'static Image, rid: u32) -> LoadResult<MethodSigRaw> {
    let row = image.meta.method_def(rid)?;
    Ok(saki_metadata::parse_method_sig(image.meta.blob(row.signature)?)?)
}

fn method_sig(method: &'static Method) -> LoadResult<&'static MethodSig> {
    method_sig_with(method, method.generic_args()).map(|sig| collectible::keep_beside(method, sig))
}

/// The signature of `method` with other method type arguments: for comparing generic methods of two types.
///
/// # Errors
/// `BadImageFormat` for a signature of another kind of method or with a generic parameter number that the method does
/// not have; what the tokens give.
pub fn method_sig_with(method: &'static Method, method_args: &'static [Ty]) -> LoadResult<MethodSig> {
    match method.kind {
        MethodKind::Def { image, rid } => {
            let context = GenericContext { class_args: method.owner.args, method_args };
            let raw = raw_method_sig(image, rid)?;
            if raw.has_this == method.is_static() || raw.generic_param_count as usize != method_args.len() {
                let message = format!("The signature of {} is of another kind of method", method.name);
                return Err(LoadError::new(LoadErrorKind::BadImageFormat, message, method.name));
            }
            resolve_method_sig(image, &raw, &context)
        }
        MethodKind::Array(kind) => Ok(array_method_sig(method.owner, kind)),
        MethodKind::Dynamic(image) => match &image.dynamic {
            Some(code) => Ok(code.sig().clone()),
            None => Err(LoadError::invalid_program("a dynamic method without code")),
        },
        MethodKind::Remoting(stub) => stub.sig(),
        MethodKind::NativeCall(sig) => Ok(sig.clone()),
    }
}

impl Method {
    /// The signature with this method's arguments substituted.
    ///
    /// # Errors
    /// `BadImageFormat`, `TypeLoad`.
    pub fn sig(&'static self) -> LoadResult<&'static MethodSig> {
        if let Some(code) = self.dynamic_code() {
            return Ok(code.sig());
        }
        self.sig.find(|| method_sig(self))
    }

    /// How many parameters the signature has, whose types need not be there.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub(crate) fn parameter_count(&'static self) -> LoadResult<usize> {
        match self.kind {
            MethodKind::Def { image, rid } => Ok(raw_method_sig(image, rid)?.params.len()),
            _ => Ok(self.sig()?.params.len()),
        }
    }
}

impl Field {
    /// Field type with the owner's arguments substituted.
    ///
    /// # Errors
    /// `BadImageFormat`, `TypeLoad`.
    pub fn ty(&'static self) -> LoadResult<Ty> {
        self.ty.find(|| field_type(self))
    }
}

fn array_method_sig(array: Ty, kind: ArrayMethod) -> MethodSig {
    let universe = array.universe();
    let element = array.element().expect("array methods belong to arrays");
    let rank = array.array_rank() as usize;
    let indices = vec![universe.int32(); rank];
    let (ret, params) = match kind {
        ArrayMethod::Ctor => (universe.void(), indices),
        ArrayMethod::CtorNested(levels) => (universe.void(), vec![universe.int32(); levels as usize]),
        ArrayMethod::CtorBounds => (universe.void(), vec![universe.int32(); rank * 2]),
        ArrayMethod::Get => (element, indices),
        ArrayMethod::Set => (universe.void(), [indices, vec![element]].concat()),
        ArrayMethod::Address => (universe.byref_to(element), indices),
    };
    MethodSig::managed(true, ret, params)
}

/// Levels of SZ arrays: 2 for `int[][]`.
pub(crate) fn nesting(array: Ty) -> u32 {
    let mut levels = 0;
    let mut at = Some(array);
    while let Some(ty) = at.filter(|t| t.is_sz_array()) {
        levels += 1;
        at = ty.element();
    }
    levels
}

fn field_type(field: &'static Field) -> LoadResult<Ty> {
    let row = field.image().meta.field(field.rid)?;
    let sig = saki_metadata::parse_field_sig(field.image().meta.blob(row.signature)?)?;
    let context = GenericContext { class_args: field.owner.args, method_args: &[] };
    resolve_type_sig(field.image(), &sig, &context)
}

/// Whether the field's type has a required modifier of its own, which compilers write for `volatile` alone.
pub(crate) fn is_volatile_field(field: &'static Field) -> LoadResult<bool> {
    let row = field.image().meta.field(field.rid)?;
    let sig = saki_metadata::parse_field_sig(field.image().meta.blob(row.signature)?)?;
    Ok(matches!(sig, saki_metadata::TypeSig::Modified { required: true, .. }))
}

/// Substitutes type and method arguments into a type written in terms of generic parameters. A method parameter stays
/// when `method_args` is empty, a type parameter when `class_args` is.
///
/// # Errors
/// `TypeLoad` from instantiation.
pub fn inflate(ty: Ty, class_args: &[Ty], method_args: &[Ty]) -> LoadResult<Ty> {
    if !ty.is_open {
        return Ok(ty);
    }
    let universe = ty.universe();
    let again = |inner: Ty| inflate(inner, class_args, method_args);
    Ok(match &ty.kind {
        TypeKind::Var(p) => class_args.get(p.index as usize).copied().unwrap_or(ty),
        TypeKind::MVar(p) => method_args.get(p.index as usize).copied().unwrap_or(ty),
        TypeKind::SzArray(inner) => universe.sz_array_of(again(inner)?),
        TypeKind::Array { element, rank } => universe.array_of(again(element)?, *rank),
        TypeKind::Ptr(inner) => universe.pointer_to(again(inner)?),
        TypeKind::ByRef(inner) => universe.byref_to(again(inner)?),
        TypeKind::FnPtr(sig) => {
            let mut out = (*sig).clone();
            out.ret = again(sig.ret)?;
            out.params = sig.params.iter().map(|p| again(p)).collect::<LoadResult<_>>()?;
            universe.function_pointer(out)
        }
        TypeKind::Def(_) | TypeKind::Inst { .. } => {
            let definition = ty.generic_definition().expect("an open definition or instantiation is generic");
            let args = ty.args.iter().map(|a| again(a)).collect::<LoadResult<Vec<_>>>()?;
            universe.instantiate(definition, &args)?
        }
    })
}

/// The signed form of an element type: the one by which element types with the same representation are compared.
pub fn reduced_element(element: ElementType) -> ElementType {
    use ElementType as E;
    match element {
        E::U1 => E::I1,
        E::U2 => E::I2,
        E::U4 => E::I4,
        E::U8 => E::I8,
        E::U => E::I,
        other => other,
    }
}
