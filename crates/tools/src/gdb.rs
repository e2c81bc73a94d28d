//! gdb's JIT interface (GDB manual, "JIT Compilation Interface"): a list of objects in memory, and a function on which
//! the debugger puts a breakpoint to learn that the list has changed.
//!
//! There is one object for each chunk of the code heap. When a body is placed or freed, the chunk's object is made anew
//! and the older one unregistered after that, since debuggers read an object only when it is registered. Without a
//! debugger that is two calls of an empty function. Invariant: an object in the list, and the memory that it points to,
//! does not move or change; the list changes under one lock. A debugger that attaches later reads the whole list.

use crate::body::DescribedCode;
use crate::elf::{self, ElfFunction};
use crate::frames::FrameShape;
use rustc_hash::FxHashMap;
use saki_base::locks::{Mutex, rank};
use std::collections::BTreeMap;
use std::ptr;

/// `jit_actions_t`
const NO_ACTION: u32 = 0;
const REGISTER: u32 = 1;
const UNREGISTER: u32 = 2;

/// `struct jit_code_entry`
#[repr(C)]
struct JitCodeEntry {
    next_entry: *mut JitCodeEntry,
    prev_entry: *mut JitCodeEntry,
    symfile_addr: *const u8,
    symfile_size: u64,
}

/// `struct jit_descriptor`
#[repr(C)]
struct JitDescriptor {
    version: u32,
    action_flag: u32,
    relevant_entry: *mut JitCodeEntry,
    first_entry: *mut JitCodeEntry,
}

/// The descriptor that debuggers read; accessed only under `GdbInterface`'s lock.
#[unsafe(no_mangle)]
static mut __jit_debug_descriptor: JitDescriptor =
    JitDescriptor { version: 1, action_flag: NO_ACTION, relevant_entry: ptr::null_mut(), first_entry: ptr::null_mut() };

/// Where debuggers stop.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn __jit_debug_register_code() {
    // SAFETY: no instruction at all; keeps calls from being left out.
    unsafe { std::arch::asm!("", options(nostack, preserves_flags)) };
}

/// The objects of this process.
#[derive(Default)]
pub(crate) struct GdbInterface(Mutex<rank::GdbInterface, Chunks>);

/// By number of the chunk.
#[derive(Default)]
struct Chunks(FxHashMap<usize, Chunk>);

#[derive(Default)]
struct Chunk {
    /// By start address.
    functions: BTreeMap<usize, ElfFunction>,
    object: Option<Registered>,
}

/// An object in the debugger's list.
struct Registered {
    entry: Box<JitCodeEntry>,
    _bytes: Vec<u8>,
}

// SAFETY: the entry's pointers lead to entries and bytes that `Chunks` owns; they are used under its lock only.
unsafe impl Send for Registered {}

impl GdbInterface {
    /// Describes code to the debugger.
    pub fn add(&self, body: &DescribedCode) {
        let function = ElfFunction {
            range: body.start..body.start + body.len_bytes,
            name: body.name.into(),
            shape: FrameShape::of(body),
        };
        self.change(body.start, |functions| {
            functions.insert(function.range.start, function);
        });
    }

    /// Takes back the description of the code that begins there.
    pub fn remove(&self, start: usize) {
        self.change(start, |functions| {
            functions.remove(&start);
        });
    }

    fn change(&self, start: usize, change: impl FnOnce(&mut BTreeMap<usize, ElfFunction>)) {
        let mut chunks = self.0.lock();
        let chunk = chunks.0.entry(saki_code::chunk_of(start)).or_default();
        change(&mut chunk.functions);
        let old = chunk.object.take();
        if !chunk.functions.is_empty() {
            let functions: Vec<&ElfFunction> = chunk.functions.values().collect();
            chunk.object = Some(register(elf::object_of(&functions)));
        }
        // Last: another thread may stop at a breakpoint in the chunk meanwhile, whose code must have a name then.
        if let Some(old) = old {
            unregister(old);
        }
    }
}

/// Puts an object in front of the list and tells the debugger. Under the lock.
fn register(bytes: Vec<u8>) -> Registered {
    let mut entry = Box::new(JitCodeEntry {
        next_entry: ptr::null_mut(),
        prev_entry: ptr::null_mut(),
        symfile_addr: bytes.as_ptr(),
        symfile_size: bytes.len() as u64,
    });
    let descriptor = &raw mut __jit_debug_descriptor;
    let this: *mut JitCodeEntry = &raw mut *entry;
    // SAFETY: the descriptor and the entries of the list are only used under the lock, which we hold.
    unsafe {
        (*this).next_entry = (*descriptor).first_entry;
        if !(*this).next_entry.is_null() {
            (*(*this).next_entry).prev_entry = this;
        }
        (*descriptor).first_entry = this;
        tell(descriptor, REGISTER, this);
    }
    Registered { entry, _bytes: bytes }
}

/// Takes an object out of the list, tells the debugger and frees it. Under the lock.
fn unregister(mut object: Registered) {
    let descriptor = &raw mut __jit_debug_descriptor;
    let this: *mut JitCodeEntry = &raw mut *object.entry;
    // SAFETY: the descriptor and the list are only used under the lock, which is held; the neighbours are in the list,
    // so they live.
    unsafe {
        let (next, previous) = ((*this).next_entry, (*this).prev_entry);
        if previous.is_null() {
            (*descriptor).first_entry = next;
        } else {
            (*previous).next_entry = next;
        }
        if !next.is_null() {
            (*next).prev_entry = previous;
        }
        tell(descriptor, UNREGISTER, this);
    }
}

/// # Safety
/// Under the lock; the entry lives.
unsafe fn tell(descriptor: *mut JitDescriptor, action: u32, entry: *mut JitCodeEntry) {
    // SAFETY: under the lock, so nobody else uses the descriptor. Volatile, since a debugger reads it.
    unsafe {
        (&raw mut (*descriptor).relevant_entry).write_volatile(entry);
        (&raw mut (*descriptor).action_flag).write_volatile(action);
    }
    __jit_debug_register_code();
    // SAFETY: under the lock, so nobody else uses the descriptor.
    unsafe { (&raw mut (*descriptor).action_flag).write_volatile(NO_ACTION) };
}
