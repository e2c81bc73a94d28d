//! Sizes, field offsets and reference maps. ECMA-335 §II.10.7 for sequential and explicit layout.
//!
//! Value types and sequential classes follow C; other classes put the widest fields first. Offsets of class fields
//! count from the object start, of value-type fields from the value's start.

use crate::byref_like::check_field;
use crate::collectible;
use crate::emitted;
use crate::error::{LoadError, LoadErrorKind, LoadResult};
use crate::field::Field;
use crate::load_texts;
use crate::ty::{Ty, Type, TypeKind, type_flags};
use saki_abi::object::{ARRAY_DATA_OFFSET, ARRAY_LENGTH_OFFSET, OBJECT_HEADER_BYTES, STRING_CHARS_OFFSET};
use saki_contract::LibraryType;
use saki_metadata::ElementType;
use std::sync::atomic::Ordering;

pub use crate::ty::{InstanceLayout, StaticLayout};

const MAX_INSTANCE_BYTES: u64 = 1 << 27;

fn align_up(value: u64, align: u32) -> u64 {
    value.next_multiple_of(u64::from(align.max(1)))
}

impl Type {
    /// Bytes of a variable of this type: 8 for references, pointers and byrefs.
    ///
    /// # Errors
    /// `TypeLoad` for open types and recursive structs.
    pub fn value_size_bytes(&'static self) -> LoadResult<u32> {
        use ElementType as E;
        Ok(match self.element_type {
            E::Void => 0,
            E::Boolean | E::I1 | E::U1 => 1,
            E::Char | E::I2 | E::U2 => 2,
            E::I4 | E::U4 | E::R4 => 4,
            E::I8 | E::U8 | E::R8 | E::I | E::U => 8,
            E::ValueType | E::TypedByRef => self.instance_layout()?.size_bytes,
            E::Var | E::MVar => return Err(LoadError::type_load("an open generic type has no size", self.full_name())),
            _ => 8,
        })
    }

    /// Alignment of a variable of this type.
    ///
    /// # Errors
    /// `TypeLoad` for open types and recursive structs.
    pub fn value_align_bytes(&'static self) -> LoadResult<u32> {
        match self.element_type {
            ElementType::ValueType | ElementType::TypedByRef => Ok(self.instance_layout()?.align_bytes),
            ElementType::Void => Ok(1),
            _ => self.value_size_bytes(),
        }
    }

    /// Bytes of a heap instance with header, rounded up to 8; for value types of the boxed form; for arrays and strings
    /// of the fixed part.
    ///
    /// # Errors
    /// `TypeLoad`.
    pub fn instance_size_bytes(&'static self) -> LoadResult<u32> {
        if self.is_array() {
            return Ok(ARRAY_DATA_OFFSET as u32);
        }
        if self.element_type == ElementType::String {
            return Ok(STRING_CHARS_OFFSET as u32);
        }
        let size = if self.is_value_type() {
            OBJECT_HEADER_BYTES + self.value_size_bytes()?
        } else {
            self.instance_layout()?.size_bytes
        };
        Ok(size.next_multiple_of(8))
    }

    /// Offsets of references in a value (value types) or an object (classes).
    ///
    /// # Errors
    /// `TypeLoad`.
    pub fn ref_offsets(&'static self) -> LoadResult<&'static [u32]> {
        if self.is_array() || self.element_type == ElementType::String || self.is_pointer() || self.is_byref() {
            return Ok(&[]);
        }
        if self.is_value_type() && !matches!(self.element_type, ElementType::ValueType | ElementType::TypedByRef) {
            return Ok(&[]);
        }
        Ok(&self.instance_layout()?.ref_offsets)
    }

    /// The size of a variable of this type in bytes, and where references are in it: `value_size_bytes` and
    /// `ref_offsets` with one look at the layout.
    ///
    /// # Errors
    /// `TypeLoad`.
    pub fn value_shape(&'static self) -> LoadResult<(u32, &'static [u32])> {
        if matches!(self.element_type, ElementType::ValueType | ElementType::TypedByRef) {
            let layout = self.instance_layout()?;
            return Ok((layout.size_bytes, &layout.ref_offsets));
        }
        Ok((self.value_size_bytes()?, self.ref_offsets()?))
    }

    /// Whether a variable of this type is or holds an object reference.
    ///
    /// # Errors
    /// `TypeLoad`.
    pub fn contains_references(&'static self) -> LoadResult<bool> {
        if self.is_reference_type() {
            return Ok(true);
        }
        Ok(self.is_value_type() && !self.ref_offsets()?.is_empty())
    }

    /// The alignment that the type has beyond that of its fields, 1 if none: the System V ABI (§3.1.2) aligns 128-bit
    /// integers and vectors to their sizes, and .NET their fields on all targets. Objects and arrays on the heap are
    /// aligned to words alone.
    pub fn required_align_bytes(&self) -> u32 {
        match self.library_role() {
            Some(LibraryType::Int128 | LibraryType::UInt128 | LibraryType::Vector128Of) => 16,
            Some(LibraryType::Vector256Of) => 32,
            Some(LibraryType::Vector512Of) => 64,
            _ => 1,
        }
    }

    /// Number of elements of an inline array, whose only instance field is the first of them; None for other types.
    ///
    /// # Errors
    /// `TypeLoad`.
    pub fn inline_array_length(&'static self) -> LoadResult<Option<u32>> {
        match self.element_type {
            ElementType::ValueType => Ok(self.instance_layout()?.inline_array_length),
            _ => Ok(None),
        }
    }

    /// Whether the type declares a size, so that bytes behind its last field may be used through pointers.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn has_declared_size(&'static self) -> LoadResult<bool> {
        let Some(def) = self.def() else { return Ok(false) };
        Ok(def.image.meta.class_layout(def.rid)?.is_some_and(|layout| layout.class_size != 0))
    }

    /// # Errors
    /// `TypeLoad` for recursive structs, bad explicit offsets, open types, invalid inline arrays.
    pub fn instance_layout(&'static self) -> LoadResult<&'static InstanceLayout> {
        self.instance_layout
            .get(&|| self.full_name(), || compute_instance(self).map(|l| collectible::keep_beside(self, l)))
    }

    /// # Errors
    /// `TypeLoad`.
    pub fn static_layout(&'static self) -> LoadResult<&'static StaticLayout> {
        self.static_layout.get(&|| self.full_name(), || compute_static(self).map(|l| collectible::keep_beside(self, l)))
    }
}

impl Field {
    /// See the field of that name. Computes the owner's layout.
    ///
    /// # Errors
    /// The owner's layout errors.
    pub fn offset_bytes(&'static self) -> LoadResult<u32> {
        field_offset(self)
    }

    /// The type as far as the field's place is concerned: `ty`, or the base class of all for a reference type that is
    /// not there, which fails under .NET only where code uses the field.
    ///
    /// # Errors
    /// `BadImageFormat`, `TypeLoad`.
    pub fn storage_ty(&'static self) -> LoadResult<Ty> {
        type_of_field(self)
    }

    /// The bytes of an RVA field, inside the mapped image; None for other fields.
    ///
    /// # Errors
    /// `BadImageFormat` when the data lies outside the image.
    pub fn rva_data(&'static self) -> LoadResult<Option<&'static [u8]>> {
        let Some(rva) = self.image().meta.field_rva(self.rid)? else { return Ok(None) };
        let size_bytes = self.ty()?.value_size_bytes()? as usize;
        Ok(Some(self.image().meta.rva_to_slice(rva, size_bytes)?))
    }
}

fn field_offset(field: &'static Field) -> LoadResult<u32> {
    // The number alone would not do: a layout that failed, or is being computed, has stored offsets, too.
    if field.is_static() {
        field.owner.static_layout()?;
    } else {
        field.owner.instance_layout()?;
    }
    // Relaxed: the cell of the layout orders it: the offset was stored before the layout.
    match field.offset_bytes.load(Ordering::Relaxed) {
        u32::MAX => Err(LoadError::type_load(format!("{field:?} has no storage"), field.owner.full_name())),
        offset => Ok(offset),
    }
}

fn error(ty: Ty, what: &str) -> LoadError {
    LoadError::type_load(format!("Could not load type '{}': {what}", ty.full_name()), ty.full_name())
}

/// The type of the field as far as layouts need it. A reference type that is not there fails under .NET where code uses
/// the field, under Mono with the declaring type. If the type lies in an image that cannot be loaded, the error is made
/// one of the declaring type, not of the image.
fn type_of_field(field: &'static Field) -> LoadResult<Ty> {
    if emitted::refers_to_unfinished_type(field)? {
        // Any reference type has this place.
        return Ok(field.owner.universe().object());
    }
    let cause = match field.ty() {
        Ok(ty) => return Ok(ty),
        Err(cause) => cause,
    };
    if matches!(cause.kind, LoadErrorKind::FileNotFound | LoadErrorKind::TypeLoad)
        && !load_texts::are_mono()
        && emitted::is_reference(&emitted::field_sig(field)?)
    {
        return Ok(field.owner.universe().object());
    }
    if cause.kind != LoadErrorKind::BadImageFormat {
        return Err(cause);
    }
    let owner = field.owner.full_name();
    Err(LoadError::type_load(format!("Could not load type of field '{owner}:{}' due to: {cause}", field.name), owner))
}

/// The words that the machine has in instances of the class, behind its fields (`LibraryProfile::own_words`).
fn own_words(ty: Ty) -> &'static [&'static str] {
    ty.library_role().map_or(&[], |role| ty.universe().profile().own_words_of(role))
}

/// Bytes from the object start to a word of the machine's own in instances of the class; None if it has no such word.
///
/// # Errors
/// The layout errors of the class.
pub(crate) fn own_word_offset_bytes(ty: Ty, name: &str) -> LoadResult<Option<u32>> {
    let words = own_words(ty);
    let Some(index) = words.iter().position(|word| *word == name) else { return Ok(None) };
    Ok(Some(ty.instance_layout()?.size_bytes - 8 * (words.len() - index) as u32))
}

fn compute_instance(ty: Ty) -> LoadResult<InstanceLayout> {
    if ty.is_open {
        return Err(error(ty, "an open generic type has no layout"));
    }
    if matches!(
        ty.kind,
        TypeKind::SzArray(_) | TypeKind::Array { .. } | TypeKind::Ptr(_) | TypeKind::ByRef(_) | TypeKind::FnPtr(_)
    ) {
        return Err(error(ty, "it has no fields"));
    }
    let is_value = ty.is_value_type();
    let (mut size, mut align, mut refs, mut weak, mut blittable) =
        (u64::from(if is_value { 0 } else { OBJECT_HEADER_BYTES }), 1, Vec::new(), Vec::new(), true);
    if !is_value && let Some(parent) = ty.parent()? {
        let inherited = parent.instance_layout()?;
        size = u64::from(inherited.size_bytes);
        align = inherited.align_bytes;
        refs.clone_from(&inherited.ref_offsets);
        weak.clone_from(&inherited.weak_offsets);
        blittable = inherited.is_blittable;
    }
    if ty.is(LibraryType::RawArrayData) {
        // The view of an array by which .NET's class libraries read its length and elements.
        size = ARRAY_LENGTH_OFFSET as u64;
    }
    let def = ty.def().expect("arrays and pointers were refused above");
    let class_layout = def.image.meta.class_layout(def.rid)?;
    let pack = class_layout.map_or(0, |l| u32::from(l.packing_size));
    let declared_size = class_layout.map_or(0, |l| l.class_size);
    let kind = def.flags & type_flags::LAYOUT_MASK;
    let start = size;
    if kind == type_flags::EXPLICIT_LAYOUT && !ty.args.is_empty() {
        return Err(LoadError::type_load("Generic class cannot have explicit layout.", ty.full_name()));
    }

    let fields: Vec<&'static Field> = ty.fields()?.iter().copied().filter(|f| !f.is_static()).collect();
    let mut measured = Vec::with_capacity(fields.len());
    for &field in &fields {
        let field_ty = type_of_field(field)?;
        if field_ty.element_type == ElementType::Void {
            return Err(error(ty, &format!("field {} has type void", field.name)));
        }
        check_field(field, field_ty)?;
        let field_align = match pack {
            0 => field_ty.value_align_bytes()?,
            // References stay on word boundaries whatever the packing.
            _ if field_ty.contains_references()? => field_ty.value_align_bytes()?.max(8),
            limit => field_ty.value_align_bytes()?.min(limit),
        };
        blittable &= is_blittable(field_ty)?;
        measured.push((field, field_ty, field_ty.value_size_bytes()?, field_align));
    }

    let mut put = |field: &Field, field_ty: Ty, at: u64| -> LoadResult<()> {
        if field_ty.contains_references()? && !at.is_multiple_of(8) {
            return Err(misplaced_reference(ty, at, || {
                format!("Reference typed field '{}' has explicit offset that is not pointer-size aligned.", field.name)
            }));
        }
        if field_ty.is_reference_type() {
            // In explicit layouts no field is weak: if it shared bytes with a strong field, the strong one would have
            // to count.
            let is_weak = !is_value && kind != type_flags::EXPLICIT_LAYOUT && def.image.is_weak_field(field.rid)?;
            if is_weak { weak.push(at as u32) } else { refs.push(at as u32) }
        } else if field_ty.is_value_type() {
            refs.extend(field_ty.ref_offsets()?.iter().map(|o| at as u32 + o));
        }
        // Relaxed: a number alone; for a thread that has asked for the layout, the layout's cell orders it.
        field.offset_bytes.store(at as u32, Ordering::Relaxed);
        Ok(())
    };

    if kind == type_flags::EXPLICIT_LAYOUT {
        let mut end = start;
        let origin = match ty.universe().profile().offsets_follow_parent {
            _ if is_value => 0,
            true => start,
            false => u64::from(OBJECT_HEADER_BYTES),
        };
        for &(field, field_ty, field_size, field_align) in &measured {
            let Some(offset) = def.image.meta.field_layout(field.rid)? else {
                return Err(error(ty, &format!("field {} has no explicit offset", field.name)));
            };
            let at = origin + u64::from(offset);
            put(field, field_ty, at)?;
            align = align.max(field_align);
            end = end.max(at + u64::from(field_size));
        }
        size = end;
        blittable &= is_value;
    } else {
        let sequential = is_value || kind == type_flags::SEQUENTIAL_LAYOUT;
        if !sequential {
            measured.sort_by_key(|&(_, _, field_size, field_align)| std::cmp::Reverse((field_align, field_size)));
        }
        for &(field, field_ty, field_size, field_align) in &measured {
            size = align_up(size, field_align);
            put(field, field_ty, size)?;
            size += u64::from(field_size);
            align = align.max(field_align);
            if size > MAX_INSTANCE_BYTES {
                return Err(error(ty, "it is too large"));
            }
        }
        blittable &= sequential;
    }
    let words = own_words(ty).len() as u64;
    if words > 0 {
        size = align_up(size, 8) + 8 * words;
    }
    if is_value || kind != 0 {
        size = size.max(start + u64::from(declared_size));
        // As in .NET, a struct with a declared size is not rounded up: it has that size, or that of its fields.
        // References stay on word boundaries in arrays.
        if is_value && declared_size == 0 {
            size = align_up(size.max(1), align);
        } else if is_value && !refs.is_empty() {
            size = align_up(size, 8);
        }
    }
    align = align.max(ty.required_align_bytes());
    let inline_array_length = inline_array::length(ty, fields.len())?;
    if let Some(length) = inline_array_length {
        // The struct as it would be without the attribute is the first element.
        inline_array::repeat(&mut refs, size, length);
        size *= u64::from(length);
    }
    if size > MAX_INSTANCE_BYTES {
        return Err(error(ty, "it is too large"));
    }
    refs.sort_unstable();
    refs.dedup();
    if kind == type_flags::EXPLICIT_LAYOUT {
        // .NET refuses such types.
        if !ty.universe().profile().refuses_shared_references {
            forget_shared_words(&mut refs, &measured);
        }
        check_no_overlap(ty, &refs, &measured)?;
    }
    Ok(InstanceLayout {
        size_bytes: size as u32,
        align_bytes: align,
        inline_array_length,
        ref_offsets: refs,
        weak_offsets: weak,
        is_blittable: blittable,
    })
}

/// Removes references that share their word with a native number or pointer: the collector cannot trace such a word,
/// which may hold anything. Programs use such structs to convert between the two on the stack, which is scanned
/// conservatively.
fn forget_shared_words(refs: &mut Vec<u32>, measured: &[(&'static Field, Ty, u32, u32)]) {
    use ElementType as E;
    for (field, field_ty, ..) in measured {
        if matches!(field_ty.element_type, E::I | E::U | E::Ptr | E::FnPtr) {
            // Relaxed: this thread has stored it.
            let at = field.offset_bytes.load(Ordering::Relaxed);
            refs.retain(|&r| r != at);
        }
    }
}

/// A reference may share bytes with other references only; fields and padding of nested structs count as other data.
/// §II.10.7.
fn check_no_overlap(ty: Ty, refs: &[u32], measured: &[(&'static Field, Ty, u32, u32)]) -> LoadResult<()> {
    for &(field, field_ty, field_size, _) in measured {
        if field_ty.is_reference_type() {
            continue;
        }
        // Relaxed: this thread has stored it.
        let at = field.offset_bytes.load(Ordering::Relaxed);
        let own = field_ty.ref_offsets()?;
        let is_own = |r: u32| r >= at && own.contains(&(r - at));
        if refs.iter().any(|&r| r < at + field_size && at < r + 8 && !is_own(r)) {
            return Err(misplaced_reference(ty, u64::from(at), || {
                let name = ty.def().map_or("", |def| def.name);
                format!("Could not load type '{name}' because {}.", misplaced(u64::from(at)))
            }));
        }
    }
    Ok(())
}

/// What is wrong with a field at this offset.
fn misplaced(offset_bytes: u64) -> String {
    format!(
        "it contains an object field at offset {offset_bytes} that is incorrectly aligned or overlapped by a non-object \
         field"
    )
}

/// The error for a type whose field at `at` is not aligned or overlaps with another one; `at` counts from the object's
/// header, .NET's message from the first field.
fn misplaced_reference(ty: Ty, at: u64, in_mono: impl FnOnce() -> String) -> LoadError {
    let header = if ty.is_value_type() { 0 } else { u64::from(OBJECT_HEADER_BYTES) };
    load_texts::type_refused(ty, &misplaced(at - header), in_mono)
}

/// Same bytes for managed and native code.
fn is_blittable(ty: Ty) -> LoadResult<bool> {
    use ElementType as E;
    Ok(match ty.element_type {
        E::I1
        | E::U1
        | E::I2
        | E::U2
        | E::I4
        | E::U4
        | E::I8
        | E::U8
        | E::R4
        | E::R8
        | E::I
        | E::U
        | E::Ptr
        | E::FnPtr => true,
        E::ValueType => ty.instance_layout()?.is_blittable,
        _ => false,
    })
}

/// Size of the unit in which processors exchange memory.
const CACHE_LINE_BYTES: u32 = 64;

/// Volatile statics come last, on cache lines of their own: a field that many threads read in loops (a stop flag)
/// should not share a line with fields that some of them write.
fn compute_static(ty: Ty) -> LoadResult<StaticLayout> {
    let mut out = StaticLayout::default();
    let mut volatile = Vec::new();
    for &field in ty.fields()? {
        if !field.is_static() || field.is_literal() || field.has_rva() {
            continue;
        }
        if !field.is_thread_static && crate::signature::is_volatile_field(field)? {
            volatile.push(field);
        } else {
            place_static(&mut out, field)?;
        }
    }
    if !volatile.is_empty() && out.size_bytes > 0 {
        out.size_bytes += CACHE_LINE_BYTES;
    }
    for field in volatile {
        place_static(&mut out, field)?;
    }
    Ok(out)
}

fn place_static(out: &mut StaticLayout, field: &'static Field) -> LoadResult<()> {
    let field_ty = type_of_field(field)?;
    check_field(field, field_ty)?;
    let (size, refs) = if field.is_thread_static {
        (&mut out.thread_size_bytes, &mut out.thread_ref_offsets)
    } else {
        (&mut out.size_bytes, &mut out.ref_offsets)
    };
    // Statics stay 8-aligned: a struct with references keeps them on word boundaries.
    let at = if field_ty.is_value_type() && !field_ty.contains_references()? {
        align_up(u64::from(*size), field_ty.value_align_bytes()?) as u32
    } else {
        size.next_multiple_of(8)
    };
    if field_ty.is_reference_type() {
        refs.push(at);
    } else if field_ty.is_value_type() {
        refs.extend(field_ty.ref_offsets()?.iter().map(|o| at + o));
    }
    // Relaxed: as for instance fields.
    field.offset_bytes.store(at, Ordering::Relaxed);
    *size = at + field_ty.value_size_bytes()?;
    Ok(())
}

mod inline_array;
#[cfg(test)]
mod tests;
