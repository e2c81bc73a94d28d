//! A cache file: a header, a hash table of slots, and the encoded bodies.
//!
//! | bytes | header field (little-endian) |
//! |---|---|
//! | 0..8 | "SAKICODE" |
//! | 8..12, 12..16 | format version, number of slots (a power of two) |
//! | 16..24 | build key: Saki's build, processor features, code options |
//! | 24..40 | module identity: hash of its file's contents |
//! | 40..48 | length of the file |
//! | 48..56 | number of bodies |
//! | 56..64 | checksum of the bytes before |
//!
//! A slot is 32 bytes: key (low, high), offset (u32) and length (u32) of the body, checksum of key and body. A slot whose
//! low key half is 0 is free. Look-up starts at the slot that the high half names and goes on until a free one.
//!
//! Invariant: nothing in a file is trusted unchecked: the header is checked when the file is opened, a body when it is
//! used. A file that does not pass counts as absent. Files are written whole under a temporary name and renamed into
//! place; Saki never changes them. Another program may: so what is used is read into memory first (`Contents`), and a
//! file that has become shorter since it was opened has lost the bodies behind its end, no more.
//!
//! Files are read, not mapped: bodies are in no order that a program follows, and around each place of a mapping that
//! is read the kernel maps 64 KiB, so that a start would have most of the file in its memory.

use super::checksum::hash;
use rustc_hash::FxHashMap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

const MAGIC: &[u8; 8] = b"SAKICODE";
const VERSION: u32 = 3;
const HEADER_BYTES: usize = 64;
const SLOT_BYTES: usize = 32;
/// Bodies begin on this boundary.
const BODY_ALIGNMENT_BYTES: usize = 8;
/// Slots that a look-up copies at once. At most half of the slots are used, so it rarely needs more.
const SLOTS_AT_ONCE: usize = 4;
/// After so many look-ups all slots are read, so that another one costs a system call less: a start needs fewer, and
/// the table may have a MiB.
const LOOKUPS_BY_SLOT: usize = 1024;
/// Bytes that are read at once where all bodies are.
const WINDOW_BYTES: usize = 256 << 10;
/// Bytes that are collected for one system call.
const WRITTEN_AT_ONCE_BYTES: usize = 64 << 10;

/// The bytes of a slot.
type Slot = [u8; SLOT_BYTES];

/// The name of a body; `key` makes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    pub low: u64,
    pub high: u64,
}

/// Encoded bodies that no file has yet.
pub(super) type FreshBodies = FxHashMap<Key, Vec<u8>>;

/// The bytes of a file, read piece by piece.
pub(super) trait Contents {
    /// Bytes of the file when it was opened.
    fn len_bytes(&self) -> usize;

    /// Fills `into` with the bytes from offset `at` on. `false`: they are not all there.
    fn read_at(&self, at: usize, into: &mut [u8]) -> bool;
}

impl Contents for &[u8] {
    fn len_bytes(&self) -> usize {
        self.len()
    }

    fn read_at(&self, at: usize, into: &mut [u8]) -> bool {
        let Some(part) = self.get(at..).and_then(|rest| rest.get(..into.len())) else { return false };
        into.copy_from_slice(part);
        true
    }
}

/// A file that stays open.
pub(super) struct OpenFile {
    file: File,
    len_bytes: usize,
}

impl OpenFile {
    fn new(file: File) -> io::Result<OpenFile> {
        let len_bytes = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        // The program may take the first descriptors for its standard streams; copies have later ones.
        let file = if file.as_raw_fd() <= libc::STDERR_FILENO { file.try_clone()? } else { file };
        Ok(OpenFile { file, len_bytes })
    }
}

impl Contents for OpenFile {
    fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    fn read_at(&self, at: usize, into: &mut [u8]) -> bool {
        self.file.read_exact_at(into, at as u64).is_ok()
    }
}

/// An opened file.
pub(super) struct CodeFile<C> {
    contents: C,
    /// A power of two.
    slot_count: usize,
    /// Look-ups so far; relaxed, a hint.
    lookups: AtomicUsize,
    /// All slots, once there were many look-ups; None if they could not be read.
    table: OnceLock<Option<SlotTable>>,
}

/// The slots of a file in memory, without the free ones, which are half to three quarters of them.
#[derive(Default)]
struct SlotTable {
    /// A bit for each slot: it is used.
    used: Vec<u64>,
    /// For each word of `used`, the used slots before it.
    before: Vec<u32>,
    slots: Vec<Slot>,
}

impl SlotTable {
    /// Appends slots. Those before are a multiple of 64.
    fn append(&mut self, slots: &[Slot]) {
        for group in slots.chunks(64) {
            let is_used = |slot: &&Slot| u64_at(*slot, 0) != Some(0);
            let bits = group.iter().enumerate().filter(|(_, slot)| is_used(slot)).map(|(at, _)| 1u64 << at);
            self.used.push(bits.fold(0, |bits, bit| bits | bit));
            self.before.push(self.slots.len() as u32);
            self.slots.extend(group.iter().filter(is_used));
        }
    }

    /// The slot of this number; a free one is zero.
    fn get(&self, index: usize) -> Option<Slot> {
        let (&used, &before) = (self.used.get(index / 64)?, self.before.get(index / 64)?);
        let bit = 1u64 << (index % 64);
        if used & bit == 0 {
            return Some([0; SLOT_BYTES]);
        }
        self.slots.get(before as usize + (used & (bit - 1)).count_ones() as usize).copied()
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// Checksum of a body and its key. Equal damage to both words of the key must not cancel out, as it would if they were combined bit by bit.
fn body_checksum(key: Key, body: &[u8]) -> u64 {
    hash(hash(key.low, &key.high.to_le_bytes()), body)
}

fn is_header(header: &[u8]) -> bool {
    header.starts_with(MAGIC)
        && u32_at(header, 8) == Some(VERSION)
        && u64_at(header, 56) == header.get(..56).map(|checked| hash(0, checked))
}

/// The number of bodies that the file's header states; None for other files.
pub fn body_count(mut file: &File) -> Option<u64> {
    let mut header = [0; HEADER_BYTES];
    file.read_exact(&mut header).ok()?;
    if is_header(&header) { u64_at(&header, 48) } else { None }
}

impl CodeFile<OpenFile> {
    /// The file, if it is of this build and module.
    pub fn open(file: File, build_key: u64, module_id: [u64; 2]) -> Option<CodeFile<OpenFile>> {
        CodeFile::check(OpenFile::new(file).ok()?, build_key, module_id)
    }
}

/// Reads bytes as a cache file without checking the header; returns how many bodies are found. For fuzzing, which would not get past the checksum.
pub fn read_anything(bytes: &[u8]) -> usize {
    let Some(file) = CodeFile::lay_out(bytes) else { return 0 };
    file.bodies().filter(|(key, _)| file.find(*key).is_some()).count()
}

impl<C: Contents> CodeFile<C> {
    /// The file with these contents, if it is of this build and module.
    pub fn check(contents: C, build_key: u64, module_id: [u64; 2]) -> Option<CodeFile<C>> {
        let mut header = [0; HEADER_BYTES];
        let passes = contents.read_at(0, &mut header)
            && is_header(&header)
            && u64_at(&header, 16)? == build_key
            && u64_at(&header, 24)? == module_id[0]
            && u64_at(&header, 32)? == module_id[1]
            && u64_at(&header, 40)? == contents.len_bytes() as u64;
        if passes { CodeFile::lay_out(contents) } else { None }
    }

    /// The parts of a file with a header.
    fn lay_out(contents: C) -> Option<CodeFile<C>> {
        let mut header = [0; HEADER_BYTES];
        if !contents.read_at(0, &mut header) {
            return None;
        }
        let slot_count = u32_at(&header, 12).filter(|count| count.is_power_of_two())? as usize;
        let slots_end = slot_count.checked_mul(SLOT_BYTES)?.checked_add(HEADER_BYTES)?;
        (slots_end <= contents.len_bytes()).then(|| CodeFile {
            contents,
            slot_count,
            lookups: AtomicUsize::new(0),
            table: OnceLock::new(),
        })
    }

    /// The body with this key, if it is there and undamaged.
    pub fn find(&self, key: Key) -> Option<Vec<u8>> {
        // Relaxed: a hint.
        if self.lookups.fetch_add(1, Ordering::Relaxed) >= LOOKUPS_BY_SLOT {
            self.table.get_or_init(|| self.slot_table());
        }
        let mut step = 0;
        while step < self.slot_count {
            let index = (key.high as usize).wrapping_add(step) & (self.slot_count - 1);
            let mut slots = [[0; SLOT_BYTES]; SLOTS_AT_ONCE];
            let count = SLOTS_AT_ONCE.min(self.slot_count - index);
            self.read_slots(index, &mut slots[..count])?;
            for slot in &slots[..count] {
                match u64_at(slot, 0)? {
                    0 => return None,
                    low if low == key.low && u64_at(slot, 8)? == key.high => return self.body(slot, key),
                    _ => {}
                }
            }
            step += count;
        }
        None
    }

    fn body(&self, slot: &[u8], key: Key) -> Option<Vec<u8>> {
        let (offset, len) = (u32_at(slot, 16)? as usize, u32_at(slot, 20)? as usize);
        if offset.checked_add(len)? > self.contents.len_bytes() {
            return None;
        }
        let mut body = vec![0; len];
        (self.contents.read_at(offset, &mut body) && u64_at(slot, 24)? == body_checksum(key, &body)).then_some(body)
    }

    /// Copies slots from number `index` on.
    fn read_slots(&self, index: usize, into: &mut [Slot]) -> Option<()> {
        if let Some(Some(table)) = self.table.get() {
            return into.iter_mut().enumerate().try_for_each(|(at, slot)| {
                *slot = table.get(index + at)?;
                Some(())
            });
        }
        self.contents.read_at(HEADER_BYTES + index * SLOT_BYTES, into.as_flattened_mut()).then_some(())
    }

    /// All slots, read in pieces.
    fn slot_table(&self) -> Option<SlotTable> {
        let mut table = SlotTable::default();
        let mut piece = vec![[0; SLOT_BYTES]; self.slot_count.min(WINDOW_BYTES / SLOT_BYTES)];
        // Both are powers of two.
        for first in (0..self.slot_count).step_by(piece.len()) {
            let at = HEADER_BYTES + first * SLOT_BYTES;
            if !self.contents.read_at(at, piece.as_flattened_mut()) {
                return None;
            }
            table.append(&piece);
        }
        table.slots.shrink_to_fit();
        Some(table)
    }

    fn all_slots(&self) -> Option<Vec<Slot>> {
        let mut slots = vec![[0; SLOT_BYTES]; self.slot_count];
        self.contents.read_at(HEADER_BYTES, slots.as_flattened_mut()).then_some(slots)
    }

    /// The slots that are used, with their keys, in the order of the bodies.
    fn used_slots(&self) -> Vec<(Key, Slot)> {
        let slots = self.all_slots().unwrap_or_default().into_iter();
        let mut used: Vec<(Key, Slot)> = slots
            .filter_map(|slot| {
                let key = Key { low: u64_at(&slot, 0)?, high: u64_at(&slot, 8)? };
                (key.low != 0).then_some((key, slot))
            })
            .collect();
        used.sort_by_key(|(_, slot)| u32_at(slot, 16));
        used
    }

    /// All undamaged bodies, in the order of the file, which is read in large pieces.
    pub fn bodies(&self) -> impl Iterator<Item = (Key, Vec<u8>)> {
        let mut window = Window { start: 0, bytes: Vec::new() };
        self.used_slots().into_iter().filter_map(move |(key, slot)| {
            let (offset, len) = (u32_at(&slot, 16)? as usize, u32_at(&slot, 20)? as usize);
            let body = window.bytes_at(&self.contents, offset, len)?;
            (u64_at(&slot, 24)? == body_checksum(key, body)).then(|| (key, body.to_vec()))
        })
    }
}

/// A piece of a file in memory, for reading it from begin to end.
struct Window {
    start: usize,
    bytes: Vec<u8>,
}

impl Window {
    /// Bytes of the file; a new piece begins with them if they are not in this one.
    fn bytes_at(&mut self, contents: &impl Contents, offset: usize, len: usize) -> Option<&[u8]> {
        let end = offset.checked_add(len).filter(|&end| end <= contents.len_bytes())?;
        if offset < self.start || end > self.start + self.bytes.len() {
            self.start = offset;
            self.bytes.resize(len.max(WINDOW_BYTES).min(contents.len_bytes() - offset), 0);
            if !contents.read_at(offset, &mut self.bytes) {
                self.bytes.clear();
                return None;
            }
        }
        self.bytes.get(offset - self.start..end - self.start)
    }
}

/// The parts of a file that `write` makes.
struct Layout {
    slot_count: usize,
    /// No such file is longer, in bytes.
    max_bytes: usize,
}

fn layout_of<C: Contents>(fresh: &FreshBodies, old: Option<&CodeFile<C>>) -> Layout {
    let old_count = old.map_or(0, |old| old.used_slots().len());
    // At most half of the slots are used, so an unsuccessful look-up ends soon.
    let slot_count = ((fresh.len() + old_count) * 2).next_power_of_two();
    let fresh_bytes: usize = fresh.values().map(|body| body.len().next_multiple_of(BODY_ALIGNMENT_BYTES)).sum();
    let old_bytes = old.map_or(0, |old| old.contents.len_bytes() + old_count * BODY_ALIGNMENT_BYTES);
    Layout { slot_count, max_bytes: HEADER_BYTES + slot_count * SLOT_BYTES + fresh_bytes + old_bytes }
}

/// An upper bound of the length, in bytes, of what `write` writes.
pub(super) fn max_bytes<C: Contents>(fresh: &FreshBodies, old: Option<&CodeFile<C>>) -> usize {
    layout_of(fresh, old).max_bytes
}

/// Writes a file with the `fresh` bodies, and those of the `old` file that have other keys, which are copied one by
/// one.
///
/// # Errors
/// Those of writing; the bodies are too large for one file.
pub(super) fn write<C: Contents>(
    into: impl Write + Seek,
    build_key: u64,
    module_id: [u64; 2],
    fresh: &FreshBodies,
    old: Option<&CodeFile<C>>,
) -> io::Result<()> {
    let slot_count = layout_of(fresh, old).slot_count;
    let mut into = BufWriter::with_capacity(WRITTEN_AT_ONCE_BYTES, into);
    let mut slots = vec![[0; SLOT_BYTES]; slot_count];
    let mut end = HEADER_BYTES + slot_count * SLOT_BYTES;
    let mut body_count = 0u64;
    into.seek(SeekFrom::Start(end as u64))?;
    let mut add = |key: Key, body: &[u8]| -> io::Result<()> {
        if body_count >= slot_count as u64 {
            return Err(io::Error::other("another program has changed the old file"));
        }
        let padding = [0; BODY_ALIGNMENT_BYTES];
        let offset = end.next_multiple_of(BODY_ALIGNMENT_BYTES);
        into.write_all(&padding[..offset - end])?;
        into.write_all(body)?;
        end = offset + body.len();
        let mut index = key.high as usize & (slot_count - 1);
        while u64_at(&slots[index], 0) != Some(0) {
            index = (index + 1) & (slot_count - 1);
        }
        let slot = &mut slots[index];
        slot[..8].copy_from_slice(&key.low.to_le_bytes());
        slot[8..16].copy_from_slice(&key.high.to_le_bytes());
        slot[16..20].copy_from_slice(&u32::try_from(offset).map_err(io::Error::other)?.to_le_bytes());
        slot[20..24].copy_from_slice(&u32::try_from(body.len()).map_err(io::Error::other)?.to_le_bytes());
        slot[24..].copy_from_slice(&body_checksum(key, body).to_le_bytes());
        body_count += 1;
        Ok(())
    };
    fresh.iter().try_for_each(|(&key, body)| add(key, body))?;
    let copied = old.into_iter().flat_map(CodeFile::bodies).filter(|(key, _)| !fresh.contains_key(key));
    copied.into_iter().try_for_each(|(key, body)| add(key, &body))?;
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header[12..16].copy_from_slice(&u32::try_from(slot_count).map_err(io::Error::other)?.to_le_bytes());
    header[16..24].copy_from_slice(&build_key.to_le_bytes());
    header[24..32].copy_from_slice(&module_id[0].to_le_bytes());
    header[32..40].copy_from_slice(&module_id[1].to_le_bytes());
    header[40..48].copy_from_slice(&(end as u64).to_le_bytes());
    header[48..56].copy_from_slice(&body_count.to_le_bytes());
    let checksum = hash(0, &header[..56]);
    header[56..].copy_from_slice(&checksum.to_le_bytes());
    into.seek(SeekFrom::Start(0))?;
    into.write_all(&header)?;
    into.write_all(slots.as_flattened())?;
    into.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: [u64; 2] = [7, 8];

    fn sample() -> (Vec<u8>, Vec<(Key, Vec<u8>)>) {
        let bodies: Vec<(Key, Vec<u8>)> =
            (1..40u64).map(|n| (Key { low: n * 1_000, high: n % 5 }, vec![n as u8; n as usize * 3])).collect();
        (written(bodies.iter().cloned().collect(), None), bodies)
    }

    fn written(fresh: FreshBodies, old: Option<&CodeFile<&[u8]>>) -> Vec<u8> {
        let mut bytes = io::Cursor::new(Vec::new());
        write(&mut bytes, 1, ID, &fresh, old).unwrap();
        assert!(bytes.get_ref().len() <= max_bytes(&fresh, old));
        bytes.into_inner()
    }

    #[test]
    fn bodies_are_found_by_slot_and_in_the_table_of_slots() {
        // More slots than one piece of the file has.
        let count = (WINDOW_BYTES / SLOT_BYTES) as u64;
        let key = |n: u64| Key { low: n + 1, high: n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20 };
        let bytes = written((0..count).map(|n| (key(n), n.to_le_bytes().to_vec())).collect(), None);
        let file = check(&bytes, 1, ID).unwrap();
        for n in 0..count {
            assert_eq!(file.find(key(n)).as_deref(), Some(&n.to_le_bytes()[..]), "body {n}");
            assert_eq!(file.find(key(n + count)), None);
        }
        let table = file.table.get().unwrap().as_ref().unwrap();
        assert_eq!(table.slots.len() as u64, count, "free slots are not kept");
    }

    fn check(bytes: &[u8], build_key: u64, id: [u64; 2]) -> Option<CodeFile<&[u8]>> {
        CodeFile::check(bytes, build_key, id)
    }

    #[test]
    fn every_body_is_found_and_no_other() {
        let (bytes, bodies) = sample();
        let file = check(&bytes, 1, ID).unwrap();
        for (key, body) in &bodies {
            assert_eq!(file.find(*key).as_ref(), Some(body));
            assert_eq!(file.find(Key { low: key.low + 1, high: key.high }), None);
        }
        assert_eq!(file.bodies().count(), 39);
    }

    #[test]
    fn an_empty_file_has_no_bodies() {
        let bytes = written(FreshBodies::default(), None);
        assert_eq!(check(&bytes, 1, ID).unwrap().find(Key { low: 1, high: 1 }), None);
    }

    #[test]
    fn a_new_file_has_the_old_bodies_but_for_those_that_are_replaced() {
        let (bytes, bodies) = sample();
        let replaced = Key { low: 7_000, high: 2 };
        let added = Key { low: 1, high: 1 };
        let fresh = [(replaced, b"new".to_vec()), (added, b"more".to_vec())].into_iter().collect();
        let bytes = written(fresh, check(&bytes, 1, ID).as_ref());
        let file = check(&bytes, 1, ID).unwrap();
        assert_eq!(file.bodies().count(), 40);
        for (key, body) in &bodies {
            let expected = if *key == replaced { b"new".as_slice() } else { body };
            assert_eq!(file.find(*key).as_deref(), Some(expected));
        }
        assert_eq!(file.find(added).as_deref(), Some(b"more".as_slice()));
    }

    #[test]
    fn another_build_or_module_is_refused() {
        let (bytes, _) = sample();
        assert!(check(&bytes, 2, ID).is_none());
        assert!(check(&bytes, 1, [7, 9]).is_none());
    }

    #[test]
    fn files_of_other_lengths_are_refused() {
        let (bytes, _) = sample();
        for len in [0, 1, 63, 64, 65, bytes.len() / 2, bytes.len() - 1] {
            assert!(check(&bytes[..len], 1, ID).is_none(), "cut to {len}");
        }
        let longer = [bytes.as_slice(), b"x"].concat();
        assert!(check(&longer, 1, ID).is_none());
    }

    /// No damaged byte may give a body that was not written, and none may panic.
    #[test]
    fn damage_anywhere_loses_bodies_at_most() {
        let (bytes, bodies) = sample();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            let Some(file) = check(&damaged, 1, ID) else { continue };
            assert!(at >= HEADER_BYTES, "byte {at} of the header was believed");
            for (key, body) in &bodies {
                let found = file.find(*key);
                assert!(found.is_none() || found.as_ref() == Some(body), "byte {at}");
            }
            for (key, body) in file.bodies() {
                assert!(bodies.iter().any(|(k, b)| *k == key && *b == body), "byte {at}");
            }
        }
    }

    /// Changing one byte in each word alike once left the checksum as it was.
    #[test]
    fn damage_to_both_words_of_a_key_is_found() {
        let key = Key { low: 1, high: 0 };
        for (low, high) in [(1 << 24, 1 << 56), (1 << 3, 1 << 35), (1 << 40, 1 << 8)] {
            let damaged = Key { low: key.low ^ low, high: key.high ^ high };
            assert_ne!(body_checksum(key, b"body"), body_checksum(damaged, b"body"));
        }
    }

    #[test]
    fn fuzz_code_cache() {
        let (bytes, bodies) = sample();
        assert_eq!(read_anything(&bytes), bodies.len());
        let of_one = written([(Key { low: 1, high: 0 }, b"body".to_vec())].into_iter().collect(), None);
        let seeds = [bytes, written(FreshBodies::default(), None), of_one];
        saki_mutation::survive("code_cache", &seeds, |bytes| {
            read_anything(bytes);
            let Some(file) = check(bytes, 1, ID) else { return };
            for (key, body) in file.bodies().chain(bodies.iter().filter_map(|(key, _)| Some((*key, file.find(*key)?))))
            {
                let is_written = key.low == 1 || bodies.iter().any(|(k, b)| *k == key && *b == body);
                assert!(is_written, "a body that nobody wrote");
            }
        });
    }
}
