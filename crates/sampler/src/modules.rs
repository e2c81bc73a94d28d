//! The native modules of the process, with copies of their call frame information.
//!
//! | `MODULES` | from → to | who moves it | ordering |
//! |---|---|---|---|
//! | pointer to a list | older → newer | `refresh`, one thread at a time (a lock) | Release; `find`'s load is Acquire: it sees the list whole |
//!
//! Invariant: `find` is async-signal-safe. Lists and modules are never freed: a signal handler may be using them, and
//! programs load few. The sections are copied, since a module may be unloaded while a handler reads; the executable's
//! sections are the largest and stay mapped, so they are not copied.

use crate::call_frame_information::Sections;
use saki_base::locks::{Mutex, rank};
use std::ffi::CStr;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A loaded file.
pub struct Module {
    /// Empty for the executable itself, and a name without folder for the kernel's.
    pub path: PathBuf,
    /// The number that is added to the file's addresses.
    pub bias: usize,
    /// Addresses of its code.
    pub range: Range<usize>,
    pub frames: Option<Sections>,
}

struct List {
    modules: Vec<&'static Module>,
    /// How many modules were ever loaded and unloaded when the list was made.
    changes: (u64, u64),
}

static MODULES: AtomicPtr<List> = AtomicPtr::new(std::ptr::null_mut());
static REFRESH: Mutex<rank::NativeModules, ()> = Mutex::new(());

fn list() -> Option<&'static List> {
    // Acquire: see the table.
    // SAFETY: null, or a list that is never freed.
    unsafe { MODULES.load(Ordering::Acquire).as_ref() }
}

/// The module whose code `pc` lies in. Async-signal-safe.
pub fn find(pc: usize) -> Option<&'static Module> {
    list()?.modules.iter().find(|module| module.range.contains(&pc)).copied()
}

/// Looks whether modules were loaded or unloaded. Takes the dynamic linker's lock.
pub fn refresh() {
    let _guard = REFRESH.lock();
    let before = list();
    let mut found = Found { before, list: List { modules: Vec::new(), changes: (0, 0) }, is_unchanged: false };
    // SAFETY: `visit` gets the address of a `Found`, as it expects, and does not unwind.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
    if !found.is_unchanged {
        // Release: see the table.
        MODULES.store(std::ptr::from_ref(saki_base::leak(found.list)).cast_mut(), Ordering::Release);
    }
}

struct Found {
    before: Option<&'static List>,
    list: List,
    is_unchanged: bool,
}

/// # Safety
/// `info` is the C library's description of a module, and `found` the address of a `Found` that may be written.
unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, found: *mut libc::c_void) -> libc::c_int {
    // SAFETY: the dynamic linker passes a record that is valid during the call.
    let info = unsafe { &*info };
    // SAFETY: `refresh` passes its local, which nobody else has.
    let found = unsafe { &mut *found.cast::<Found>() };
    let changes = (info.dlpi_adds, info.dlpi_subs);
    if found.before.is_some_and(|list| list.changes == changes) {
        found.is_unchanged = true;
        return 1;
    }
    found.list.changes = changes;
    let bias = info.dlpi_addr as usize;
    // SAFETY: program headers stay mapped while the module is, and the linker's lock is held.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let range_of = |h: &libc::Elf64_Phdr| bias + h.p_vaddr as usize..bias + (h.p_vaddr + h.p_memsz) as usize;
    let code = headers.iter().filter(|h| h.p_type == libc::PT_LOAD && h.p_flags & libc::PF_X != 0).map(range_of);
    let Some(range) = code.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)) else { return 0 };
    let known = found.before.and_then(|list| list.modules.iter().find(|m| m.range == range && m.bias == bias));
    let path = if info.dlpi_name.is_null() {
        PathBuf::new()
    } else {
        // SAFETY: a string of the linker's, which holds its lock.
        PathBuf::from(unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy().into_owned())
    };
    if let Some(known) = known.filter(|known| known.path == path) {
        found.list.modules.push(known);
        return 0;
    }
    let header = headers.iter().find(|h| h.p_type == libc::PT_GNU_EH_FRAME).map(range_of);
    let frames = header.and_then(|header| {
        let loaded = headers.iter().filter(|h| h.p_type == libc::PT_LOAD && h.p_flags & libc::PF_R != 0);
        sections(header, loaded.map(range_of), path.as_os_str().is_empty())
    });
    found.list.modules.push(saki_base::leak(Module { path, bias, range, frames }));
    0
}

/// Copies, unless the module stays.
fn sections(header: Range<usize>, mut loaded: impl Iterator<Item = Range<usize>>, stays: bool) -> Option<Sections> {
    let keep = |range: Range<usize>| -> &'static [u8] {
        // SAFETY: a part of a readable segment of a module that is loaded as long as the linker's lock is held; nobody
        // writes to it. The slice leaves this function only if the module stays as long as the process.
        let bytes = unsafe { std::slice::from_raw_parts(range.start as *const u8, range.len()) };
        if stays { bytes } else { Vec::leak(bytes.to_vec()) }
    };
    let header_address = header.start;
    let header = keep(header);
    // The pointer to the frames is relative to itself (`Sections::find` looks at the encodings).
    let offset = i32::from_le_bytes(header.get(4..8)?.try_into().ok()?);
    let frames_address = (header_address + 4).wrapping_add_signed(offset as isize);
    let segment = loaded.find(|segment| segment.contains(&frames_address))?;
    Some(Sections { header_address, header, frames_address, frames: keep(frames_address..segment.end) })
}
