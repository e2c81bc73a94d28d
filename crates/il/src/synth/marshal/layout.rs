//! Native layout of structs and of classes with layout: offset and native type of each field.
//!
//! Computed as in Mono: fields in order, base class first, alignment capped by `Pack`, explicit offsets as given. A
//! layout is computed once per type and never freed. Invariant: `blittable` means that a value has the same bytes in
//! managed and in native memory, so that its managed address may be passed to native code.
//! Left out: converting values.

use super::native_type::{BoolForm, CharSet, MarshalPosition, NativeType, native_type};
use super::refusals;
use rustc_hash::FxHashMap;
use saki_base::locks::{Mutex, RwLock, rank};
use saki_metadata::{TableId, Token};
use saki_types::lazy::loader_lock;
use saki_types::ty::type_flags;
use saki_types::{ElementType, Field, LoadResult, Ty, collectible, universe};
use std::sync::LazyLock;

/// Elements of an inline array that are listed if they are converted by copying: more do not fit into registers, and
/// longer arrays are copied as a whole.
const LISTED_PLAIN_ELEMENTS: u32 = saki_abi::native::MAX_REGISTER_STRUCT_BYTES;

/// `TypeAttributes.StringFormatMask` and its `UnicodeClass` value.
const STRING_FORMAT_MASK: u32 = 0x3_0000;
const UNICODE_CLASS: u32 = 0x1_0000;
const HAS_FIELD_MARSHAL: u16 = 0x1000;

/// A field of a struct as native code sees it.
#[derive(Clone, PartialEq, Debug)]
pub struct NativeField {
    pub field: &'static Field,
    /// Bytes from the managed field to the element of an inline array that this is; 0 for all other fields.
    pub element_offset_bytes: u32,
    /// Bytes from the start of the native struct.
    pub offset_bytes: u32,
    pub native: NativeType,
}

/// The layout of a struct or class as native code sees it. ECMA-335 §II.22.8, §II.22.16.
#[derive(Clone, PartialEq, Debug)]
pub struct NativeLayout {
    pub size_bytes: u32,
    /// Bytes that `Marshal.SizeOf` adds: as in Mono and .NET, it counts two bytes for each one-byte character of a
    /// fixed-size buffer, so that memory of that size has room for the managed struct, too.
    pub spare_bytes: u32,
    pub align_bytes: u32,
    /// Instance fields, those of base classes first; elements of an inline array one by one.
    pub fields: Vec<NativeField>,
    pub blittable: bool,
    /// Why values of the type cannot be marshalled.
    pub refused: Option<String>,
}

impl NativeLayout {
    fn refused(why: String) -> NativeLayout {
        let fields = Vec::new();
        NativeLayout { size_bytes: 0, spare_bytes: 0, align_bytes: 1, fields, blittable: false, refused: Some(why) }
    }
}

static LAYOUTS: LazyLock<RwLock<rank::NativeLayouts, FxHashMap<Ty, &'static NativeLayout>>> =
    LazyLock::new(Default::default);

/// Types whose layout is being computed. The thread that computes holds the loader lock, so they are all its own. (A
/// list in thread-local storage would not be: a green thread may change its OS thread when it waits for that lock.)
static IN_PROGRESS: Mutex<rank::NativeLayoutsInProgress, Vec<Ty>> = Mutex::new(Vec::new());

/// The native layout of a struct or class.
///
/// # Errors
/// The errors of loading the fields and of the managed layout.
pub fn native_layout(ty: Ty) -> LoadResult<&'static NativeLayout> {
    if let Some(layout) = LAYOUTS.read().get(&ty) {
        return Ok(layout);
    }
    let _computing = loader_lock();
    let in_progress = || IN_PROGRESS.lock();
    if in_progress().contains(&ty) {
        let why = format!("'{}' contains itself and has no native layout.", ty.full_name());
        return Ok(collectible::keep_beside(ty, NativeLayout::refused(why)));
    }
    in_progress().push(ty);
    let computed = compute(ty);
    in_progress().pop();
    let layout = computed?;
    let mut layouts = LAYOUTS.write();
    Ok(layouts.entry(ty).or_insert_with(|| collectible::keep_beside(ty, layout)))
}

/// Removes the layouts of types of dead assemblies and domains.
pub fn forget_dead() {
    let mut layouts = LAYOUTS.write();
    layouts.retain(|ty, _| !collectible::is_dead(std::ptr::from_ref(*ty).addr()));
}

/// Offset of the first field in a value (0) or an object (the header).
pub fn data_offset_bytes(ty: Ty) -> u32 {
    if ty.is_value_type() { 0 } else { saki_abi::object::OBJECT_HEADER_BYTES }
}

/// The type's `CharSet`.
pub fn type_charset(ty: Ty) -> CharSet {
    if ty.flags() & STRING_FORMAT_MASK == UNICODE_CLASS { CharSet::Unicode } else { CharSet::Ansi }
}

fn compute(ty: Ty) -> LoadResult<NativeLayout> {
    let charset = type_charset(ty);
    let mode = ty.flags() & type_flags::LAYOUT_MASK;
    let is_explicit = mode == type_flags::EXPLICIT_LAYOUT;
    if !ty.is_value_type() && mode == 0 {
        return Ok(NativeLayout::refused(format!(
            "Type {} which is passed to unmanaged code must have a StructLayout attribute.",
            ty.full_name()
        )));
    }
    let fields = Vec::new();
    let mut layout =
        NativeLayout { size_bytes: 0, spare_bytes: 0, align_bytes: 1, fields, blittable: true, refused: None };
    let data_offset = data_offset_bytes(ty);
    if !ty.is_value_type()
        && let Some(parent) = ty.parent()?.filter(|p| **p != *universe().object())
    {
        let base = native_layout(parent)?;
        // A base class without fields needs no layout of its own.
        if base.refused.is_none() || parent.instance_size_bytes()? > data_offset {
            layout.fields.clone_from(&base.fields);
            layout.size_bytes = if base.fields.is_empty() { 0 } else { base.size_bytes };
            layout.spare_bytes = base.spare_bytes;
            layout.align_bytes = base.align_bytes;
            layout.blittable = base.blittable;
            layout.refused.clone_from(&base.refused);
        }
    }
    let base_size = layout.size_bytes;
    let class_layout = match ty.def() {
        Some(def) => def.image.meta.class_layout(def.rid)?,
        None => None,
    };
    let (packing, declared_size) = class_layout.map_or((0, 0), |row| (u32::from(row.packing_size), row.class_size));
    let inline_array_length = ty.inline_array_length()?;
    let managed_stride = match inline_array_length {
        Some(length) => ty.value_size_bytes()? / length,
        None => 0,
    };
    for &field in ty.fields()? {
        if field.is_static() {
            continue;
        }
        let native = field_native_type(field, charset)?;
        if let NativeType::Refused(why) = &native {
            layout.refused.get_or_insert_with(|| why.clone());
        }
        let size = native.size_bytes()?;
        let natural = native.align_bytes()?.max(1);
        let align = if packing != 0 { natural.min(packing) } else { natural };
        let managed_offset = field.offset_bytes()?.saturating_sub(data_offset);
        let offset_bytes = if is_explicit { managed_offset } else { layout.size_bytes.next_multiple_of(align) };
        // An inline array repeats the whole struct, with its declared size.
        let (elements, stride) = match inline_array_length {
            Some(length) => (length, size.max(declared_size)),
            None => (1, size),
        };
        layout.align_bytes = layout.align_bytes.max(align);
        layout.size_bytes = layout.size_bytes.max(offset_bytes.saturating_add(stride.saturating_mul(elements)));
        let spare_bytes = match &native {
            NativeType::FixedChars { count } => *count,
            NativeType::Struct(ty) | NativeType::ClassInline(ty) => native_layout(ty)?.spare_bytes,
            _ => 0,
        };
        layout.spare_bytes += spare_bytes * elements;
        layout.blittable &= native.is_same() && offset_bytes == managed_offset;
        let listed = if native.is_same() { elements.min(LISTED_PLAIN_ELEMENTS) } else { elements };
        for index in 0..listed {
            layout.fields.push(NativeField {
                field,
                element_offset_bytes: index * managed_stride,
                offset_bytes: offset_bytes + index * stride,
                native: native.clone(),
            });
        }
    }
    layout.align_bytes = layout.align_bytes.max(ty.required_align_bytes());
    let mut align = layout.align_bytes;
    if mode != 0 {
        let declared = if declared_size == 0 { 0 } else { declared_size + base_size };
        layout.size_bytes = layout.size_bytes.max(declared);
        // As in the managed layout, a declared size is exact.
        if declared != 0 {
            align = 1;
        }
    }
    // A value takes at least one byte.
    layout.size_bytes = layout.size_bytes.next_multiple_of(align).max(1);
    if ty.is_value_type() {
        if layout.blittable && mode == 0 {
            // Automatic layout: native code gets the layout that the loader chose.
            layout.size_bytes = ty.value_size_bytes()?;
        }
        layout.blittable &= layout.size_bytes == ty.value_size_bytes()? && !ty.contains_references()?;
    }
    if layout.refused.is_some() {
        layout.blittable = false;
    }
    Ok(layout)
}

fn field_native_type(field: &'static Field, charset: CharSet) -> LoadResult<NativeType> {
    let raw = if field.flags & HAS_FIELD_MARSHAL != 0 {
        match field.image().meta.field_marshal(Token::new(TableId::Field, field.rid))? {
            Some(row) => Some(field.image().meta.parse_native_type(row.native_type)?),
            None => None,
        }
    } else {
        None
    };
    let ty = field.ty()?;
    if raw.is_none()
        && let Some(native) = fixed_buffer(field, ty, charset)?
    {
        return Ok(native);
    }
    let native = native_type(ty, raw.as_ref(), charset, MarshalPosition::Field)?;
    if universe().profile().refuses_more_native_fields {
        let reason = match (&native, refused_by_net(&native)) {
            (_, Some(what)) => Some(format!("Invalid managed/unmanaged type combination{what}")),
            // A struct in a field is refused for a field of its own, which the reason names.
            (NativeType::Refused(_), None) if ty.element_type != ElementType::ValueType => {
                Some(refusals::reason(ty, raw.as_ref(), MarshalPosition::Field)?)
            }
            _ => None,
        };
        if let Some(reason) = reason {
            let (name, owner) = (field.name, field.owner.def().map_or("", |def| def.name));
            let why = format!("Cannot marshal field '{name}' of type '{owner}': {reason}.");
            return Ok(NativeType::Refused(why));
        }
    }
    Ok(match native {
        NativeType::Custom { .. } => NativeType::Refused(format!("Field '{field:?}' cannot be marshalled.")),
        native => native,
    })
}

/// For fields that Mono marshals and .NET does not: what the message adds to the reason.
fn refused_by_net(native: &NativeType) -> Option<&'static str> {
    match native {
        NativeType::Array { .. } => Some(" (Array fields must be paired with ByValArray)"),
        NativeType::Bool(BoolForm::Variant) => Some(" (booleans must be paired with I1, U1, or Bool)"),
        NativeType::NullObject { .. } | NativeType::HandleRef(_) => Some(""),
        _ => None,
    }
}

/// The native type of a fixed-size buffer (`fixed char text[16]`). The buffer's type has one field, the first element,
/// and the size of all elements. The width of characters follows the `CharSet` of the enclosing struct.
fn fixed_buffer(field: &'static Field, ty: Ty, charset: CharSet) -> LoadResult<Option<NativeType>> {
    if ty.element_type != ElementType::ValueType || ty.is_enum() || !has_fixed_buffer_attribute(field)? {
        return Ok(None);
    }
    let Some(first) = ty.fields()?.iter().find(|f| !f.is_static()) else { return Ok(None) };
    let (element, size_bytes) = (first.ty()?, ty.value_size_bytes()?);
    let element_bytes = element.value_size_bytes()?;
    let is_ansi = element.element_type == ElementType::Char && charset == CharSet::Ansi;
    if is_ansi && universe().profile().refuses_more_native_fields {
        // .NET marshals it as the struct that it is: the first character alone, in the managed size.
        return Ok(None);
    }
    Ok(Some(if is_ansi {
        NativeType::FixedChars { count: size_bytes / element_bytes }
    } else {
        NativeType::Same { size_bytes, align_bytes: element_bytes }
    }))
}

fn has_fixed_buffer_attribute(field: &'static Field) -> LoadResult<bool> {
    let meta = &field.image().meta;
    for row in meta.custom_attributes(Token::new(TableId::Field, field.rid)) {
        let constructor = row?.constructor;
        let class = match constructor.table() {
            TableId::MemberRef => meta.member_ref(constructor.rid())?.class,
            _ => Token::new(TableId::TypeDef, meta.type_of_method(constructor.rid())?),
        };
        if matches!(class.table(), TableId::TypeRef | TableId::TypeDef)
            && meta.type_name_of_token(class)? == ("System.Runtime.CompilerServices", "FixedBufferAttribute")
        {
            return Ok(true);
        }
    }
    Ok(false)
}
