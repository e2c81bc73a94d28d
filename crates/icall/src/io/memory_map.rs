//! System.IO.MemoryMappedFiles.MemoryMapImpl (System.Core).
//!
//! A mapping handle is a counted descriptor with a capacity, perhaps known by a name in this process; a view is one
//! mmap. Opening a file may take long, so it happens without the lock of the names: its name is reserved meanwhile, and
//! who asks for the same name waits until it is known what became of it. So a file is touched only for a mapping that
//! has its name.
//!
//! Invariants: handles and views are boxes that managed code gives back exactly once (SafeHandles do); the lock of the
//! names is not held at a safepoint. Left out: `MemoryMappedFileOptions.DelayAllocatePages` (pages are always allocated
//! on touch).

use super::path::system_path_of;
use crate::arguments::units_at;
use saki_base::locks::{Mutex, rank};
use saki_runtime::{CurrentThread, InternalCall, Place};
use saki_sync::WaitWord;
use std::collections::HashMap;
use std::ffi::CString;
use std::os::unix::ffi::OsStringExt;
use std::sync::LazyLock;
use std::sync::atomic::Ordering;

/// The error codes of MemoryMapImpl, which throws an exception for each; 0 = no error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
enum MapError {
    CapacitySmallerThanFileSize = 2,
    FileNotFound = 3,
    FileAlreadyExists = 4,
    CouldNotOpen = 6,
    CapacityMustBePositive = 7,
    InvalidFileMode = 8,
    CouldNotMapMemory = 9,
    AccessDenied = 10,
}

/// `FileMode`.
const CREATE_NEW: i32 = 1;
const CREATE: i32 = 2;
const OPEN: i32 = 3;
const OPEN_OR_CREATE: i32 = 4;
const TRUNCATE: i32 = 5;
const APPEND: i32 = 6;

/// `MemoryMappedFileAccess`.
const ACCESS_READ: i32 = 1;
const ACCESS_WRITE: i32 = 2;
const ACCESS_COPY_ON_WRITE: i32 = 3;
const ACCESS_READ_EXECUTE: i32 = 4;
const ACCESS_READ_WRITE_EXECUTE: i32 = 5;

struct Mapping {
    fd: i32,
    references: usize,
    name: Option<String>,
}

struct View {
    address: usize,
    length: usize,
}

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Named {
    /// A mapping, by its handle.
    Mapping(usize),
    /// A mapping whose file a thread of the process with this id is opening. In a forked child there is no such thread
    /// of its parent's.
    Reserved(u32),
}

/// Mappings by name; the lock also guards every `Mapping::references`.
static NAMED: LazyLock<Mutex<rank::NamedMaps, HashMap<String, Named>>> = LazyLock::new(Mutex::default);

/// Counts reservations that have ended; who waits for the end of one sleeps on it.
static RESERVATIONS_ENDED: WaitWord = WaitWord::new(0);

fn page_size() -> i64 {
    // SAFETY: asks for a constant of the system.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) }
}

fn status_of(fd: i32) -> Option<libc::stat> {
    // SAFETY: zeroed, then filled by fstat.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: room for the status.
    (unsafe { libc::fstat(fd, &mut status) } == 0).then_some(status)
}

/// Whether a size of 0 means nothing, as with devices.
fn is_sizeless(status: &libc::stat) -> bool {
    status.st_size == 0 && status.st_mode & libc::S_IFMT != libc::S_IFREG
}

fn open_flags(mode: i32, access: i32) -> i32 {
    let mode = match mode {
        CREATE_NEW => libc::O_CREAT | libc::O_EXCL,
        CREATE => libc::O_CREAT | libc::O_TRUNC,
        OPEN_OR_CREATE => libc::O_CREAT,
        TRUNCATE => libc::O_TRUNC,
        APPEND => libc::O_APPEND,
        _ => 0,
    };
    let access = match access {
        ACCESS_READ | ACCESS_READ_EXECUTE => libc::O_RDONLY,
        ACCESS_WRITE => libc::O_WRONLY,
        _ => libc::O_RDWR,
    };
    mode | access | libc::O_CLOEXEC
}

/// The file of a file mapping.
enum Source {
    Path(CString),
    Descriptor(i32),
}

/// May block.
fn open_file(source: &Source, mode: i32, capacity: &mut i64, access: i32) -> Result<Mapping, MapError> {
    // SAFETY: zeroed, then filled by stat.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    let exists = match source {
        // SAFETY: a NUL-terminated path and room for the status.
        Source::Path(path) => unsafe { libc::stat(path.as_ptr(), &mut status) == 0 },
        // SAFETY: room for the status.
        Source::Descriptor(fd) => unsafe { libc::fstat(*fd, &mut status) == 0 },
    };
    if !exists && matches!(mode, TRUNCATE | APPEND | OPEN) {
        return Err(MapError::FileNotFound);
    }
    if exists && mode == CREATE_NEW {
        return Err(MapError::FileAlreadyExists);
    }
    let size = if exists { status.st_size } else { 0 };
    if *capacity == 0 && (exists || mode == CREATE_NEW) {
        if !exists || (size == 0 && !is_sizeless(&status)) {
            return Err(MapError::CapacitySmallerThanFileSize);
        }
        *capacity = size;
    } else if exists && *capacity < size {
        return Err(MapError::CapacitySmallerThanFileSize);
    }
    let fd = match source {
        // SAFETY: a NUL-terminated path; O_CREAT is given its third argument.
        Source::Path(path) => unsafe { libc::open(path.as_ptr(), open_flags(mode, access), 0o666) },
        // SAFETY: a descriptor, of a handle that stays open during the call; a closed one would be refused.
        Source::Descriptor(fd) => unsafe { libc::fcntl(*fd, libc::F_DUPFD_CLOEXEC, 3) },
    };
    if fd == -1 {
        return Err(MapError::CouldNotOpen);
    }
    if *capacity > size {
        // SAFETY: an open descriptor. If it cannot grow, mapping it fails.
        unsafe { libc::ftruncate(fd, *capacity) };
    }
    Ok(Mapping { fd, references: 1, name: None })
}

/// A descriptor of a file without a name, in memory or, where a filter of system calls forbids that, in the folder for
/// temporary files.
fn anonymous_file() -> Option<i32> {
    // SAFETY: a NUL-terminated name.
    let mut fd = unsafe { libc::memfd_create(c"memory-mapped-file".as_ptr(), libc::MFD_CLOEXEC) };
    if fd == -1 && matches!(crate::io::errors::errno(), libc::ENOSYS | libc::EPERM) {
        let folder = CString::new(std::env::temp_dir().into_os_string().into_vec()).ok()?;
        // SAFETY: a NUL-terminated path, and the mode that O_TMPFILE takes.
        fd = unsafe { libc::open(folder.as_ptr(), libc::O_TMPFILE | libc::O_RDWR | libc::O_CLOEXEC, 0o600) };
    }
    (fd != -1).then_some(fd)
}

fn anonymous(capacity: &mut i64, mode: i32) -> Result<Mapping, MapError> {
    if *capacity <= 0 && mode != OPEN {
        return Err(MapError::CapacityMustBePositive);
    }
    if !matches!(mode, CREATE_NEW | OPEN_OR_CREATE) {
        return Err(if mode == OPEN { MapError::FileNotFound } else { MapError::InvalidFileMode });
    }
    let page = page_size();
    *capacity = (*capacity + page - 1) & !(page - 1);
    let fd = anonymous_file().ok_or(MapError::CouldNotMapMemory)?;
    // SAFETY: an open descriptor.
    if unsafe { libc::ftruncate(fd, *capacity) } != 0 {
        // SAFETY: an open descriptor of this function's own.
        unsafe { libc::close(fd) };
        return Err(MapError::CouldNotMapMemory);
    }
    Ok(Mapping { fd, references: 1, name: None })
}

/// The handle of a new mapping, which managed code owns.
fn handle_of(mapping: Mapping) -> usize {
    Box::into_raw(Box::new(mapping)) as usize
}

/// The mapping that `known` is the handle of, for one more owner; the caller holds the lock of the names. An error if a
/// new mapping is asked for.
fn share(known: usize, source: Option<&Source>, mode: i32) -> Result<usize, MapError> {
    if source.is_some() || mode == CREATE_NEW {
        return Err(MapError::FileAlreadyExists);
    }
    if !matches!(mode, OPEN | OPEN_OR_CREATE) {
        return Err(MapError::InvalidFileMode);
    }
    // SAFETY: mappings in the table are alive; the table's lock guards the count.
    unsafe { (*(known as *mut Mapping)).references += 1 };
    Ok(known)
}

fn open_mapping(
    source: Option<Source>,
    mode: i32,
    name: Option<String>,
    capacity: &mut i64,
    access: i32,
) -> Result<usize, MapError> {
    match (name, source) {
        (Some(name), source) => open_named(name, source, mode, capacity, access),
        (None, Some(source)) => saki_thread::blocking(|| open_file(&source, mode, capacity, access)).map(handle_of),
        (None, None) => anonymous(capacity, mode).map(handle_of),
    }
}

/// Waits while another thread opens a file for the same name.
fn open_named(
    name: String,
    source: Option<Source>,
    mode: i32,
    capacity: &mut i64,
    access: i32,
) -> Result<usize, MapError> {
    let own_process = std::process::id();
    loop {
        // Acquire, and before the look at the table: pairs with `end_reservation`.
        let seen = RESERVATIONS_ENDED.load(Ordering::Acquire);
        let mut named = NAMED.lock();
        match (named.get(&name), &source) {
            (Some(&Named::Mapping(known)), source) => return share(known, source.as_ref(), mode),
            (Some(&Named::Reserved(process)), _) if process == own_process => {
                drop(named);
                saki_thread::blocking(|| RESERVATIONS_ENDED.wait(seen, None));
            }
            (_, Some(source)) => {
                named.insert(name.clone(), Named::Reserved(own_process));
                drop(named);
                let opened = saki_thread::blocking(|| open_file(source, mode, capacity, access));
                return end_reservation(name, opened);
            }
            (_, None) => {
                // Memory without a file is there at once.
                let handle = handle_of(Mapping { name: Some(name.clone()), ..anonymous(capacity, mode)? });
                named.insert(name, Named::Mapping(handle));
                return Ok(handle);
            }
        }
    }
}

/// Gives a reserved name to the mapping, or up if that could not be opened.
fn end_reservation(name: String, opened: Result<Mapping, MapError>) -> Result<usize, MapError> {
    let handle = opened.map(|mapping| handle_of(Mapping { name: Some(name.clone()), ..mapping }));
    let mut named = NAMED.lock();
    match handle {
        Ok(handle) => named.insert(name, Named::Mapping(handle)),
        Err(_) => named.remove(&name),
    };
    drop(named);
    // Release: who sees the number sees the table without the reservation.
    RESERVATIONS_ENDED.atomic().fetch_add(1, Ordering::Release);
    RESERVATIONS_ENDED.wake_all();
    handle
}

/// The handle of the mapping of this name if there is one, else of a new mapping of `source`, or of anonymous memory
/// without one. `capacity` receives the bytes of a new mapping. Although it is declared `out`, the class library passes
/// the capacity that it wants there.
fn open_with_wish(
    source: Option<Source>,
    mode: i32,
    name: Option<String>,
    capacity: Place<i64>,
    access: i32,
) -> Result<usize, MapError> {
    let mut bytes = capacity.get();
    let result = open_mapping(source, mode, name, &mut bytes, access);
    capacity.set(bytes);
    result
}

fn finish(result: Result<usize, MapError>, error: Place<i32>) -> usize {
    match result {
        Ok(handle) => {
            error.set(0);
            handle
        }
        Err(failure) => {
            error.set(failure as i32);
            0
        }
    }
}

fn name_at(name: *const u16, length: i32) -> Option<String> {
    // SAFETY: the managed caller pins the string for the call.
    (!name.is_null()).then(|| String::from_utf16_lossy(unsafe { units_at(name, length) }))
}

#[expect(clippy::too_many_arguments, reason = "the managed signature")]
fn open_file_internal(
    _t: CurrentThread,
    path: *const u16,
    path_length: i32,
    mode: i32,
    name: *const u16,
    name_length: i32,
    capacity: Place<i64>,
    access: i32,
    _options: i32,
    error: Place<i32>,
) -> usize {
    let source = match path.is_null() {
        true => Ok(None),
        // SAFETY: the managed caller pins the string for the call.
        false => system_path_of(unsafe { units_at(path, path_length) }).map(|path| Some(Source::Path(path))),
    };
    let result = match source {
        Ok(source) => open_with_wish(source, mode, name_at(name, name_length), capacity, access),
        Err(_) => Err(MapError::FileNotFound),
    };
    finish(result, error)
}

fn open_handle_internal(
    _t: CurrentThread,
    handle: usize,
    name: *const u16,
    name_length: i32,
    capacity: Place<i64>,
    access: i32,
    _options: i32,
    error: Place<i32>,
) -> usize {
    let source = Some(Source::Descriptor(handle as i32));
    finish(open_with_wish(source, OPEN, name_at(name, name_length), capacity, access), error)
}

fn close_mapping(_t: CurrentThread, handle: usize) {
    let mut named = NAMED.lock();
    let mapping = handle as *mut Mapping;
    if mapping.is_null() {
        return;
    }
    // SAFETY: a handle from `handle_of` that its SafeHandle gives back once; the lock guards the count.
    let references = unsafe {
        (*mapping).references -= 1;
        (*mapping).references
    };
    if references > 0 {
        return;
    }
    // SAFETY: the last reference is gone, so the box is ours again.
    let mapping = unsafe { Box::from_raw(mapping) };
    if let Some(name) = &mapping.name {
        named.remove(name);
    }
    drop(named);
    // SAFETY: the mapping's own descriptor.
    saki_thread::blocking(|| unsafe { libc::close(mapping.fd) });
}

fn configure_inheritability(_t: CurrentThread, handle: usize, inheritable: i32) {
    if handle == 0 {
        return;
    }
    // SAFETY: an open mapping, kept alive by its SafeHandle.
    let fd = unsafe { (*(handle as *const Mapping)).fd };
    let flags = if inheritable != 0 { 0 } else { libc::FD_CLOEXEC };
    // SAFETY: an open descriptor.
    unsafe { libc::fcntl(fd, libc::F_SETFD, flags) };
}

fn protection(access: i32) -> (i32, i32) {
    use libc::{MAP_PRIVATE, MAP_SHARED, PROT_EXEC, PROT_READ, PROT_WRITE};
    match access {
        ACCESS_READ => (PROT_READ, MAP_SHARED),
        ACCESS_WRITE => (PROT_WRITE, MAP_SHARED),
        ACCESS_COPY_ON_WRITE => (PROT_READ | PROT_WRITE, MAP_PRIVATE),
        ACCESS_READ_EXECUTE => (PROT_READ | PROT_EXEC, MAP_SHARED),
        ACCESS_READ_WRITE_EXECUTE => (PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED),
        _ => (PROT_READ | PROT_WRITE, MAP_SHARED),
    }
}

/// Maps a view; returns it and the address of the byte at `offset`. A `size` of 0 becomes the rest of the file.
fn map(mapping: &Mapping, offset: i64, size: &mut i64, access: i32) -> Result<(View, usize), MapError> {
    let Some(status) = status_of(mapping.fd) else { return Err(MapError::CouldNotMapMemory) };
    let page = page_size();
    let end = offset.checked_add(*size).ok_or(MapError::AccessDenied)?;
    if offset < 0 || *size < 0 || offset > status.st_size || (end > status.st_size && !is_sizeless(&status)) {
        return Err(MapError::AccessDenied);
    }
    if *size == 0 {
        *size = ((status.st_size + page - 1) & !(page - 1)) - offset;
    }
    let first = offset & !(page - 1);
    let length = (*size + (offset - first)) as usize;
    let (protection, flags) = protection(access);
    // SAFETY: a new mapping at an address of the system's choice.
    let address = unsafe { libc::mmap(std::ptr::null_mut(), length, protection, flags, mapping.fd, first) };
    if address == libc::MAP_FAILED {
        return Err(MapError::CouldNotMapMemory);
    }
    let address = address as usize;
    Ok((View { address, length }, address + (offset - first) as usize))
}

fn map_internal(
    _t: CurrentThread,
    handle: usize,
    offset: i64,
    size: Place<i64>,
    access: i32,
    view_handle: Place<usize>,
    base_address: Place<usize>,
) -> i32 {
    if handle == 0 {
        return MapError::CouldNotMapMemory as i32;
    }
    // SAFETY: an open mapping, kept alive by its SafeHandle.
    let mapping = unsafe { &*(handle as *const Mapping) };
    let mut size_bytes = size.get();
    let mapped = map(mapping, offset, &mut size_bytes, access);
    size.set(size_bytes);
    let (view, base, code) = match mapped {
        Ok((view, base)) => (Box::into_raw(Box::new(view)) as usize, base, 0),
        Err(failure) => (0, 0, failure as i32),
    };
    view_handle.set(view);
    base_address.set(base);
    code
}

fn unmap(_t: CurrentThread, view: usize) -> bool {
    if view == 0 {
        return false;
    }
    // SAFETY: a view from `map_internal`, given back once by its SafeHandle.
    let view = unsafe { Box::from_raw(view as *mut View) };
    // SAFETY: the view's own range; managed code does not touch it any more.
    let result = saki_thread::blocking(|| unsafe { libc::munmap(view.address as *mut libc::c_void, view.length) });
    result == 0
}

fn flush(_t: CurrentThread, view: usize) {
    if view == 0 {
        return;
    }
    // SAFETY: an open view, kept alive by its SafeHandle.
    let view = unsafe { &*(view as *const View) };
    // SAFETY: the view's own range.
    saki_thread::blocking(|| unsafe { libc::msync(view.address as *mut libc::c_void, view.length, libc::MS_SYNC) });
}

/// The internal calls of `System.IO.MemoryMappedFiles.MemoryMapImpl`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.IO.MemoryMappedFiles.MemoryMapImpl::CloseMapping", &close_mapping),
    InternalCall::new(
        "System.IO.MemoryMappedFiles.MemoryMapImpl::ConfigureHandleInheritability",
        &configure_inheritability,
    ),
    InternalCall::new("System.IO.MemoryMappedFiles.MemoryMapImpl::Flush", &flush),
    InternalCall::new("System.IO.MemoryMappedFiles.MemoryMapImpl::MapInternal", &map_internal),
    InternalCall::new("System.IO.MemoryMappedFiles.MemoryMapImpl::OpenFileInternal", &open_file_internal),
    InternalCall::new("System.IO.MemoryMappedFiles.MemoryMapImpl::OpenHandleInternal", &open_handle_internal),
    InternalCall::new("System.IO.MemoryMappedFiles.MemoryMapImpl::Unmap", &unmap),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_of_a_named_mapping_share_memory() {
        let name = Some("icall-memory-map-test".to_string());
        let mut capacity = 100;
        let first = open_mapping(None, CREATE_NEW, name.clone(), &mut capacity, 0).unwrap();
        assert_eq!(capacity, page_size());
        assert_eq!(open_mapping(None, CREATE_NEW, name.clone(), &mut capacity, 0), Err(MapError::FileAlreadyExists));
        let second = open_mapping(None, OPEN, name, &mut 0, 0).unwrap();
        assert_eq!(first, second);
        // SAFETY: a handle made above.
        let mapping = unsafe { &*(first as *const Mapping) };
        let (mut size_a, mut size_b) = (0, 10);
        let (a, at_a) = map(mapping, 0, &mut size_a, 0).unwrap();
        let (b, at_b) = map(mapping, 5, &mut size_b, ACCESS_READ).unwrap();
        assert_eq!(size_a, capacity);
        // SAFETY: both addresses lie in mapped views.
        unsafe {
            *(at_a as *mut u8).add(5) = 77;
            assert_eq!(*(at_b as *const u8), 77);
            libc::munmap(a.address as *mut libc::c_void, a.length);
            libc::munmap(b.address as *mut libc::c_void, b.length);
        }
        assert_eq!(map(mapping, capacity + 1, &mut 0, 0).err(), Some(MapError::AccessDenied));
    }

    /// A thread that opens a file under a name held the lock of all names, also while the file made it wait.
    #[test]
    fn a_file_that_takes_long_to_open_holds_up_its_own_name_only() {
        let name = |word: &str| Some(format!("icall-memory-map-test-{word}"));
        // Opening a FIFO for reading waits for a writer.
        let path = std::env::temp_dir().join(format!("saki-memory-map-{}", std::process::id()));
        let fifo = CString::new(path.as_os_str().as_encoded_bytes()).unwrap();
        // SAFETY: a NUL-terminated path.
        assert_eq!(unsafe { libc::mkfifo(fifo.as_ptr(), 0o600) }, 0);
        std::thread::scope(|scope| {
            let open = || open_mapping(Some(Source::Path(fifo.clone())), OPEN, name("slow"), &mut 0, ACCESS_READ);
            let first = scope.spawn(open);
            while !NAMED.lock().contains_key("icall-memory-map-test-slow") {
                std::thread::yield_now();
            }
            open_mapping(None, CREATE_NEW, name("quick"), &mut 100, 0).unwrap();
            let second = scope.spawn(open);
            let third = scope.spawn(|| open_mapping(None, OPEN, name("slow"), &mut 0, 0));
            drop(std::fs::OpenOptions::new().write(true).open(&path).unwrap());
            let first = first.join().unwrap();
            assert!(first.is_ok());
            assert_eq!(second.join().unwrap(), Err(MapError::FileAlreadyExists));
            assert_eq!(third.join().unwrap(), first);
        });
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_name_is_free_again_when_its_file_cannot_be_opened_or_its_opener_is_not_there() {
        let name = "icall-memory-map-test-free".to_string();
        let missing = || Some(Source::Path(c"/nowhere/at/all".into()));
        for _ in 0..2 {
            let opened = open_mapping(missing(), OPEN, Some(name.clone()), &mut 0, 0);
            assert_eq!(opened, Err(MapError::FileNotFound));
        }
        // As a forked child finds the table.
        NAMED.lock().insert(name.clone(), Named::Reserved(0));
        let handle = open_mapping(None, CREATE_NEW, Some(name.clone()), &mut 100, 0).unwrap();
        assert_eq!(NAMED.lock().get(&name), Some(&Named::Mapping(handle)));
    }
}
