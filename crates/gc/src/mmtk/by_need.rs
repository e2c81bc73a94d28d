//! The heap in scarce address space: nothing is reserved, each piece is mapped when MMTk first uses it.
//!
//! MMTk reserves many times the heap's size for each space it may want, and 11 TiB for the side tables of a 47-bit
//! address space, whatever the size of the heap. That is refused under `ulimit -v`, and user-mode emulators pay for it
//! page by page. MMTk has no other suitable layout: its compressed one keeps half a gigabyte of maps, and the side
//! tables' size is a constant. But it touches only memory that it has mapped a second time, chunk by chunk (4 MiB), at
//! addresses that follow from those of the heap. So the addresses stay as they are, which is why compiled code, the bit
//! tables of `in_place` and the collector know nothing of it:
//!
//! ```text
//! 2 TiB                 16 TiB                31 TiB
//! │ spaces               │ MMTk's side tables   │ our own bit tables (`bit_table`)
//! ```
//! and the `mmap` that MMTk calls is the one below. Reservations in that range are granted without a system call; a
//! chunk of the heap is mapped together with its part of our bit tables; all with `MAP_FIXED_NOREPLACE`, because no
//! reservation keeps other mappings out of the range. The kernel hands out addresses from the top of the address space
//! or, with an unlimited stack, from 42 TiB upwards, and emulators from 256 GiB upwards, so no other mapping should lie
//! there. Some hosts of the library (V8) map a few MiB at places that they choose by chance: then the range cannot be
//! reserved, but what is mapped by need begins at the spaces' first addresses and hardly ever meets them.
//!
//! | `BY_NEED` | who moves it | meaning |
//! |---|---|---|
//! | false | at first | every call goes to the kernel as it is |
//! | true | `enable`, once, before MMTk is initialised and before other threads exist | as above |
//!
//! Relaxed: threads that call MMTk were started after the store. Rejected: a changed copy of MMTk, for these few lines;
//! always mapping by need, which would leave the heap's range open to other mappings where reserving it costs nothing.

use super::addresses::{HEAP_END, HEAP_START, SPACE_BYTES, USED_SPACES};
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Where MMTk is told to put its side tables.
pub(super) const SIDE_TABLES_START: usize = HEAP_END;
const BIT_TABLES_START: usize = 31 << 40;
/// One bit for each 8 bytes of the heap's range.
pub(super) const BIT_TABLE_BYTES: usize = (HEAP_END - HEAP_START) >> 6;
/// The address range whose `mmap` calls are mapped by need.
const RANGE: Range<usize> = HEAP_START..BIT_TABLES_START;
/// Unit in which MMTk maps heap memory; smaller pieces are its free lists, which hold no objects.
const CHUNK_BYTES: usize = 4 << 20;

/// Exit code when the system gives no memory: as for everything else without which a program cannot be run.
pub(super) const EXIT_NO_MEMORY: i32 = 2;

static BY_NEED: AtomicBool = AtomicBool::new(false);
/// The number of bit tables requested so far; it changes only before other threads exist. So Relaxed.
static BIT_TABLES: AtomicUsize = AtomicUsize::new(0);

/// From now on MMTk's memory is mapped by need. Before MMTk is initialised.
pub(super) fn enable() {
    BY_NEED.store(true, Ordering::Relaxed);
}

pub(super) fn is_enabled() -> bool {
    BY_NEED.load(Ordering::Relaxed)
}

/// The base of a bit table that is mapped with the heap. Before there is a heap.
pub(super) fn bit_table() -> usize {
    BIT_TABLES_START + BIT_TABLES.fetch_add(1, Ordering::Relaxed) * BIT_TABLE_BYTES
}

/// Whether something is mapped where MMTk will reserve memory, before there is a heap: some hosts (V8) map memory at
/// addresses that they choose by chance.
pub(super) fn is_range_occupied() -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.lines().any(is_in_spaces)
}

/// Whether a line of `/proc/PID/maps` is about a mapping in the lower half of one of the spaces, more than MMTk
/// reserves. With an unlimited stack the kernel's own mappings may lie above, and among the side tables, which are
/// reserved where they are used when the heap is not mapped by need.
fn is_in_spaces(line: &str) -> bool {
    let address = |text: &str| usize::from_str_radix(text, 16).ok();
    let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
    let Some((Some(start), Some(end))) = range.map(|(start, end)| (address(start), address(end))) else { return false };
    let mut spaces = (HEAP_START..).step_by(SPACE_BYTES).take(USED_SPACES);
    spaces.any(|space| start < space + SPACE_BYTES / 2 && end > space)
}

/// In place of the C library's for all Rust code of the process. See the module header.
///
/// # Safety
/// As for `mmap(2)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap(
    address: *mut c_void,
    len_bytes: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: libc::off_t,
) -> *mut c_void {
    let start = address as usize;
    if !RANGE.contains(&start) {
        // SAFETY: the arguments are those of `mmap(2)` and go to the kernel unchanged.
        return unsafe { system_mmap(address, len_bytes, protection, flags, file, offset) };
    }
    if !is_enabled() {
        // SAFETY: the arguments are those of `mmap(2)` and go to the kernel unchanged.
        let result = unsafe { system_mmap(address, len_bytes, protection, flags, file, offset) };
        if result == libc::MAP_FAILED && protection != libc::PROT_NONE && start < HEAP_END {
            refuse(len_bytes);
        }
        return result;
    }
    if protection == libc::PROT_NONE {
        return if start + len_bytes <= BIT_TABLES_START { address } else { libc::MAP_FAILED };
    }
    if !map_new(start, len_bytes, protection) {
        refuse(len_bytes);
    }
    if start < HEAP_END && start.is_multiple_of(CHUNK_BYTES) && len_bytes.is_multiple_of(CHUNK_BYTES) {
        for table in 0..BIT_TABLES.load(Ordering::Relaxed) {
            let bits = BIT_TABLES_START + table * BIT_TABLE_BYTES + ((start - HEAP_START) >> 6);
            if !map_new(bits, len_bytes >> 6, protection) {
                refuse(len_bytes >> 6);
            }
        }
    }
    address
}

/// Maps zeroed memory where there is none.
fn map_new(start: usize, len_bytes: usize, protection: c_int) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    let address = std::ptr::with_exposed_provenance_mut(start);
    // SAFETY: a new mapping that replaces none.
    let mapped = unsafe { system_mmap(address, len_bytes, protection, flags, -1, 0) };
    // Kernels that do not know the flag (before 4.17) may choose another address.
    mapped == address
}

/// The system call.
///
/// # Safety
/// As for `mmap(2)`.
unsafe fn system_mmap(
    address: *mut c_void,
    len_bytes: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: libc::off_t,
) -> *mut c_void {
    // SAFETY: the kernel checks the arguments. A fixed mapping may replace another one: what `mmap(2)` demands of its
    // place, this function demands, too.
    let result = unsafe { libc::syscall(libc::SYS_mmap, address, len_bytes, protection, flags, file, offset) };
    std::ptr::with_exposed_provenance_mut(result as usize)
}

/// MMTk cannot continue when the system refuses memory within its own limit (`--max-heap`), and would end the process
/// with pages of text.
fn refuse(len_bytes: usize) -> ! {
    let error = saki_os::error::last_error();
    let why = saki_os::address_space::scarcity().map(|scarcity| format!("; {scarcity}")).unwrap_or_default();
    saki_base::tell!("saki: the system refused {} KiB for the heap: {error}{why}", len_bytes >> 10);
    // SAFETY: ends the process without the handlers of exit, which might need locks that this thread holds.
    unsafe { libc::_exit(EXIT_NO_MEMORY) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_in_the_spaces_are_found() {
        let check = |line, expected| assert_eq!(is_in_spaces(line), expected, "{line}");
        check("55d0a0000000-55d0a0021000 r--p 00000000 08:01 1 /bin/a", false);
        check("7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0 [stack]", false);
        check("14f6979cb000-14f6979ed000 rw-p 00000000 00:00 0", false);
        check("9e034000000-9e034021000 rw-p 00000000 00:00 0", false);
        check("40000000000-40010000000 ---p 00000000 00:00 0", true);
        check("1ff00000000-20000000000 ---p 00000000 00:00 0", false);
        check("1ff00000000-20000001000 ---p 00000000 00:00 0", true);
        check("no mapping", false);
    }
}
