//! The types of the objects that generated functions make: their vtables, the helpers that the code calls for them, and
//! what the interpreter asks about them. They are types of the class library; without it there are none.

use crate::common::*;
use saki_abi::object::{ARRAY_DATA_OFFSET, ARRAY_LENGTH_OFFSET, OBJECT_HEADER_BYTES};
use saki_abi::vtable::{
    VTABLE_CAST_HIT_OFFSETS, VTABLE_CAST_MISS_OFFSETS, VTABLE_DEPTH_OFFSET, VTABLE_DISPLAY_OFFSET,
    VTABLE_ELEMENT_TYPE_OFFSET, VTABLE_TYPE_OFFSET, VTable,
};
use saki_abi::{HelperId, ThreadAbi};
use saki_il::ir::{MemType, Symbol};
use saki_jit::RelocTarget;
use saki_types::{Ty, universe};
use std::sync::OnceLock;

/// Classes with a base class in common, a sealed one, and a branch that is deeper.
const NAMES: [&str; 5] =
    ["EventArgs", "UnhandledExceptionEventArgs", "Version", "ArgumentException", "ArgumentNullException"];
/// What is boxed, with the memory type of the value.
const BOXES: [(&str, MemType); 3] = [("Int32", MemType::I32), ("Int64", MemType::I64), ("Byte", MemType::U8)];

/// Positions among the types: classes, boxes, and arrays.
pub const FIRST_BOX: usize = NAMES.len();
pub const FIRST_ARRAY: usize = FIRST_BOX + BOXES.len();
/// `object[]`.
pub const OBJECTS: usize = FIRST_ARRAY + 1;
pub const COUNT: usize = FIRST_ARRAY + 4;

/// An exact type of objects.
pub struct Class {
    pub ty: Ty,
    pub vtable: u64,
    /// Fields of objects, numbers and truth values, with their offsets from the object's start.
    pub fields: Vec<(i32, MemType)>,
}

impl Class {
    fn new(ty: Ty) -> Class {
        let display: Vec<u64> = ty.supertypes().unwrap().iter().map(|&t| address(t)).collect();
        let mut words = vec![0u64; size_of::<VTable>() / 8];
        let depth = VTABLE_DEPTH_OFFSET as usize;
        words[depth / 8] |= (display.len() as u64) << (8 * (depth % 8));
        words[VTABLE_DISPLAY_OFFSET as usize / 8] = display.leak().as_ptr() as u64;
        words[VTABLE_TYPE_OFFSET as usize / 8] = address(ty);
        words[VTABLE_ELEMENT_TYPE_OFFSET as usize / 8] = ty.element().filter(|_| ty.is_array()).map_or(0, address);
        // Of the two interfaces, one is remembered, and the other one is left to the helper.
        let cloneable = system_type("ICloneable");
        match ty.is_assignable_to(cloneable).unwrap() {
            true => words[VTABLE_CAST_HIT_OFFSETS[1] as usize / 8] = address(cloneable),
            false => words[VTABLE_CAST_MISS_OFFSETS[0] as usize / 8] = address(cloneable),
        }
        let vtable = words.leak().as_ptr() as u64;
        let mut fields = Vec::new();
        for &owner in ty.supertypes().unwrap().iter().filter(|_| !ty.is_value_type() && !ty.is_array()) {
            for field in owner.fields().unwrap().iter().filter(|field| !field.is_static()) {
                let mem = match field.ty().unwrap() {
                    t if t == universe().object() => MemType::Ref,
                    t if t == universe().int32() => MemType::I32,
                    t if t == system_type("Boolean") => MemType::U8,
                    _ => continue,
                };
                fields.push((field.offset_bytes().unwrap() as i32, mem));
            }
        }
        Class { ty, vtable, fields }
    }

    /// Bytes of an object of this type; `length` is that of an array.
    pub fn size_bytes(&self, length: u64) -> u64 {
        let bytes = match self.element_bytes() {
            Some(element) => ARRAY_DATA_OFFSET as u64 + length * element,
            None => u64::from(self.ty.instance_size_bytes().unwrap()),
        };
        bytes.next_multiple_of(8)
    }

    /// Bytes of an element of an array.
    pub fn element_bytes(&self) -> Option<u64> {
        self.ty.is_array().then(|| self.ty.element().unwrap().value_size_bytes().unwrap().into())
    }
}

/// All of them.
pub struct Classes {
    /// Classes, boxes, arrays.
    pub all: Vec<Class>,
    /// What objects are tested for: these types and others.
    pub targets: Vec<Ty>,
}

/// The types, if the class library is installed.
pub fn classes() -> Option<&'static Classes> {
    static CLASSES: OnceLock<Option<Classes>> = OnceLock::new();
    CLASSES.get_or_init(|| corlib().then(load)).as_ref()
}

fn load() -> Classes {
    let names = NAMES.into_iter().chain(BOXES.map(|(name, _)| name));
    let mut all: Vec<Class> = names.map(|name| Class::new(system_type(name))).collect();
    for element in ["Int32", "Object", NAMES[0], NAMES[1]] {
        all.push(Class::new(universe().sz_array_of(system_type(element))));
    }
    assert_eq!(all.len(), COUNT);
    let others = ["Object", "Exception", "ICloneable", "IDisposable", "Array"].map(system_type);
    let targets = all.iter().map(|class| class.ty).chain(others).collect();
    Classes { all, targets }
}

fn system_type(name: &str) -> Ty {
    corlib_type("System", name)
}

fn address(ty: Ty) -> u64 {
    std::ptr::from_ref(ty) as u64
}

impl Classes {
    /// The exact type of an object, by its first word.
    pub fn of_vtable(&self, vtable: u64) -> Option<&Class> {
        self.all.iter().find(|class| class.vtable == vtable)
    }

    pub fn of_type(&self, ty: Ty) -> Option<usize> {
        self.all.iter().position(|class| class.ty == ty)
    }

    /// The memory type of a boxed value.
    pub fn boxed(number: usize) -> MemType {
        BOXES[number - FIRST_BOX].1
    }

    /// Tells the machine where the types are and which helpers make and test their objects.
    pub fn register(&self, machine: &mut Machine) {
        let mut name = |symbol: Symbol, address: u64| {
            machine.symbols.insert(format!("{:?}", RelocTarget::Symbol(symbol)), address as usize);
        };
        for class in &self.all {
            name(Symbol::VTable(class.ty), class.vtable);
        }
        for &ty in &self.targets {
            name(Symbol::TypeHandle(ty), address(ty));
        }
        machine.helpers = vec![
            (HelperId::NewObject, new_object as *const () as usize),
            (HelperId::NewSzArray, new_array as *const () as usize),
            (HelperId::CastClass, cast_class as *const () as usize),
            (HelperId::IsInst, is_instance as *const () as usize),
            (HelperId::Unbox, unbox as *const () as usize),
            (HelperId::CheckArrayStore, check_array_store as *const () as usize),
        ];
    }

    fn is_of(&self, vtable: u64, ty: Ty) -> bool {
        self.of_vtable(vtable).expect("an object's vtable").ty.is_assignable_to(ty).unwrap()
    }

    fn target(&self, ty: u64) -> Ty {
        self.targets.iter().find(|&&target| address(target) == ty).expect("a type's address")
    }
}

/// What an operation on an object gives; of objects only the first words are known here.
impl Classes {
    /// Bytes of a new array, or the exception: lengths that the code in line leaves to the helper are too large.
    pub fn array_bytes(&self, class: &Class, length: i64) -> Result<u64, u64> {
        let element = class.element_bytes().expect("an array");
        let greatest = (u64::from(HEAP.max_inline_bytes) - ARRAY_DATA_OFFSET as u64) / element;
        let length = u64::try_from(length).ok().filter(|length| *length <= greatest).ok_or(OVERFLOW)?;
        Ok(class.size_bytes(length))
    }

    pub fn test(&self, vtable: Option<u64>, ty: Ty) -> bool {
        vtable.is_some_and(|vtable| self.is_of(vtable, ty))
    }

    pub fn cast(&self, vtable: Option<u64>, ty: Ty) -> Result<(), u64> {
        if vtable.is_none() || self.test(vtable, ty) { Ok(()) } else { Err(INVALID_CAST) }
    }

    pub fn unbox(&self, vtable: Option<u64>, ty: Ty) -> Result<u64, u64> {
        let vtable = vtable.ok_or(NULL_REFERENCE)?;
        let is_same = self.of_vtable(vtable).expect("an object's vtable").ty == ty;
        if is_same { Ok(OBJECT_HEADER_BYTES.into()) } else { Err(INVALID_CAST) }
    }

    pub fn store(&self, array: Option<u64>, value: Option<u64>) -> Result<(), u64> {
        let Some(value) = value else { return Ok(()) };
        let array = self.of_vtable(array.ok_or(NULL_REFERENCE)?).expect("an array's vtable");
        let fits = self.is_of(value, array.ty.element().expect("an array"));
        if fits { Ok(()) } else { Err(ARRAY_TYPE_MISMATCH) }
    }
}

/// The first word of an object of generated code.
fn vtable(object: u64) -> Option<u64> {
    // SAFETY: the code has a reference to it, and objects live as long as the run.
    (object != 0).then(|| unsafe { *(object as *const u64) })
}

fn known() -> &'static Classes {
    classes().expect("code with types is compiled where there are some")
}

/// Memory of the thread's buffer.
fn allocate(thread: *mut ThreadAbi, vtable: u64, bytes: u64) -> u64 {
    // SAFETY: the test's thread struct outlives the run.
    let thread = unsafe { &mut *thread };
    let object = thread.alloc_cursor;
    thread.alloc_cursor += bytes as usize;
    assert!(thread.alloc_cursor <= thread.alloc_limit, "the heap is full");
    // SAFETY: inside the buffer, as was just checked.
    unsafe { *(object as *mut u64) = vtable };
    object as u64
}

fn or_pending<T: Default>(thread: *mut ThreadAbi, result: Result<T, u64>) -> T {
    result.unwrap_or_else(|exception| {
        set_pending(thread, exception as usize);
        T::default()
    })
}

extern "C" fn new_object(thread: *mut ThreadAbi, vtable: u64) -> u64 {
    allocate(thread, vtable, known().of_vtable(vtable).expect("a vtable").size_bytes(0))
}

extern "C" fn new_array(thread: *mut ThreadAbi, vtable: u64, length: i64) -> u64 {
    let class = known().of_vtable(vtable).expect("a vtable");
    let array = known().array_bytes(class, length).map(|bytes| {
        let array = allocate(thread, vtable, bytes);
        // SAFETY: the array's header is inside the memory that was just allocated.
        unsafe { *((array as usize + ARRAY_LENGTH_OFFSET as usize) as *mut u32) = length as u32 };
        array
    });
    or_pending(thread, array)
}

extern "C" fn cast_class(thread: *mut ThreadAbi, object: u64, ty: u64) -> u64 {
    or_pending(thread, known().cast(vtable(object), known().target(ty)).map(|()| object))
}

extern "C" fn is_instance(_: *mut ThreadAbi, object: u64, ty: u64) -> u64 {
    if known().test(vtable(object), known().target(ty)) { object } else { 0 }
}

extern "C" fn unbox(thread: *mut ThreadAbi, object: u64, ty: u64) -> u64 {
    or_pending(thread, known().unbox(vtable(object), known().target(ty)).map(|offset| object + offset))
}

extern "C" fn check_array_store(thread: *mut ThreadAbi, array: u64, value: u64) {
    or_pending(thread, known().store(vtable(array), vtable(value)));
}
