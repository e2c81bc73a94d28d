//! `Obj`, `Str` and `Array`: references to objects as Rust code above the collector holds them.
//!
//! Invariants: a reference is never null and names an object of its kind; it is bound to the call of the current thread
//! that got it, so that it lies in registers and stack frames alone, which collections scan conservatively and whose
//! objects they do not move. A reference that must outlive the call is a `RootedHandle` or a `RootCell`. Raw words
//! (`ObjRef`) are what compiled code passes and what fields hold; they become references in `Obj::from_word` only. The
//! signatures of internal calls name references directly: `Option<Str<'t>>` has the layout of the word, and
//! `internal_calls` compares each signature with the managed one.
//! Left out: which fields an object has (`fields`), and all that may load types or throw (`new_references`).

use crate::thread::CurrentThread;
use saki_abi::object::{
    ARRAY_DATA_OFFSET, ArrayBound, ArrayHeader, OBJECT_HEADER_BYTES, STRING_CHARS_OFFSET, StringHeader,
};
use saki_abi::vtable::{VTable, VTableFlags};
use saki_abi::{ObjRef, Object, RefMap};
use saki_thread::RootSlot;
use saki_types::{ElementType, Ty, Type};
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::AtomicUsize;

/// An object.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Obj<'t> {
    object: NonNull<Object>,
    held: PhantomData<&'t Object>,
}

/// A System.String.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Str<'t>(pub(super) Obj<'t>);

/// An array of any rank and element type.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Array<'t>(pub(super) Obj<'t>);

/// The type of an object's vtable.
pub fn type_of_vtable(vtable: &VTable) -> Ty {
    // SAFETY: `vtables::build` stored a `&'static Type` there.
    unsafe { &*(vtable.ty as *const Type) }
}

impl<'t> Obj<'t> {
    /// The object that a word names; None for null.
    ///
    /// # Safety
    /// The word is null or names an object that lives: it was read from a root, a field or an element, or compiled code
    /// passed it.
    #[inline]
    pub unsafe fn from_word(word: ObjRef) -> Option<Obj<'t>> {
        Some(Obj { object: NonNull::new(word.0)?, held: PhantomData })
    }

    /// The object that a word names; the word is not null.
    ///
    /// # Safety
    /// The word names an object that lives: it was read from a root, a field or an element, or compiled code passed it.
    #[inline]
    pub(crate) unsafe fn known(word: ObjRef) -> Obj<'t> {
        // SAFETY: the word is a reference that the thread sees as live, which this function demands, too.
        match unsafe { Obj::from_word(word) } {
            Some(object) => object,
            None => saki_base::bug!("null instead of an object"),
        }
    }

    /// The object in a root slot of a managed thread.
    #[inline]
    pub fn in_root(_t: CurrentThread<'t>, slot: &RootSlot) -> Option<Obj<'t>> {
        // SAFETY: a slot is a root.
        unsafe { Obj::from_word(slot.get()) }
    }

    pub fn address(self) -> usize {
        self.object.as_ptr().addr()
    }

    /// The sync word, in which the lock and the hash code are.
    #[inline]
    pub(crate) fn sync(self) -> &'t AtomicUsize {
        // SAFETY: the object lives, and only atomics access the word.
        unsafe { &self.object.as_ref().sync }
    }

    /// The vtable; mutators never see the collector's bits in it.
    #[inline]
    pub fn vtable(self) -> &'static VTable {
        // SAFETY: the object lives, its first word is its vtable, and vtables outlive the objects that have them.
        unsafe { &*self.object.as_ref().vtable }
    }

    /// The exact type.
    #[inline]
    pub fn ty(self) -> Ty {
        type_of_vtable(self.vtable())
    }

    /// The object as a string; None if it is something else.
    #[inline]
    pub fn as_str(self) -> Option<Str<'t>> {
        (self.ty().element_type == ElementType::String).then_some(Str(self))
    }

    /// The object as an array; None if it is something else.
    #[inline]
    pub fn as_array(self) -> Option<Array<'t>> {
        self.ty().is_array().then_some(Array(self))
    }

    /// Whether the object is a transparent proxy.
    #[inline]
    pub fn is_proxy(self) -> bool {
        self.vtable().flags.has(VTableFlags::PROXY)
    }

    /// Address of the field at an offset from the start of the object.
    #[inline]
    pub fn field_address<T>(self, offset_bytes: usize) -> *mut T {
        self.word().field_ptr(offset_bytes)
    }

    /// Address of a boxed value's data, or of an object's first field.
    #[inline]
    pub fn data(self) -> *mut u8 {
        self.word().field_ptr(OBJECT_HEADER_BYTES as usize)
    }

    /// The value in a box; None if the object is not a box of a value of this size.
    pub fn unboxed<T: Plain>(self) -> Option<T> {
        let ty = self.ty();
        let has_value = ty.is_value_type() && ty.value_size_bytes().is_ok_and(|size| size as usize == size_of::<T>());
        // SAFETY: the box holds a value of this size behind its header, where values of up to 8 bytes are aligned.
        has_value.then(|| unsafe { self.data().cast::<T>().read_unaligned() })
    }

    /// The number in a box.
    ///
    /// # Panics
    /// The object is not a box of a value of this size: an error of the caller.
    pub fn number<T: Plain>(self) -> T {
        let ty = self.ty();
        assert!(ty.is_value_type() && ty.value_size_bytes().is_ok_and(|size| size as usize == size_of::<T>()));
        // SAFETY: a value of this size lies in the box, by the check.
        unsafe { self.data().cast::<T>().read() }
    }

    /// Stores a reference in a field of the object, with barrier.
    ///
    /// # Safety
    /// A field that may hold `value` lies at `offset_bytes`.
    pub unsafe fn store(self, t: CurrentThread<'_>, offset_bytes: usize, value: Option<Obj<'_>>) {
        // SAFETY: the object is live, and a field that may hold `value` lies at `offset_bytes`; the current thread
        // stores.
        unsafe { saki_gc::barrier::store_ref(t.managed(), self.word(), offset_bytes, value.word()) };
    }
}

impl<'t> Str<'t> {
    /// The UTF-16 units.
    #[inline]
    pub fn units(self) -> &'t [u16] {
        // SAFETY: a string has `length` units behind its header; strings do not change, and the slice in the caller's
        // frames keeps this one alive and in place.
        unsafe {
            let header = self.word().0 as *const StringHeader;
            std::slice::from_raw_parts(self.first_unit(), (*header).length as usize)
        }
    }

    /// Address of the first UTF-16 unit.
    pub fn first_unit(self) -> *const u16 {
        self.word().field_ptr(STRING_CHARS_OFFSET as usize)
    }
}

impl<'t> Array<'t> {
    /// Number of elements, of all dimensions together.
    #[inline]
    pub fn length(self) -> usize {
        // SAFETY: arrays begin with `ArrayHeader`; the length does not change.
        unsafe { (*(self.word().0 as *const ArrayHeader)).length as usize }
    }

    /// Offsets in bytes of the references in an element.
    pub fn element_references(self) -> &'static [u32] {
        // SAFETY: the element map of an array's vtable.
        unsafe { RefMap::offsets(self.vtable().element_ref_map) }
    }

    /// Zeroes elements. Stores of null need no barrier.
    ///
    /// # Panics
    /// The range does not lie in the array: an error of the caller.
    pub fn clear(self, first: usize, count: usize) {
        self.check_range(first, count);
        // SAFETY: inside the array, by the check. On the machines we support memset stores aligned words whole, so no
        // thread sees half a reference.
        unsafe { std::ptr::write_bytes(self.element_address(first), 0, count * self.element_size_bytes()) };
    }

    fn check_range(self, first: usize, count: usize) {
        let length = self.length();
        assert!(first <= length && count <= length - first, "{count} elements from {first} of {length}");
    }

    /// Bytes of an element.
    pub fn element_size_bytes(self) -> usize {
        self.vtable().element_size_bytes as usize
    }

    /// The bounds of a multi-dimensional array; None for SZ arrays.
    pub fn bounds(self) -> Option<&'t [ArrayBound]> {
        let header = self.word().0 as *const ArrayHeader;
        // SAFETY: arrays begin with `ArrayHeader`.
        if unsafe { (*header).bounds.is_null() } {
            return None;
        }
        // SAFETY: `rank` bounds lie behind the elements; they do not change, and the caller's frames keep the array
        // where it is.
        Some(unsafe { std::slice::from_raw_parts(self.first_bound(), self.vtable().rank as usize) })
    }

    /// Address of the bounds of a multi-dimensional array, which lie behind its elements. The header's pointer may be
    /// stale: a collection that moves the array does not update it.
    pub(super) fn first_bound(self) -> *mut ArrayBound {
        self.word().field_ptr(saki_gc::bounds_offset_bytes(self.length(), self.element_size_bytes()))
    }

    /// Address of an element. The index may be the length, for the end of the elements.
    #[inline]
    pub fn element_address(self, index: usize) -> *mut u8 {
        debug_assert!(index <= self.length());
        self.word().field_ptr(ARRAY_DATA_OFFSET as usize + index * self.element_size_bytes())
    }

    /// The first `length` elements as values of `T`; None if elements have another size than `T`, or are or hold
    /// references.
    pub fn as_ptr<T: Copy>(self) -> Option<*mut T> {
        (self.element_references().is_empty() && self.element_size_bytes() == size_of::<T>())
            .then(|| self.element_address(0).cast())
    }

    /// A copy of `count` numbers from `first` on.
    ///
    /// # Panics
    /// The range does not lie in the array, or elements have another size or are or hold references: an error of the
    /// caller.
    pub fn numbers_in<T: Plain>(self, first: usize, count: usize) -> Vec<T> {
        let start = self.check_numbers::<T>(first, count);
        // SAFETY: `count` numbers of this size inside the array, by the check; other threads may replace whole numbers
        // meanwhile.
        unsafe { std::slice::from_raw_parts(start, count) }.to_vec()
    }

    /// A copy of all elements of an array of numbers.
    ///
    /// # Panics
    /// Elements have another size or are or hold references: an error of the caller.
    pub fn numbers<T: Plain>(self) -> Vec<T> {
        self.numbers_in(0, self.length())
    }

    /// Stores numbers from element `first` on.
    ///
    /// # Panics
    /// The range does not lie in the array, or elements have another size or are or hold references: an error of the
    /// caller.
    pub fn set_numbers<T: Plain>(self, first: usize, values: &[T]) {
        let start = self.check_numbers::<T>(first, values.len());
        // SAFETY: as many numbers of this size inside the array, by the check; a Rust slice does not overlap it.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), start, values.len()) };
    }

    /// Address of element `first`; checks that the array has `count` numbers of this size from there on.
    fn check_numbers<T: Plain>(self, first: usize, count: usize) -> *mut T {
        self.check_range(first, count);
        let is_plain = self.element_references().is_empty();
        assert!(is_plain && self.element_size_bytes() == size_of::<T>(), "an array of other elements");
        self.element_address(first).cast()
    }

    /// The bytes of a byte[], to be used before the next safepoint; None for arrays of other elements.
    pub fn bytes(self) -> Option<&'t [u8]> {
        let first = self.as_ptr::<u8>()?;
        // SAFETY: the array has `length` bytes, and the slice in the caller's frames keeps it alive and in place. Other
        // threads may write meanwhile; the reader then sees old or new bytes.
        Some(unsafe { std::slice::from_raw_parts(first, self.length()) })
    }

    /// An element of an array of plain values.
    ///
    /// # Panics
    /// The index is not below the length, or elements are references or of another size: an error of the caller.
    pub fn value<T: Plain>(self, index: usize) -> T {
        assert!(index < self.length(), "element {index} of {}", self.length());
        match self.as_ptr::<T>() {
            // SAFETY: the element lies inside the array, by the check.
            Some(first) => unsafe { first.add(index).read() },
            None => saki_base::bug!("elements of {} read as {} bytes", self.ty().full_name(), size_of::<T>()),
        }
    }

    /// Sets an element of an array of plain values.
    ///
    /// # Panics
    /// The index is not below the length, or elements are references or of another size: an error of the caller.
    pub fn set_value<T: Plain>(self, index: usize, value: T) {
        assert!(index < self.length(), "element {index} of {}", self.length());
        match self.as_ptr::<T>() {
            // SAFETY: the element lies inside the array, by the check.
            Some(first) => unsafe { first.add(index).write(value) },
            None => saki_base::bug!("elements of {} set as {} bytes", self.ty().full_name(), size_of::<T>()),
        }
    }

    /// An element of an array of references.
    ///
    /// # Panics
    /// The index is not below the length, or elements are not references: an error of the caller.
    #[inline]
    pub fn get(self, index: usize) -> Option<Obj<'t>> {
        self.check_reference(index);
        // SAFETY: the element is a reference inside the array, by the check.
        unsafe { Obj::from_word(ObjRef::load(self.element_address(index).cast())) }
    }

    /// Stores a reference, with barrier; the caller knows that the element type allows it (`typed_values` answers
    /// that).
    ///
    /// # Panics
    /// The index is not below the length, or elements are not references: an error of the caller.
    #[inline]
    pub fn set(self, t: CurrentThread<'_>, index: usize, value: Option<Obj<'_>>) {
        self.check_reference(index);
        debug_assert!(self.admits(value), "a foreign object in a {}", self.ty().full_name());
        let offset_bytes = self.element_address(index).addr() - self.address();
        // SAFETY: the element is a reference inside the array, by the check.
        unsafe { saki_gc::barrier::store_ref(t.managed(), self.word(), offset_bytes, value.word()) };
    }

    /// Whether the element type allows the object. A proxy may also be what its RealProxy says that it is.
    fn admits(self, value: Option<Obj<'_>>) -> bool {
        let (Some(value), Some(element)) = (value, self.ty().element()) else { return true };
        value.is_proxy() || value.ty().is_assignable_to(element).unwrap_or(true)
    }

    /// The elements of an array of references, in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Option<Obj<'t>>> + use<'t> {
        (0..self.length()).map(move |index| self.get(index))
    }

    /// Whether each element is a reference and nothing else.
    #[inline]
    fn has_reference_elements(self) -> bool {
        self.element_size_bytes() == size_of::<ObjRef>() && self.element_references() == [0]
    }

    #[inline]
    fn check_reference(self, index: usize) {
        assert!(index < self.length(), "element {index} of {}", self.length());
        assert!(self.has_reference_elements(), "an array of other elements");
    }
}

impl<'t> Deref for Str<'t> {
    type Target = Obj<'t>;

    fn deref(&self) -> &Obj<'t> {
        &self.0
    }
}

impl<'t> Deref for Array<'t> {
    type Target = Obj<'t>;

    fn deref(&self) -> &Obj<'t> {
        &self.0
    }
}

impl<'t> From<Str<'t>> for Obj<'t> {
    fn from(string: Str<'t>) -> Obj<'t> {
        string.0
    }
}

impl<'t> From<Array<'t>> for Obj<'t> {
    fn from(array: Array<'t>) -> Obj<'t> {
        array.0
    }
}

/// Numbers and native pointers, which Rust code may read from objects and write into them by their size alone.
///
/// # Safety
/// Any bits of this size are a value, and no part of it is a reference to an object.
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($number:ty),*) => { $(
        // SAFETY: a number.
        unsafe impl Plain for $number {}
    )* };
}
plain!(i8, u8, i16, u16, i32, u32, i64, u64, isize, usize, f32, f64);

// SAFETY: a native pointer, which is not read here.
unsafe impl<T> Plain for *const T {}
// SAFETY: a native pointer, which is not read here.
unsafe impl<T> Plain for *mut T {}
// SAFETY: elements of which any bits are a value.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// Values that fields and compiled code hold as a word.
pub trait Word: Copy {
    /// The word; null for None.
    fn word(self) -> ObjRef;
}

macro_rules! words {
    ($($reference:ident),*) => { $(
        impl Word for $reference<'_> {
            #[inline]
            fn word(self) -> ObjRef {
                ObjRef(Obj::from(self).object.as_ptr())
            }
        }

        impl Word for Option<$reference<'_>> {
            #[inline]
            fn word(self) -> ObjRef {
                self.map_or(ObjRef::NULL, Word::word)
            }
        }
    )* };
}
words!(Obj, Str, Array);
