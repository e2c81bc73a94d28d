//! How each parameter and the result of a native call are marshalled, from ImplMap, FieldMarshal and the types.
//!
//! One plan serves P/Invoke methods, delegates over native code, and native code that calls delegates. Invariant: the
//! wrapper's code (`pinvoke`, `callback`) and the descriptors that the runtime's helpers read come from the same plan.
//! Left out: `PreserveSig = false`, which has no meaning without COM.

use super::layout::native_layout;
use super::native_type::{ArrayCount, CharSet, MarshalPosition, NativeType, StringForm, native_type};
use crate::ir::Transition;
use saki_metadata::native_type::native;
use saki_metadata::{CaEnumType, CaTypeHint, CaValue};
use saki_metadata::{ElementType, ImplMapRow, NativeTypeRaw, Rid, TableId, Token};
use saki_types::ty::type_flags;
use saki_types::{Image, LibraryType, LoadResult, Method, MethodKind, Ty, load_texts};

/// `PInvokeAttributes`. ECMA-335 §II.23.1.8.
pub mod pinvoke_flags {
    /// `ExactSpelling`: no suffix is tried.
    pub const NO_MANGLE: u16 = 1;
    /// The bits that say how strings are passed.
    pub const CHAR_SET_MASK: u16 = 6;
    /// Strings are UTF-16.
    pub const CHAR_SET_UNICODE: u16 = 4;
    /// `SetLastError`: errno is kept for `Marshal.GetLastWin32Error`.
    pub const SUPPORTS_LAST_ERROR: u16 = 0x40;
}

const PARAM_IN: u16 = 1;
const PARAM_OUT: u16 = 2;
const PARAM_HAS_FIELD_MARSHAL: u16 = 0x2000;
/// `CharSet.Unicode` as attributes spell it.
const ATTRIBUTE_CHAR_SET_UNICODE: i32 = 3;

/// How the wrapper passes a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarshalAction {
    /// Unchanged: numbers, pointers, blittable structs by value.
    Same,
    /// `bool` and one-byte `char`: converted in place; by reference through a native copy on the stack.
    Scalar,
    /// The managed address: `ref` to a type with the same bits on both sides.
    Address,
    /// Address of the first array element, or 0.
    ArrayData,
    /// Address of the fields of an object with blittable layout, or 0.
    ObjectData,
    /// Address of a string's characters, or 0.
    Utf16Chars,
    /// The handle of a SafeHandle, which is kept referenced during the call.
    SafeHandle,
    /// The handle of a CriticalHandle, without reference counting.
    CriticalHandle,
    HandleRef,
    /// A struct by value whose native layout is not the managed one.
    StructValue,
    /// A struct by value that native code takes by pointer (`LPStruct`): the address of the parameter, or of a native
    /// copy.
    StructPointer,
    /// Through an `ICustomMarshaler`.
    Custom,
    /// Through the marshalling helpers.
    Helper,
    /// An array result of unknown length: through the helpers when managed code makes it, refused when native code
    /// does.
    UnsizedArray,
    /// MarshalDirectiveException.
    Refused,
}

/// One parameter, or the result.
#[derive(Clone, PartialEq, Debug)]
pub struct ParamPlan {
    /// 1-based, as in the Param table; 0 = the result.
    pub index: u32,
    /// Managed type; for by-reference parameters that of the referent.
    pub ty: Ty,
    pub by_ref: bool,
    pub is_in: bool,
    pub is_out: bool,
    /// The native slot: the word itself, or, if `by_ref`, the memory at which it points.
    pub native: NativeType,
    pub action: MarshalAction,
}

/// A whole native signature.
#[derive(Clone, PartialEq, Debug)]
pub struct MethodPlan {
    pub params: Vec<ParamPlan>,
    pub ret: ParamPlan,
    pub set_last_error: bool,
    /// The thread stays in managed code during the call.
    pub suppresses_gc_transition: bool,
}

impl MethodPlan {
    /// Parameter by its index, 0 = the result.
    pub fn param(&self, index: u32) -> Option<&ParamPlan> {
        match index.checked_sub(1) {
            None => Some(&self.ret),
            Some(position) => self.params.get(position as usize),
        }
    }

    /// What the thread does around the call.
    pub fn transition(&self) -> Transition {
        match (self.suppresses_gc_transition, self.set_last_error) {
            (true, _) => Transition::None,
            (false, false) => Transition::Leave,
            (false, true) => Transition::LeaveSavingError,
        }
    }

    /// The first parameter or result that cannot be marshalled in a call of native code.
    pub fn refused_by_calls(&self) -> Option<&ParamPlan> {
        self.refused().or_else(|| (self.ret.action == MarshalAction::UnsizedArray).then_some(&self.ret))
    }

    /// The first parameter or result that cannot be marshalled in either direction.
    pub fn refused(&self) -> Option<&ParamPlan> {
        std::iter::once(&self.ret).chain(&self.params).find(|p| p.action == MarshalAction::Refused)
    }
}

/// The ImplMap row of a method.
///
/// # Errors
/// `BadImageFormat`.
pub fn impl_map(method: &'static Method) -> LoadResult<Option<ImplMapRow>> {
    let MethodKind::Def { image, rid } = method.kind else { return Ok(None) };
    Ok(image.meta.impl_map(Token::new(TableId::MethodDef, rid))?)
}

/// The plan of a P/Invoke method, or of a delegate's `Invoke`.
///
/// # Errors
/// The errors of the signature, the metadata rows and the layouts of the types involved.
pub fn method_plan(method: &'static Method) -> LoadResult<MethodPlan> {
    let row = impl_map(method)?;
    let sig = method.sig()?;
    let flags = row.map_or(0, |row| row.mapping_flags);
    let is_calli = matches!(method.kind, MethodKind::NativeCall(_));
    let mut plan = if is_calli || method.image().has_runtime_marshalling()? {
        marshalled_plan(method, row, flags)?
    } else {
        super::unmarshalled::plan(method, flags)?
    };
    if sig.is_vararg {
        plan.ret.action = MarshalAction::Refused;
        plan.ret.native = NativeType::Refused(format!("{}: variable arguments to native code.", method.full_name()));
    }
    plan.suppresses_gc_transition = method.suppresses_gc_transition()?;
    Ok(plan)
}

fn marshalled_plan(method: &'static Method, row: Option<ImplMapRow>, flags: u16) -> LoadResult<MethodPlan> {
    let sig = method.sig()?;
    let charset = match row {
        Some(_) if flags & pinvoke_flags::CHAR_SET_MASK == pinvoke_flags::CHAR_SET_UNICODE => CharSet::Unicode,
        Some(_) => CharSet::Ansi,
        None => delegate_charset(method.owner)?,
    };
    let rows = param_rows(method, sig.params.len())?;
    let ret = param_plan(0, sig.ret, &rows[0], charset)?;
    let mut params = Vec::with_capacity(sig.params.len());
    for (position, ty) in sig.params.iter().enumerate() {
        params.push(param_plan(position as u32 + 1, ty, &rows[position + 1], charset)?);
    }
    let set_last_error = flags & pinvoke_flags::SUPPORTS_LAST_ERROR != 0;
    Ok(MethodPlan { params, ret, set_last_error, suppresses_gc_transition: false })
}

/// Param row facts: attributes and descriptor.
#[derive(Default)]
struct ParamRowFacts {
    flags: u16,
    raw: Option<NativeTypeRaw>,
}

/// Facts by sequence number; index 0 is the result.
fn param_rows(method: &'static Method, count: usize) -> LoadResult<Vec<ParamRowFacts>> {
    let mut facts: Vec<ParamRowFacts> = (0..=count).map(|_| ParamRowFacts::default()).collect();
    let MethodKind::Def { image, rid } = method.kind else { return Ok(facts) };
    for param_rid in image.meta.method_params(rid)? {
        let row = image.meta.param(param_rid)?;
        let Some(entry) = facts.get_mut(usize::from(row.sequence)) else { continue };
        entry.flags = row.flags;
        if row.flags & PARAM_HAS_FIELD_MARSHAL != 0 {
            entry.raw = descriptor(image, param_rid)?;
        }
    }
    Ok(facts)
}

fn descriptor(image: &'static Image, param: Rid) -> LoadResult<Option<NativeTypeRaw>> {
    Ok(match image.meta.field_marshal(Token::new(TableId::Param, param))? {
        Some(row) => Some(image.meta.parse_native_type(row.native_type)?),
        None => None,
    })
}

fn param_plan(index: u32, ty: Ty, facts: &ParamRowFacts, charset: CharSet) -> LoadResult<ParamPlan> {
    let by_ref = ty.is_byref();
    let pointee = ty.element().filter(|_| by_ref).unwrap_or(ty);
    let place = if index == 0 { MarshalPosition::Return } else { MarshalPosition::Param };
    let native = if !by_ref && holds_int128(pointee)? {
        // As in .NET, which does not follow the ABI of C's `__int128` either.
        let why = "System.Int128 and System.UInt128 cannot be passed by value to unmanaged code";
        NativeType::Refused(format!("Cannot marshal '{}': {why}.", pointee.full_name()))
    } else {
        native_type(pointee, facts.raw.as_ref(), charset, place)?
    };
    let (marked_in, marked_out) = (facts.flags & PARAM_IN != 0, facts.flags & PARAM_OUT != 0);
    // Without attributes, `ref` and StringBuilder (also in arrays) are marshalled in both directions, all others in
    // only.
    let both = by_ref
        || match &native {
            NativeType::StringBuilder(_) => true,
            NativeType::Array { element, .. } => matches!(**element, NativeType::StringBuilder(_)),
            _ => false,
        };
    let (is_in, is_out) = match (marked_in, marked_out) {
        (false, false) => (true, both),
        marked => marked,
    };
    let mut plan = ParamPlan { index, ty: pointee, by_ref, is_in, is_out, native, action: MarshalAction::Refused };
    plan.action = action(&plan)?;
    let by_pointer = matches!(facts.raw, Some(NativeTypeRaw::Simple(native::LPSTRUCT)));
    if by_pointer && index != 0 && !by_ref && pointee.is_value_type() && plan.action != MarshalAction::Refused {
        plan.action = if may_be_by_pointer(pointee) { MarshalAction::StructPointer } else { MarshalAction::Refused };
    }
    if plan.action == MarshalAction::Refused && !matches!(plan.native, NativeType::Refused(_)) {
        let what = if index == 0 {
            "as a result"
        } else if by_ref {
            "by reference"
        } else {
            "by value"
        };
        plan.native = NativeType::Refused(format!("Cannot marshal '{}' {what}.", pointee.full_name()));
    }
    if !load_texts::are_mono() && !is_of_layout(&plan)? {
        let is_unsized = plan.action == MarshalAction::UnsizedArray;
        if is_unsized || plan.action == MarshalAction::Refused {
            let why = super::refusals::of_parameter(pointee, index, by_ref, facts.raw.as_ref())?;
            plan.native = NativeType::Refused(why);
            plan.action = MarshalAction::Refused;
        }
    }
    Ok(plan)
}

/// Whether `LPStruct` is taken for a struct: .NET has it for two.
fn may_be_by_pointer(ty: Ty) -> bool {
    let is_struct = ty.element_type == ElementType::ValueType;
    load_texts::are_mono() || !is_struct || ["System.Guid", "System.Decimal"].contains(&&*ty.full_name())
}

/// Whether a parameter is refused for a field of its struct or class, which the reason names.
fn is_of_layout(plan: &ParamPlan) -> LoadResult<bool> {
    let NativeType::Refused(why) = &plan.native else { return Ok(false) };
    let has_layout = match plan.ty.element_type {
        ElementType::ValueType => true,
        ElementType::Class => plan.ty.flags() & type_flags::LAYOUT_MASK != 0,
        _ => false,
    };
    Ok(has_layout && !plan.ty.is_open && native_layout(plan.ty)?.refused.as_ref() == Some(why))
}

/// Whether the type is a 128-bit integer, or a struct with one at any depth.
fn holds_int128(ty: Ty) -> LoadResult<bool> {
    if ty.is(LibraryType::Int128) || ty.is(LibraryType::UInt128) {
        return Ok(true);
    }
    // Only structs that are large enough are asked for their fields.
    if ty.element_type != ElementType::ValueType || ty.value_size_bytes()? < 16 {
        return Ok(false);
    }
    for field in ty.fields()?.iter().filter(|field| !field.is_static()) {
        if holds_int128(field.ty()?)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn action(plan: &ParamPlan) -> LoadResult<MarshalAction> {
    let is_result = plan.index == 0;
    if is_result && plan.by_ref {
        // A `ref` result is a plain address.
        return Ok(if plan.native.is_same() { MarshalAction::Same } else { MarshalAction::Refused });
    }
    Ok(match &plan.native {
        NativeType::Void => MarshalAction::Same,
        NativeType::Same { .. } if plan.by_ref => MarshalAction::Address,
        NativeType::Same { .. } => MarshalAction::Same,
        NativeType::Bool(_) | NativeType::AnsiChar => MarshalAction::Scalar,
        NativeType::String(StringForm::Utf16) if !plan.by_ref && !is_result => MarshalAction::Utf16Chars,
        NativeType::String(_) => MarshalAction::Helper,
        NativeType::StringBuilder(_) if !is_result => MarshalAction::Helper,
        NativeType::Array { element, count, .. } => array_action(plan, element, *count),
        NativeType::ClassPointer(ty) if !plan.by_ref && !is_result && native_layout(ty)?.blittable => {
            MarshalAction::ObjectData
        }
        NativeType::ClassPointer(_) => MarshalAction::Helper,
        NativeType::Struct(_) if plan.by_ref => MarshalAction::Helper,
        NativeType::Struct(_) => MarshalAction::StructValue,
        NativeType::Delegate(_) | NativeType::Date => MarshalAction::Helper,
        NativeType::AnyObject(_) if !plan.by_ref => MarshalAction::Helper,
        NativeType::SafeHandle(ty) if !ty.is_abstract() || (!is_result && !plan.by_ref) => MarshalAction::SafeHandle,
        NativeType::CriticalHandle(_) if !plan.by_ref && !is_result => MarshalAction::CriticalHandle,
        NativeType::HandleRef(_) if !plan.by_ref && !is_result => MarshalAction::HandleRef,
        NativeType::Custom { .. } => MarshalAction::Custom,
        _ => MarshalAction::Refused,
    })
}

fn array_action(plan: &ParamPlan, element: &NativeType, count: ArrayCount) -> MarshalAction {
    if matches!(element, NativeType::StringBuilder(_)) && !load_texts::are_mono() {
        return MarshalAction::Refused;
    }
    if plan.index == 0 && count.constant.is_none() {
        return MarshalAction::UnsizedArray;
    }
    if plan.index == 0 || plan.by_ref {
        // Native code makes the array: its length must be given by the descriptor, or is that of the array that was
        // passed in.
        let is_known = count.constant.is_some() || (plan.by_ref && (count.param.is_some() || plan.is_in));
        return if is_known || (plan.by_ref && !plan.is_out) { MarshalAction::Helper } else { MarshalAction::Refused };
    }
    if element.is_same() { MarshalAction::ArrayData } else { MarshalAction::Helper }
}

/// `CharSet` of `[UnmanagedFunctionPointer]` on a delegate type.
fn delegate_charset(ty: Ty) -> LoadResult<CharSet> {
    let Some(def) = ty.def() else { return Ok(CharSet::Ansi) };
    let meta = &def.image.meta;
    for row in meta.custom_attributes(Token::new(TableId::TypeDef, def.rid)) {
        let row = row?;
        let class = match row.constructor.table() {
            TableId::MemberRef => meta.member_ref(row.constructor.rid())?.class,
            _ => Token::new(TableId::TypeDef, meta.type_of_method(row.constructor.rid())?),
        };
        if !matches!(class.table(), TableId::TypeRef | TableId::TypeDef)
            || meta.type_name_of_token(class)?.1 != "UnmanagedFunctionPointerAttribute"
        {
            continue;
        }
        let int32 = |_: &CaEnumType| Some(ElementType::I4);
        let args = meta.parse_custom_attribute(row.value, &[CaTypeHint::Prim(ElementType::I4)], &int32)?;
        let is_unicode = args.named.iter().any(|arg| {
            let value = match &arg.value {
                CaValue::Enum { value, .. } => value,
                value => value,
            };
            arg.name == "CharSet" && *value == CaValue::I4(ATTRIBUTE_CHAR_SET_UNICODE)
        });
        return Ok(if is_unicode { CharSet::Unicode } else { CharSet::Ansi });
    }
    Ok(CharSet::Ansi)
}
