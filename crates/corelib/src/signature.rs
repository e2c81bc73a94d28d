//! System.Signature: signatures of methods, properties and fields as objects, and their custom modifiers.
//!
//! Offsets of parameters are those in the signature's blob. Left out: signatures of methods made at run time have none.

use crate::arguments::{FieldArgument, MethodArgument, ObjectPlace, TypeArgument};
use crate::class_fields::{method_of, ty_of};
use saki_metadata::{BadImage, CallConv, ElementType, SigReader, is_field_sig, parse_field_sig, parse_method_sig};
use saki_metadata::{Token, parse_property_sig};
use saki_reflect::objects::type_array;
use saki_runtime::object::type_objects::type_of_object;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Obj, ToManaged};
use saki_types::signature::{resolve_method_sig, resolve_type_sig};
use saki_types::{Field, GenericContext, Image, LibraryType, LoadError, Method, MethodKind, Ty, universe};

static ARGUMENTS: ManagedField = ManagedField::new(LibraryType::Signature, "m_arguments");
static DECLARING_TYPE: ManagedField = ManagedField::new(LibraryType::Signature, "m_declaringType");
static RESULT: ManagedField = ManagedField::new(LibraryType::Signature, "m_returnTypeORfieldType");
static BLOB: ManagedField = ManagedField::new(LibraryType::Signature, "m_sig");
static CONVENTION: ManagedField =
    ManagedField::new(LibraryType::Signature, "m_managedCallingConventionAndArgIteratorFlags");
static LENGTH: ManagedField = ManagedField::new(LibraryType::Signature, "m_csig");
pub(crate) static METHOD: ManagedField = ManagedField::new(LibraryType::Signature, "m_pMethod");

/// `CallingConventions`.
mod convention {
    pub(super) const STANDARD: i32 = 1;
    pub(super) const VARARGS: i32 = 2;
    pub(super) const HAS_THIS: i32 = 0x20;
    pub(super) const EXPLICIT_THIS: i32 = 0x40;
}

/// What a signature says.
struct Parsed {
    result: Ty,
    parameters: Vec<Ty>,
    convention: i32,
}

fn flags_of(is_vararg: bool, has_this: bool, explicit_this: bool) -> i32 {
    (if is_vararg { convention::VARARGS } else { convention::STANDARD })
        | if has_this { convention::HAS_THIS } else { 0 }
        | if explicit_this { convention::EXPLICIT_THIS } else { 0 }
}

fn parse(image: &'static Image, blob: &[u8], context: &GenericContext) -> saki_types::LoadResult<Parsed> {
    const PROPERTY: u8 = 8;
    if is_field_sig(blob) {
        let result = resolve_type_sig(image, &parse_field_sig(blob)?, context)?;
        return Ok(Parsed { result, parameters: Vec::new(), convention: convention::STANDARD });
    }
    if blob.first().is_some_and(|first| first & 0xf == PROPERTY) {
        let raw = parse_property_sig(blob)?;
        let parameters = raw.params.iter().map(|ty| resolve_type_sig(image, ty, context));
        return Ok(Parsed {
            result: resolve_type_sig(image, &raw.ty, context)?,
            parameters: parameters.collect::<saki_types::LoadResult<_>>()?,
            convention: flags_of(false, raw.has_this, false),
        });
    }
    let raw = parse_method_sig(blob)?;
    let sig = resolve_method_sig(image, &raw, context)?;
    let convention = flags_of(raw.call_conv == CallConv::VarArg, raw.has_this, raw.explicit_this);
    Ok(Parsed { result: sig.ret, parameters: sig.params, convention })
}

/// The blob of a method's signature; empty for methods without metadata.
fn blob_of(method: &'static Method) -> Result<&'static [u8], BadImage> {
    match method.kind {
        MethodKind::Def { image, rid } => image.meta.blob(image.meta.method_def(rid)?.signature),
        _ => Ok(&[]),
    }
}

fn get_signature(
    t: CurrentThread,
    this: Option<Obj>,
    blob: *const u8,
    length: i32,
    field: FieldArgument,
    method: Option<Obj>,
    declaring: Option<Obj>,
) -> Managed<()> {
    let Some(this) = this else { return Ok(()) };
    let method = method.is_some().then(|| method_of(method));
    fill(t, this, (blob, length), field.find(), method, declaring.and_then(type_of_object))
}

fn initialize(
    t: CurrentThread,
    this: ObjectPlace,
    blob: *const u8,
    length: i32,
    field: FieldArgument,
    method: MethodArgument,
) -> Managed<()> {
    let Some(this) = this.get() else { return Ok(()) };
    let declaring = DECLARING_TYPE.obj(this).and_then(type_of_object);
    fill(t, this, (blob, length), field.find(), method.find(), declaring)
}

/// Fills a Signature object for a field, a method, or a blob of metadata.
fn fill(
    t: CurrentThread,
    this: Obj,
    (blob, length): (*const u8, i32),
    field: Option<&'static Field>,
    method: Option<&'static Method>,
    declaring: Option<Ty>,
) -> Managed<()> {
    let (mut at, parsed): (&[u8], Parsed) = if let Some(field) = field {
        let row = field.image().meta.field(field.rid).and_then(|row| field.image().meta.blob(row.signature));
        let result = match declaring.filter(|ty| *ty != field.owner) {
            Some(ty) if ty.generic_definition() == field.owner.generic_definition() => {
                ty.field_by_rid(field.rid).and_then(|field| field.ty())
            }
            _ => field.ty(),
        };
        let result = result.to_managed(t)?;
        let blob = row.map_err(LoadError::from).to_managed(t)?;
        (blob, Parsed { result, parameters: Vec::new(), convention: convention::STANDARD })
    } else if let Some(method) = method {
        let sig = method.sig().to_managed(t)?;
        METHOD.set(this, std::ptr::from_ref(method));
        let convention = flags_of(sig.is_vararg, sig.has_this, sig.explicit_this);
        let blob = blob_of(method).map_err(LoadError::from).to_managed(t)?;
        (blob, Parsed { result: sig.ret, parameters: sig.params.clone(), convention })
    } else {
        // SAFETY: managed code passes a blob that it got from metadata.
        let blob = unsafe { std::slice::from_raw_parts(blob, usize::try_from(length).unwrap_or(0)) };
        let ty = declaring.unwrap_or_else(|| universe().object());
        let context = GenericContext { class_args: ty.args, method_args: &[] };
        (blob, parse(ty.image(), blob, &context).to_managed(t)?)
    };
    if at.is_empty() {
        at = &[];
    }
    BLOB.set(this, at.as_ptr());
    LENGTH.set(this, at.len() as i32);
    CONVENTION.set(this, parsed.convention);
    RESULT.set_ref(t, this, Obj::of_type(t, parsed.result)?);
    ARGUMENTS.set_ref(t, this, type_array(t, universe().runtime_type(), &parsed.parameters)?);
    let declaring = match declaring {
        Some(ty) => Some(Obj::of_type(t, ty)?),
        None => method.map(|method| Obj::of_type(t, method.owner)).transpose()?,
    };
    DECLARING_TYPE.set_ref(t, this, declaring);
    Ok(())
}

/// Whether two types are the same, where type parameters of methods are the same by their number.
fn is_same(left: Ty, right: Ty) -> bool {
    if left == right {
        return true;
    }
    if let (Some(l), Some(r)) = (left.generic_param(), right.generic_param()) {
        return left.element_type == right.element_type && l.index == r.index;
    }
    if let (Some(l), Some(r)) = (left.element(), right.element()) {
        return left.element_type == right.element_type && left.array_rank() == right.array_rank() && is_same(l, r);
    }
    !left.args.is_empty()
        && left.generic_definition() == right.generic_definition()
        && left.args.iter().zip(right.args).all(|(&l, &r)| is_same(l, r))
}

fn types_in(signature: Obj) -> Vec<Ty> {
    let arguments = ARGUMENTS.obj(signature).and_then(Obj::as_array);
    std::iter::once(ty_of(RESULT.obj(signature))).chain(crate::class_fields::types_of(arguments)).collect()
}

fn compare(_t: CurrentThread, left: Option<Obj>, right: Option<Obj>) -> bool {
    let (Some(left), Some(right)) = (left, right) else { return left == right };
    if CONVENTION.get::<i32>(left) != CONVENTION.get::<i32>(right) {
        return false;
    }
    let (left, right) = (types_in(left), types_in(right));
    left.len() == right.len() && left.iter().zip(right).all(|(&l, r)| is_same(l, r))
}

/// The signature's blob.
fn bytes_of(signature: Obj) -> &'static [u8] {
    let (address, length) = (BLOB.get::<*const u8>(signature), LENGTH.get::<i32>(signature));
    if address.is_null() {
        return &[];
    }
    // SAFETY: `get_signature` stored a blob of metadata.
    unsafe { std::slice::from_raw_parts(address, usize::try_from(length).unwrap_or(0)) }
}

/// Offset of a parameter, 0 = the result or the field's type.
fn offset_of(blob: &[u8], parameter: u32) -> Result<usize, BadImage> {
    const FIELD: u8 = 6;
    const GENERIC: u8 = 0x10;
    let mut reader = SigReader::new(blob);
    let first = reader.read_u8()?;
    if first & 0xf != FIELD {
        if first & GENERIC != 0 {
            reader.read_compressed_u32()?;
        }
        reader.read_compressed_u32()?;
    }
    for _ in 0..parameter {
        reader.read_type()?;
    }
    Ok(reader.offset_bytes())
}

fn get_parameter_offset(t: CurrentThread, this: Option<Obj>, parameter: i32) -> Managed<i32> {
    let Some(this) = this else { return Ok(0) };
    parameter_offset(t, bytes_of(this), parameter)
}

fn parameter_offset(t: CurrentThread, blob: &[u8], parameter: i32) -> Managed<i32> {
    if blob.is_empty() {
        return Ok(0);
    }
    offset_of(blob, parameter as u32).map(|offset| offset as i32).map_err(LoadError::from).to_managed(t)
}

/// Skips custom modifiers, and collects those that are wanted.
fn modifiers(reader: &mut SigReader<'_>, required: bool) -> Result<Vec<Token>, BadImage> {
    const REQUIRED: u8 = ElementType::CModReqd as u8;
    const OPTIONAL: u8 = ElementType::CModOpt as u8;
    let mut found = Vec::new();
    while let Some(kind @ (REQUIRED | OPTIONAL)) = reader.peek_u8() {
        reader.read_u8()?;
        let token = reader.read_type_token()?;
        if (kind == REQUIRED) == required {
            found.push(token);
        }
    }
    Ok(found)
}

/// Offset of the type that is part number `index` of the type at `offset`: an argument, an element, a function
/// pointer's parameter (0 = its result).
fn part_offset(blob: &[u8], offset: usize, index: u32) -> Result<i32, BadImage> {
    let mut reader = SigReader::new(blob.get(offset..).unwrap_or_default());
    modifiers(&mut reader, true)?;
    match reader.read_element_type()? {
        ElementType::Ptr | ElementType::ByRef | ElementType::SzArray | ElementType::Array => {}
        ElementType::GenericInst => {
            reader.read_element_type()?;
            reader.read_type_token()?;
            reader.read_compressed_u32()?;
            for _ in 0..index {
                reader.read_type()?;
            }
        }
        ElementType::FnPtr => {
            let first = reader.read_u8()?;
            if first & 0x10 != 0 {
                reader.read_compressed_u32()?;
            }
            reader.read_compressed_u32()?;
            for _ in 0..index {
                reader.read_type()?;
            }
        }
        _ => return Ok(-1),
    }
    Ok((offset + reader.offset_bytes()) as i32)
}

fn get_part_offset(t: CurrentThread, this: Option<Obj>, offset: i32, index: i32) -> Managed<i32> {
    let Some(this) = this else { return Ok(-1) };
    part_offset(bytes_of(this), offset as usize, index as u32).map_err(LoadError::from).to_managed(t)
}

/// `SignatureCallingConvention` of the function pointer at an offset.
fn get_pointer_convention(t: CurrentThread, this: Option<Obj>, offset: i32) -> Managed<u8> {
    this.map_or(Ok(0), |this| pointer_convention(t, bytes_of(this), offset))
}

fn pointer_convention(t: CurrentThread, blob: &[u8], offset: i32) -> Managed<u8> {
    let read = || -> Result<u8, BadImage> {
        let mut reader = SigReader::new(blob.get(offset as usize..).unwrap_or_default());
        modifiers(&mut reader, true)?;
        match reader.read_element_type()? {
            ElementType::FnPtr => Ok(reader.read_u8()? & 0xf),
            _ => Ok(0),
        }
    };
    read().map_err(LoadError::from).to_managed(t)
}

/// The types of the custom modifiers at an offset, the innermost first.
fn get_modifiers<'t>(t: CurrentThread<'t>, this: Option<Obj>, offset: i32, required: bool) -> Managed<Array<'t>> {
    let Some(this) = this else { return type_array(t, universe().type_(), &[]) };
    let mut reader = SigReader::new(bytes_of(this).get(offset as usize..).unwrap_or_default());
    let tokens = modifiers(&mut reader, required).map_err(LoadError::from).to_managed(t)?;
    let declaring = DECLARING_TYPE.obj(this).map_or_else(|| universe().object(), |ty| ty_of(Some(ty)));
    // SAFETY: the field holds null or the address of a method.
    let method = unsafe { METHOD.get::<*const Method>(this).as_ref::<'static>() };
    let method_args = method.map_or(&[][..], |method| method.generic_args());
    let context = GenericContext { class_args: declaring.args, method_args };
    let image = method.map_or_else(|| declaring.image(), |method| method.image());
    let types = tokens.iter().rev().map(|token| image.resolve_type(*token, &context));
    let types = types.collect::<saki_types::LoadResult<Vec<Ty>>>().to_managed(t)?;
    type_array(t, universe().type_(), &types)
}

/// The bytes of a blob of metadata.
///
/// # Safety
/// So many bytes of an image lie there.
unsafe fn blob_at(start: *const u8, length: i32) -> &'static [u8] {
    if start.is_null() {
        return &[];
    }
    // SAFETY: so many bytes lie there, as this function demands, and images stay.
    unsafe { std::slice::from_raw_parts(start, usize::try_from(length).unwrap_or(0)) }
}

fn parameter_offset_in(t: CurrentThread, blob: *const u8, length: i32, parameter: i32) -> Managed<i32> {
    // SAFETY: managed code passes the fields that `fill` stored.
    parameter_offset(t, unsafe { blob_at(blob, length) }, parameter)
}

fn part_offset_in(t: CurrentThread, blob: *const u8, length: i32, offset: i32, index: i32) -> Managed<i32> {
    // SAFETY: managed code passes the fields that `fill` stored.
    let blob = unsafe { blob_at(blob, length) };
    part_offset(blob, offset as usize, index as u32).map_err(LoadError::from).to_managed(t)
}

fn pointer_convention_in(t: CurrentThread, blob: *const u8, length: i32, offset: i32) -> Managed<i32> {
    // SAFETY: managed code passes the fields that `fill` stored.
    pointer_convention(t, unsafe { blob_at(blob, length) }, offset).map(i32::from)
}

fn modifiers_place(
    t: CurrentThread,
    this: ObjectPlace,
    offset: i32,
    required: i32,
    result: ObjectPlace,
) -> Managed<()> {
    result.set(t, get_modifiers(t, this.get(), offset, required != 0)?);
    Ok(())
}

fn are_equal(
    t: CurrentThread,
    left: *const u8,
    left_length: i32,
    left_type: TypeArgument,
    right: *const u8,
    right_length: i32,
    right_type: TypeArgument,
) -> Managed<i32> {
    let types = |blob: &[u8], ty: Option<Ty>| -> Managed<(i32, Vec<Ty>)> {
        let ty = ty.unwrap_or_else(|| universe().object());
        let context = GenericContext { class_args: ty.args, method_args: &[] };
        let parsed = parse(ty.image(), blob, &context).to_managed(t)?;
        Ok((parsed.convention, std::iter::once(parsed.result).chain(parsed.parameters).collect()))
    };
    // SAFETY: managed code passes the fields that `fill` stored.
    let left = unsafe { blob_at(left, left_length) };
    // SAFETY: managed code passes the fields that `fill` stored.
    let right = unsafe { blob_at(right, right_length) };
    let ((left_convention, left), (right_convention, right)) =
        (types(left, left_type.find())?, types(right, right_type.find())?);
    let are_same = left.len() == right.len() && left.iter().zip(right).all(|(&l, r)| is_same(l, r));
    Ok(i32::from(left_convention == right_convention && are_same))
}

/// The internal calls of `System.Signature`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net9 System.Signature::GetSignature", &get_signature),
    InternalCall::new("@net9 System.Signature::CompareSig", &compare),
    InternalCall::new("@net9 System.Signature::GetParameterOffset", &get_parameter_offset),
    InternalCall::new("@net9 System.Signature::GetTypeParameterOffset", &get_part_offset),
    InternalCall::new(
        "@net9 System.Signature::GetCallingConventionFromFunctionPointerAtOffset",
        &get_pointer_convention,
    ),
    InternalCall::new("@net9 System.Signature::GetCustomModifiersAtOffset", &get_modifiers),
    InternalCall::new("@net10 QCall::Signature_Init", &initialize),
    InternalCall::new("@net10 QCall::Signature_AreEqual", &are_equal),
    InternalCall::new("@net10 System.Signature::GetParameterOffsetInternal", &parameter_offset_in),
    InternalCall::new("@net10 System.Signature::GetTypeParameterOffsetInternal", &part_offset_in),
    InternalCall::new(
        "@net10 System.Signature::GetCallingConventionFromFunctionPointerAtOffsetInternal",
        &pointer_convention_in,
    ),
    InternalCall::new("@net10 QCall::Signature_GetCustomModifiersAtOffset", &modifiers_place),
];
