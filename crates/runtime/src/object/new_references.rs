//! Functions of references that may load types or throw: new objects, strings and arrays, casts. Also the text of a
//! string.

use crate::exception_types::ExceptionType;
use crate::exceptions::{self, ToManaged};
use crate::handles;
use crate::host_events::{HostEvent, tell_if_wanted};
use crate::object;
use crate::references::{Array, Obj, Plain, Str, Word};
use crate::strings;
use crate::thread::{CurrentThread, Managed};
use crate::type_objects;
use saki_abi::object::{ArrayBound, ArrayHeader, OBJECT_HEADER_BYTES};
use saki_abi::vtable::VTableFlags;
use saki_os::memory::copy_whole_words;
use saki_sync::handle_table::{Handle, StaleHandle};
use saki_types::{ElementType, LoadError, Ty};

impl<'t> Obj<'t> {
    /// A zeroed instance of the object's own type, which is neither an array nor a string.
    ///
    /// # Errors
    /// OutOfMemoryException.
    pub fn new_of_same_type(self, t: CurrentThread<'t>) -> Managed<Obj<'t>> {
        object::new_instance_of(t, self.vtable())
    }

    /// The target of a GC handle that other code may free; None if it is null, or was weak and has died.
    ///
    /// # Errors
    /// `StaleHandle` for a handle that was freed.
    pub fn of_handle(t: CurrentThread<'t>, handle: Handle) -> Result<Option<Obj<'t>>, StaleHandle> {
        handles::target(t, handle)
    }

    /// A shallow copy of any object, without its lock and hash code.
    ///
    /// # Errors
    /// OutOfMemoryException.
    pub fn cloned(self, t: CurrentThread<'t>) -> Managed<Obj<'t>> {
        let vtable = self.vtable();
        if vtable.flags.0 & (VTableFlags::ARRAY | VTableFlags::STRING) == 0 {
            let copy = self.new_of_same_type(t)?;
            copy.fill_from(self, vtable.instance_size_bytes as usize);
            return Ok(copy);
        }
        // SAFETY: a live object.
        let size_bytes = unsafe { saki_gc::object_size_bytes(self.word()) };
        let copy = saki_gc::alloc_bytes(t.managed(), vtable, size_bytes);
        // SAFETY: the allocation gives an object or null.
        let copy = copy.and_then(|word| unsafe { Obj::from_word(word) });
        let copy = copy.ok_or_else(|| exceptions::out_of_memory(t))?;
        copy.fill_from(self, size_bytes);
        if vtable.flags.has(VTableFlags::MULTI_DIM) {
            let copy = Array(copy);
            // SAFETY: an array, whose bounds lie behind its own elements.
            unsafe { (*(copy.word().0 as *mut ArrayHeader)).bounds = copy.first_bound() };
        }
        tell_if_wanted(HostEvent::Allocated(copy));
        Ok(copy)
    }

    /// Copies the bytes after the header from another object of the same size. No object was allocated since this one,
    /// so no barrier is needed.
    fn fill_from(self, original: Obj, size_bytes: usize) {
        const HEADER: usize = OBJECT_HEADER_BYTES as usize;
        const _: () = assert!(std::mem::offset_of!(ArrayHeader, bounds) == HEADER);
        // SAFETY: both objects have `size_bytes`.
        unsafe { copy_whole_words(original.data(), self.data(), size_bytes - HEADER) };
    }

    /// A boxed number.
    ///
    /// # Panics
    /// `ty` is not a value type of this size: an error of the caller.
    ///
    /// # Errors
    /// TypeLoadException, OutOfMemoryException.
    pub fn boxed_number<T: Plain>(t: CurrentThread<'t>, ty: Ty, value: T) -> Managed<Obj<'t>> {
        let made = Obj::new(t, ty)?;
        assert!(ty.is_value_type() && ty.value_size_bytes().is_ok_and(|size| size as usize == size_of::<T>()));
        // SAFETY: the box has room for a value of this size.
        unsafe { made.data().cast::<T>().write(value) };
        Ok(made)
    }

    /// The System.RuntimeType object of a type.
    ///
    /// # Errors
    /// OutOfMemoryException.
    pub fn of_type(t: CurrentThread<'t>, ty: Ty) -> Managed<Obj<'t>> {
        type_objects::type_object(t, ty)
    }

    /// The type that the object, a System.Type, stands for; None for builders of types and the like.
    #[inline]
    pub fn as_type(self) -> Option<Ty> {
        type_objects::type_of_object(self)
    }

    /// A boxed copy of the value at `data`; a Nullable<T> gives None or a box of T.
    ///
    /// # Safety
    /// `data` holds a value of type `ty`.
    ///
    /// # Errors
    /// TypeLoadException, OutOfMemoryException.
    pub unsafe fn boxed(t: CurrentThread<'t>, ty: Ty, data: *const u8) -> Managed<Option<Obj<'t>>> {
        // SAFETY: `data` holds a value of type `ty`, which this function demands.
        unsafe { object::box_value(t, ty, data) }
    }

    /// A boxed primitive or enum of type `ty` whose bytes are the first ones of `bits`.
    ///
    /// # Errors
    /// BadImageFormatException for other types; OutOfMemoryException.
    pub fn of_bits(t: CurrentThread<'t>, ty: Ty, bits: u64) -> Managed<Obj<'t>> {
        let element = ty.underlying().element_type;
        if element.primitive_size_bytes().is_none() && !matches!(element, ElementType::I | ElementType::U) {
            let message = format!("A constant of type {}.", ty.full_name());
            return Err(exceptions::throw(t, ExceptionType::BadImageFormat, &message));
        }
        let size_bytes = ty.value_size_bytes().to_managed(t)? as usize;
        let made = Obj::new(t, ty)?;
        // SAFETY: the new object has `size_bytes` bytes of data and holds no references.
        unsafe {
            std::ptr::copy_nonoverlapping((&raw const bits).cast(), made.data(), size_bytes.min(size_of::<u64>()))
        };
        Ok(made)
    }

    /// An exception of a class of mscorlib, constructed with its message if there is one.
    ///
    /// # Errors
    /// What the constructor throws.
    pub fn exception(t: CurrentThread<'t>, exception: ExceptionType, message: Option<&str>) -> Managed<Obj<'t>> {
        exceptions::new_exception(t, exception, message)
    }

    /// The exception for a load error.
    ///
    /// # Errors
    /// What its constructor throws.
    pub fn load_exception(t: CurrentThread<'t>, error: &LoadError) -> Managed<Obj<'t>> {
        exceptions::load_exception(t, error)
    }

    /// A zeroed instance of a type, whose constructor has not run. Finalizable objects are registered.
    ///
    /// # Errors
    /// TypeLoadException, OutOfMemoryException.
    pub fn new(t: CurrentThread<'t>, ty: Ty) -> Managed<Obj<'t>> {
        object::new_instance(t, ty)
    }

    /// Whether the object may be used as a `ty`.
    ///
    /// # Errors
    /// TypeLoadException.
    pub fn is_instance(self, t: CurrentThread<'_>, ty: Ty) -> Managed<bool> {
        object::is_assignable(t, self, ty)
    }

    /// Whether the object may be used as a `ty`. One that decides itself to which interfaces it can be cast is told to
    /// throw if it may not.
    ///
    /// # Errors
    /// TypeLoadException; what such an object throws.
    pub(crate) fn is_instance_or_throws(self, t: CurrentThread<'_>, ty: Ty) -> Managed<bool> {
        object::is_assignable_or_throws(t, self, ty, true)
    }
}

impl<'t> Str<'t> {
    /// The interned string with this string's text: itself when it is the first.
    ///
    /// # Errors
    /// OutOfMemoryException.
    pub fn intern(self, t: CurrentThread<'t>) -> Managed<Str<'t>> {
        strings::intern_object(t, self)
    }

    /// The interned string with this string's text; None if there is none.
    pub fn interned(self, t: CurrentThread<'t>) -> Option<Str<'t>> {
        strings::interned(t, self.units())
    }

    /// The interned string of these UTF-16 units.
    ///
    /// # Errors
    /// OutOfMemoryException.
    pub fn intern_units(t: CurrentThread<'t>, units: &[u16]) -> Managed<Str<'t>> {
        strings::intern(t, units)
    }

    /// A string with this text.
    ///
    /// # Errors
    /// OutOfMemoryException.
    pub fn new(t: CurrentThread<'t>, text: &str) -> Managed<Str<'t>> {
        strings::new_string(t, text)
    }

    /// A string of these UTF-16 units.
    ///
    /// # Errors
    /// OutOfMemoryException.
    pub fn from_units(t: CurrentThread<'t>, units: &[u16]) -> Managed<Str<'t>> {
        strings::new_string_utf16(t, units)
    }

    /// A string from bytes that should be UTF-8; invalid sequences become U+FFFD.
    ///
    /// # Errors
    /// OutOfMemoryException.
    pub fn from_utf8(t: CurrentThread<'t>, bytes: &[u8]) -> Managed<Str<'t>> {
        strings::new_string_utf8(t, bytes)
    }

    /// A string of `length` UTF-16 units, all zero, which `fill` then sets.
    ///
    /// # Errors
    /// OutOfMemoryException.
    pub fn filled(t: CurrentThread<'t>, length: usize, fill: impl FnOnce(&mut [u16])) -> Managed<Str<'t>> {
        let string = strings::alloc_string(t, length)?;
        // SAFETY: the string has `length` units, and no other code has a reference to it yet.
        fill(unsafe { std::slice::from_raw_parts_mut(string.first_unit().cast_mut(), length) });
        Ok(string)
    }

    /// The text; lone surrogates become U+FFFD.
    pub fn to_rust(self) -> String {
        strings::text_of(self.units())
    }
}

impl<'t> Array<'t> {
    /// An element as an object: boxed if it is a value.
    ///
    /// # Panics
    /// The index is not below the length: an error of the caller.
    ///
    /// # Errors
    /// TypeLoadException, OutOfMemoryException.
    pub fn boxed_element(self, t: CurrentThread<'t>, index: usize) -> Managed<Option<Obj<'t>>> {
        match self.ty().element() {
            Some(element) if element.is_value_type() => {
                assert!(index < self.length(), "element {index} of {}", self.length());
                // SAFETY: an element of this type, by the check.
                unsafe { Obj::boxed(t, element, self.element_address(index)) }
            }
            _ => Ok(self.get(index)),
        }
    }

    /// A zeroed array of `length` elements; `array` is the array type itself.
    ///
    /// # Errors
    /// TypeLoadException, OutOfMemoryException.
    pub fn of_array_type(t: CurrentThread<'t>, array: Ty, length: usize) -> Managed<Array<'t>> {
        object::new_sz_array(t, array, length)
    }

    /// A zeroed multi-dimensional array of this array type.
    ///
    /// # Errors
    /// TypeLoadException, OutOfMemoryException, also when the product of the lengths is too large.
    pub fn new_multi_dim(t: CurrentThread<'t>, array_ty: Ty, bounds: &[ArrayBound]) -> Managed<Array<'t>> {
        object::new_multi_dim_array(t, array_ty, bounds)
    }

    /// A zeroed array of `length` elements of `element` type.
    ///
    /// # Errors
    /// TypeLoadException, OutOfMemoryException.
    pub fn new(t: CurrentThread<'t>, element: Ty, length: usize) -> Managed<Array<'t>> {
        object::new_array(t, element, length)
    }

    /// A byte[] with this content.
    ///
    /// # Errors
    /// OutOfMemoryException.
    pub fn of_bytes(t: CurrentThread<'t>, bytes: &[u8]) -> Managed<Array<'t>> {
        object::new_byte_array(t, bytes)
    }
}
