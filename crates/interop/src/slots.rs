//! Slots: native memory of a known size, and variables of managed code of a known type. All conversions read and write
//! through them.
//!
//! A native slot is a struct field, an array element, or the word of a parameter. Invariant: the memory of a slot can
//! be used in its whole size as long as the slot's lifetime lasts. The code that makes a slot from an address vouches
//! for that, and for the values there: they are values of the native type by which the slot is converted, and their
//! pointers lead to values as that type describes them. Every later access is checked to lie inside the slot; an access
//! outside is a fault of ours.
//! Left out: what the bytes mean (`to_native`, `to_managed`, `release`).

use saki_abi::{ObjRef, Object};
use saki_base::{bug, bug_unless};
use saki_il::synth::marshal::{NativeField, data_offset_bytes};
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::object::references::{Array, Obj, Plain, Str, Word};
use saki_runtime::object::thread::{CurrentThread, Managed};
use saki_types::{ElementType, Field, Ty};
use std::marker::PhantomData;
use std::ptr::NonNull;

#[inline]
fn is_inside(offset_bytes: usize, size_bytes: usize, whole_bytes: usize) -> bool {
    offset_bytes <= whole_bytes && size_bytes <= whole_bytes - offset_bytes
}

/// A word of native code: a value of the native type by which it is converted, or the address of one.
#[derive(Clone, Copy)]
pub struct NativeWord(i64);

impl NativeWord {
    /// The zero of every native type, to be written.
    pub const ZERO: NativeWord = NativeWord(0);

    /// A word that a wrapper passes with a descriptor.
    ///
    /// # Safety
    /// The word is of the descriptor's native type; if it is an address, a value lies there as long as the wrapper's
    /// call lasts.
    pub unsafe fn passed(word: i64) -> NativeWord {
        NativeWord(word)
    }

    /// The word as it was.
    pub fn get(self) -> i64 {
        self.0
    }

    /// The memory at which the word points; None for null.
    #[inline]
    pub fn target<'t>(self, _t: CurrentThread<'t>, size_bytes: usize) -> Option<NativeSlot<'t>> {
        // SAFETY: by the promise of `passed` such a value lies there until the wrapper's call ends, and with it the
        // functions that it calls.
        unsafe { NativeSlot::at(self.0 as *mut u8, size_bytes) }
    }
}

/// Native memory, at any alignment.
#[derive(Clone, Copy)]
pub struct NativeSlot<'n> {
    address: NonNull<u8>,
    size_bytes: usize,
    memory: PhantomData<&'n mut [u8]>,
}

impl<'n> NativeSlot<'n> {
    /// The memory at an address; None for null.
    ///
    /// # Safety
    /// The address is null, or `size_bytes` bytes can be read and written there for `'n`; the module header says what
    /// the values are.
    #[inline]
    pub unsafe fn at(address: *mut u8, size_bytes: usize) -> Option<NativeSlot<'n>> {
        Some(NativeSlot { address: NonNull::new(address)?, size_bytes, memory: PhantomData })
    }

    /// The slot of a word that is passed in a register.
    #[inline]
    pub fn of_word(word: &'n mut NativeWord) -> NativeSlot<'n> {
        NativeSlot { address: NonNull::from_mut(&mut word.0).cast(), size_bytes: size_of::<i64>(), memory: PhantomData }
    }

    /// Where the slot lies; its memory may be used as long as the slot.
    pub fn address(self) -> *mut u8 {
        self.address.as_ptr()
    }

    /// The part of the slot at an offset, with `size_bytes` bytes.
    #[inline]
    pub fn part(self, offset_bytes: usize, size_bytes: usize) -> NativeSlot<'n> {
        if !is_inside(offset_bytes, size_bytes, self.size_bytes) {
            bug!("{size_bytes} bytes at {offset_bytes} of a native slot of {}", self.size_bytes);
        }
        // SAFETY: inside the slot, by the check.
        NativeSlot { address: unsafe { self.address.add(offset_bytes) }, size_bytes, memory: PhantomData }
    }

    /// The slot from an offset on.
    #[inline]
    pub fn after(self, offset_bytes: usize) -> NativeSlot<'n> {
        self.part(offset_bytes, self.size_bytes.saturating_sub(offset_bytes))
    }

    /// An element of a slot that holds an array.
    #[inline]
    pub fn element(self, index: usize, stride_bytes: usize) -> NativeSlot<'n> {
        self.part(index.saturating_mul(stride_bytes), stride_bytes)
    }

    /// The value at the start of the slot.
    #[inline]
    pub fn read<T: Plain>(self) -> T {
        let place = self.part(0, size_of::<T>());
        // SAFETY: the part can be read, and its bytes are a `T`.
        unsafe { place.address.cast::<T>().read_unaligned() }
    }

    /// Sets the start of the slot.
    #[inline]
    pub fn write<T: Plain>(self, value: T) {
        let place = self.part(0, size_of::<T>());
        // SAFETY: the part can be written.
        unsafe { place.address.cast::<T>().write_unaligned(value) };
    }

    /// Sets all bytes to zero.
    pub fn fill_zero(self) {
        // SAFETY: the slot can be written.
        unsafe { self.address.write_bytes(0, self.size_bytes) };
    }

    /// Whether all bytes are zero.
    pub fn is_zero(self) -> bool {
        (0..self.size_bytes).all(|index| self.element(index, 1).read::<u8>() == 0)
    }

    /// A copy of all bytes.
    pub fn bytes(self) -> Vec<u8> {
        (0..self.size_bytes).map(|index| self.element(index, 1).read()).collect()
    }

    /// Sets the first bytes.
    pub fn copy_from(self, bytes: &[u8]) {
        let place = self.part(0, bytes.len());
        // SAFETY: the part can be written; the bytes may lie in it.
        unsafe { std::ptr::copy(bytes.as_ptr(), place.address.as_ptr(), bytes.len()) };
    }

    /// The memory to which the pointer at the start of the slot leads, of the size that its native type says; None for
    /// null.
    #[inline]
    pub fn target(self, size_bytes: usize) -> Option<NativeSlot<'n>> {
        // SAFETY: the module header's invariant: the pointer leads to a value of this size.
        unsafe { NativeSlot::at(self.read(), size_bytes) }
    }
}

/// Zeroed memory of the C heap, which is freed when this value is dropped.
pub struct NativeBlock(NativeSlot<'static>);

impl NativeBlock {
    /// Allocates at least one byte.
    ///
    /// # Errors
    /// OutOfMemoryException.
    pub fn allocate(t: CurrentThread, size_bytes: usize) -> Managed<NativeBlock> {
        // SAFETY: a plain allocation.
        let block = unsafe { libc::calloc(1, size_bytes.max(1)) };
        // SAFETY: null, or that many bytes, to which no other code has a pointer.
        match unsafe { NativeSlot::at(block.cast(), size_bytes) } {
            Some(slot) => Ok(NativeBlock(slot)),
            None => Err(exceptions::out_of_memory(t)),
        }
    }

    /// The slot that the memory is used through.
    pub fn slot(&self) -> NativeSlot<'_> {
        self.0
    }

    /// Gives up the memory, which stays until its address is passed to `free`, or native code frees it.
    pub fn leak(self) -> NativeSlot<'static> {
        std::mem::ManuallyDrop::new(self).0
    }
}

impl Drop for NativeBlock {
    fn drop(&mut self) {
        // SAFETY: a block of the C heap; the slots that `slot` returned are gone.
        unsafe { libc::free(self.0.address().cast()) };
    }
}

/// A variable of managed code: a local, a field, an element, or the value in a box.
#[derive(Clone, Copy)]
pub struct ManagedSlot<'t> {
    address: NonNull<u8>,
    size_bytes: usize,
    ty: Ty,
    held: PhantomData<&'t Object>,
}

impl<'t> ManagedSlot<'t> {
    /// The variable that compiled code names by its address; None for null.
    ///
    /// # Errors
    /// TypeLoadException.
    ///
    /// # Safety
    /// The address is null, or that of a variable of this type that stays for `'t`.
    pub unsafe fn at(t: CurrentThread<'t>, address: usize, ty: Ty) -> Managed<Option<ManagedSlot<'t>>> {
        let size_bytes = ty.value_size_bytes().to_managed(t)? as usize;
        let address = NonNull::new(std::ptr::with_exposed_provenance_mut(address));
        Ok(address.map(|address| ManagedSlot { address, size_bytes, ty, held: PhantomData }))
    }

    /// The value in a box.
    ///
    /// # Errors
    /// TypeLoadException.
    pub fn of_box(t: CurrentThread<'t>, object: Obj<'t>) -> Managed<ManagedSlot<'t>> {
        let ty = object.ty();
        bug_unless!(ty.is_value_type(), "{} is not boxed", ty.full_name());
        let size_bytes = ty.value_size_bytes().to_managed(t)? as usize;
        Ok(ManagedSlot { address: data_of(object), size_bytes, ty, held: PhantomData })
    }

    /// The type of the variable.
    pub fn ty(self) -> Ty {
        self.ty
    }

    /// The object that a variable of a reference type refers to.
    #[inline]
    pub fn obj(self) -> Option<Obj<'t>> {
        self.check_reference();
        // SAFETY: a variable of a reference type.
        unsafe { Obj::from_word(self.address.cast::<ObjRef>().read()) }
    }

    /// Sets a variable of a reference type, with barrier; the caller knows that the type allows the object.
    #[inline]
    pub fn store(self, t: CurrentThread, value: impl Word) {
        self.check_reference();
        // SAFETY: a variable of a reference type, on a stack or in the heap.
        unsafe { saki_gc::barrier::store_ref_unknown(t.managed(), self.address.cast().as_ptr(), value.word()) };
    }

    /// A number or pointer in the variable.
    #[inline]
    pub fn read_at<T: Plain>(self, offset_bytes: usize) -> T {
        // SAFETY: inside the variable, by `place`, and its bytes are a `T`.
        unsafe { self.place(offset_bytes, size_of::<T>()).cast::<T>().read_unaligned() }
    }

    /// The number or pointer at the start of the variable.
    #[inline]
    pub fn read<T: Plain>(self) -> T {
        self.read_at(0)
    }

    /// Sets a number or pointer in a variable without references.
    #[inline]
    pub fn write_at<T: Plain>(self, offset_bytes: usize, value: T) {
        self.check_plain();
        // SAFETY: inside the variable, by `place`; no reference is changed.
        unsafe { self.place(offset_bytes, size_of::<T>()).cast::<T>().write_unaligned(value) };
    }

    /// Sets the number or pointer at the start of a variable without references.
    #[inline]
    pub fn write<T: Plain>(self, value: T) {
        self.write_at(0, value);
    }

    /// Copies the variable's first bytes to the start of a native slot.
    #[inline]
    pub fn copy_to(self, slot: NativeSlot, size_bytes: usize) {
        let (from, to) = (self.place(0, size_bytes), slot.part(0, size_bytes));
        // SAFETY: both have that many bytes. They may be the same memory.
        unsafe { std::ptr::copy(from.as_ptr(), to.address(), size_bytes) };
    }

    /// Sets the first bytes of a variable without references from a native slot.
    #[inline]
    pub fn copy_from(self, slot: NativeSlot, size_bytes: usize) {
        self.check_plain();
        let (from, to) = (slot.part(0, size_bytes), self.place(0, size_bytes));
        // SAFETY: both have that many bytes. They may be the same memory. No reference is changed.
        unsafe { std::ptr::copy(from.address(), to.as_ptr(), size_bytes) };
    }

    /// The fields of a variable of the struct type `ty`.
    pub fn fields(self, ty: Ty) -> ManagedFields<'t> {
        bug_unless!(self.ty == ty && ty.is_value_type(), "{} is used as {}", self.ty.full_name(), ty.full_name());
        ManagedFields { first: self.address, size_bytes: self.size_bytes, held: PhantomData }
    }

    #[inline]
    fn place(self, offset_bytes: usize, size_bytes: usize) -> NonNull<u8> {
        if !is_inside(offset_bytes, size_bytes, self.size_bytes) {
            bug!("{size_bytes} bytes at {offset_bytes} of a variable of {}", self.ty.full_name());
        }
        // SAFETY: inside the variable, by the check.
        unsafe { self.address.add(offset_bytes) }
    }

    #[inline]
    fn check_reference(self) {
        bug_unless!(self.ty.is_reference_type(), "a {} is no reference", self.ty.full_name());
    }

    #[inline]
    fn check_plain(self) {
        let is_plain = match self.ty.element_type {
            ElementType::ValueType | ElementType::TypedByRef => {
                self.ty.contains_references().is_ok_and(|contains| !contains)
            }
            _ => !self.ty.is_reference_type(),
        };
        bug_unless!(is_plain, "a {} holds references", self.ty.full_name());
    }
}

/// The elements of an array as variables.
#[derive(Clone, Copy)]
pub struct ManagedElements<'t> {
    first: NonNull<u8>,
    length: usize,
    size_bytes: usize,
    ty: Ty,
    held: PhantomData<&'t Object>,
}

impl<'t> ManagedElements<'t> {
    /// The elements of an array, as variables.
    pub fn of(array: Array<'t>) -> ManagedElements<'t> {
        let (Some(first), Some(ty)) = (NonNull::new(array.element_address(0)), array.ty().element()) else {
            bug!("an array without elements")
        };
        let (length, size_bytes) = (array.length(), array.element_size_bytes());
        ManagedElements { first, length, size_bytes, ty, held: PhantomData }
    }

    #[inline]
    pub fn get(self, index: usize) -> ManagedSlot<'t> {
        bug_unless!(index < self.length, "element {index} of {}", self.length);
        // SAFETY: inside the array, by the check.
        let address = unsafe { self.first.add(index * self.size_bytes) };
        ManagedSlot { address, size_bytes: self.size_bytes, ty: self.ty, held: PhantomData }
    }
}

/// The fields of an object or of a value.
#[derive(Clone, Copy)]
pub struct ManagedFields<'t> {
    first: NonNull<u8>,
    size_bytes: usize,
    held: PhantomData<&'t Object>,
}

impl<'t> ManagedFields<'t> {
    /// The fields that an object has as a `ty`: the class of the object, or a base class.
    pub fn of(object: Obj<'t>, ty: Ty) -> ManagedFields<'t> {
        let exact = object.ty();
        let has_fields = exact == ty || exact.is_subclass_of(ty).is_ok_and(|is_subclass| is_subclass);
        bug_unless!(has_fields, "{} is used as {}", exact.full_name(), ty.full_name());
        let size_bytes = object.vtable().instance_size_bytes as usize - saki_abi::object::OBJECT_HEADER_BYTES as usize;
        ManagedFields { first: data_of(object), size_bytes, held: PhantomData }
    }

    /// An instance field of the type that the fields are of.
    ///
    /// # Errors
    /// TypeLoadException.
    pub fn field(self, t: CurrentThread<'t>, field: &'static Field) -> Managed<ManagedSlot<'t>> {
        self.element(t, field, 0)
    }

    /// What native code sees as a field: an instance field, or an element of an inline array.
    ///
    /// # Errors
    /// TypeLoadException.
    pub fn marshalled(self, t: CurrentThread<'t>, field: &NativeField) -> Managed<ManagedSlot<'t>> {
        self.element(t, field.field, field.element_offset_bytes)
    }

    fn element(
        self,
        t: CurrentThread<'t>,
        field: &'static Field,
        element_offset_bytes: u32,
    ) -> Managed<ManagedSlot<'t>> {
        let field_offset = field.offset_bytes().to_managed(t)? - data_offset_bytes(field.owner);
        let offset_bytes = (field_offset + element_offset_bytes) as usize;
        let ty = field.ty().to_managed(t)?;
        let size_bytes = ty.value_size_bytes().to_managed(t)? as usize;
        bug_unless!(offset_bytes + size_bytes <= self.size_bytes, "{field:?} lies outside its object");
        // SAFETY: inside the object or value, by the check.
        Ok(ManagedSlot { address: unsafe { self.first.add(offset_bytes) }, size_bytes, ty, held: PhantomData })
    }
}

/// The elements of an array of numbers, pointers or structs without references, as one block of bytes.
#[derive(Clone, Copy)]
pub struct PlainElements<'t>(Array<'t>);

impl<'t> PlainElements<'t> {
    /// The elements of an array whose elements hold no references.
    pub fn of(array: Array<'t>) -> PlainElements<'t> {
        bug_unless!(array.vtable().element_ref_map.is_null(), "{} holds references", array.ty().full_name());
        PlainElements(array)
    }

    /// What all elements take, in bytes.
    pub fn size_bytes(self) -> usize {
        self.0.length() * self.0.element_size_bytes()
    }

    /// Copies all elements to the start of a native slot.
    pub fn copy_to(self, slot: NativeSlot) {
        let to = slot.part(0, self.size_bytes());
        // SAFETY: the elements have that many bytes; native memory does not overlap them.
        unsafe { std::ptr::copy_nonoverlapping(self.0.element_address(0), to.address(), self.size_bytes()) };
    }

    /// Sets all elements from a native slot.
    pub fn copy_from(self, slot: NativeSlot) {
        let from = slot.part(0, self.size_bytes());
        // SAFETY: the elements have that many bytes and hold no references; native memory does not overlap them.
        unsafe { std::ptr::copy_nonoverlapping(from.address(), self.0.element_address(0), self.size_bytes()) };
    }

    /// Sets the first elements.
    pub fn set<T: Plain>(self, values: &[T]) {
        self.check::<T>(values.len());
        // SAFETY: the array has as many elements of this size, and stays where it is; the elements hold no references.
        unsafe { std::ptr::copy(values.as_ptr(), self.0.element_address(0).cast(), values.len()) };
    }

    fn check<T>(self, count: usize) {
        bug_unless!(
            count <= self.0.length() && self.0.element_size_bytes() == size_of::<T>(),
            "{count} elements of {} bytes in an array of {}",
            size_of::<T>(),
            self.0.length()
        );
    }
}

/// The address of an object's first field, or of the value in a box.
fn data_of(object: Obj) -> NonNull<u8> {
    NonNull::new(object.data()).unwrap_or_else(|| bug!("an object at no address"))
}

/// The object as a string, which it is by its native type.
pub fn string(object: Obj<'_>) -> Str<'_> {
    object.as_str().unwrap_or_else(|| bug!("a {} is marshalled as a string", object.ty().full_name()))
}

/// The object as an array, which it is by its native type.
pub fn array(object: Obj<'_>) -> Array<'_> {
    object.as_array().unwrap_or_else(|| bug!("a {} is marshalled as an array", object.ty().full_name()))
}

#[cfg(test)]
mod tests {
    use super::{NativeSlot, NativeWord};

    #[test]
    fn parts_and_elements_lie_at_any_address() {
        let mut memory = [0xffu8; 11];
        // SAFETY: ten bytes of the array, which nothing else uses while the slot lives.
        let slot = unsafe { NativeSlot::at(memory[1..].as_mut_ptr(), 10) }.expect("not null");
        slot.fill_zero();
        assert!(slot.is_zero());
        slot.write(0x0102_0304_u32);
        slot.part(4, 6).write(-2i16);
        slot.element(3, 2).write(0x61u16);
        slot.part(8, 2).copy_from(b"ab");
        assert!(!slot.is_zero());
        assert_eq!(slot.read::<u16>(), 0x0304);
        assert_eq!(slot.part(4, 2).read::<u16>(), 0xfffe);
        assert_eq!(slot.bytes(), [4, 3, 2, 1, 0xfe, 0xff, 0x61, 0, b'a', b'b']);
        // At the end no bytes are left, but an empty part is not an error.
        assert!(slot.part(10, 0).bytes().is_empty());
        assert_eq!(memory[0], 0xff);
    }

    #[test]
    fn a_pointer_leads_to_a_slot_of_the_size_that_is_said() {
        let mut target = 7u8;
        let word = (&raw mut target) as i64;
        let mut word = NativeWord(word);
        let slot = NativeSlot::of_word(&mut word);
        assert_eq!(slot.target(1).expect("not null").bytes(), [7]);
        slot.write(0usize);
        assert!(slot.target(1).is_none());
        assert_eq!(word.get(), 0);
    }
}
