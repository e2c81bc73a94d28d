//! Access from Rust to fields of class-library objects that the contract lists (`saki_contract::FIELDS`), with the
//! offset looked up once.

use crate::exception_types::ExceptionType;
use crate::references::{Array, Obj, Plain, Str, Word};
use crate::thread::CurrentThread;
use saki_abi::ObjRef;
use saki_contract::has_field;
use saki_types::{Field, LibraryType, universe};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A field of the class libraries that the machine reads or writes.
///
/// ```ignore
/// static MESSAGE: ManagedField = ManagedField::new(LibraryType::Exception, "_message");
/// let text = MESSAGE.str(exception);
/// ```
pub struct ManagedField {
    owner: LibraryType,
    /// As in the table; a profile may have another name for it.
    field: &'static str,
    offset: AtomicUsize,
    /// The field in the root domain.
    in_root: OnceLock<&'static Field>,
}

/// The offset of a field that was not looked up yet.
const UNKNOWN: usize = usize::MAX;

impl ManagedField {
    /// A field of the table; others do not compile.
    pub const fn new(owner: LibraryType, field: &'static str) -> Self {
        assert!(has_field(owner, field), "crates/contract/src/library/fields.rs has no row for this field");
        ManagedField { owner, field, offset: AtomicUsize::new(UNKNOWN), in_root: OnceLock::new() }
    }

    /// A field that the exception's own class declares.
    pub const fn of_exception(exception: ExceptionType, field: &'static str) -> Self {
        ManagedField::new(exception.role(), field)
    }

    /// The name of the field, as in the table.
    pub fn name(&self) -> &'static str {
        self.field
    }

    /// Whether the class libraries have the field.
    pub fn is_there(&self) -> bool {
        // Relaxed: the number publishes no other memory.
        self.offset.load(Ordering::Relaxed) != UNKNOWN
            || universe().find_field_offset_bytes(self.owner, self.field).is_ok_and(|found| found.is_some())
    }

    /// The field in the current domain; aborts when the class library lacks it (a class library of another version).
    pub fn field(&self) -> &'static Field {
        if *universe() == *universe::root() {
            return self.in_root.get_or_init(|| self.look_up());
        }
        self.look_up()
    }

    fn look_up(&self) -> &'static Field {
        let field = universe().find_library_field(self.owner, self.field).ok().flatten();
        field.unwrap_or_else(|| saki_base::bug!("{:?} of the class library has no field {}", self.owner, self.field))
    }

    /// Bytes from the object start (classes) or the value start (value types): the same in all domains.
    #[inline(always)]
    pub fn offset_bytes(&self) -> usize {
        // Relaxed: the number publishes no other memory.
        let known = self.offset.load(Ordering::Relaxed);
        if known != UNKNOWN { known } else { self.find_offset_bytes() }
    }

    #[cold]
    fn find_offset_bytes(&self) -> usize {
        match universe().find_field_offset_bytes(self.owner, self.field) {
            Ok(None) => saki_base::bug!("{:?} of the class library has no field {}", self.owner, self.field),
            Ok(Some(offset)) => {
                // Relaxed: as above; every thread stores the same number.
                self.offset.store(offset as usize, Ordering::Relaxed);
                offset as usize
            }
            Err(error) => saki_base::bug!("layout of {:?}: {error}", self.owner),
        }
    }

    /// Address of the field in `object`, which must be an instance of the class.
    pub fn address<T>(&self, object: Obj) -> *mut T {
        let offset_bytes = self.offset_bytes();
        debug_assert!(
            offset_bytes + size_of::<T>() <= object.vtable().instance_size_bytes as usize,
            "field {} of a {}",
            self.field,
            object.ty().full_name()
        );
        object.field_address(offset_bytes)
    }

    /// Reads a plain value.
    pub fn get<T: Plain>(&self, object: Obj) -> T {
        // SAFETY: the field lies inside the object at a place aligned for it.
        unsafe { self.address::<T>(object).read() }
    }

    /// Writes a plain value; references need `set_ref`.
    pub fn set<T: Plain>(&self, object: Obj, value: T) {
        // SAFETY: `address` has checked that the field lies inside the object, at a place aligned for it; `Plain` is no
        // reference, so no barrier is needed.
        unsafe { self.address::<T>(object).write(value) }
    }

    /// Reads a reference.
    pub fn obj<'t>(&self, object: Obj<'t>) -> Option<Obj<'t>> {
        // SAFETY: a field that holds references, of an object that lives.
        unsafe { Obj::from_word(ObjRef::load(self.address(object))) }
    }

    /// Reads a field whose type is System.String.
    pub fn str<'t>(&self, object: Obj<'t>) -> Option<Str<'t>> {
        self.obj(object).map(|text| text.as_str().unwrap_or_else(|| self.wrong_type()))
    }

    /// Reads a field whose type is an array.
    pub fn array<'t>(&self, object: Obj<'t>) -> Option<Array<'t>> {
        self.obj(object).map(|array| array.as_array().unwrap_or_else(|| self.wrong_type()))
    }

    #[cold]
    fn wrong_type(&self) -> ! {
        saki_base::bug!("{:?}::{} holds an object of another type", self.owner, self.field)
    }

    /// Writes a reference, with the write barrier.
    pub fn set_ref(&self, t: CurrentThread, object: Obj, value: impl Word) {
        // SAFETY: the field lies at this offset in the object.
        unsafe { saki_gc::barrier::store_ref(t.managed(), object.word(), self.offset_bytes(), value.word()) };
    }

    /// Address of a static field in the current domain.
    pub fn static_address<T>(&self) -> *mut T {
        match crate::statics::static_field_address(self.field()) {
            Ok(address) => address as *mut T,
            Err(error) => saki_base::bug!("static {}: {error}", self.field),
        }
    }
}
