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
//! place; Saki never changes them. Another program may: so what is used is copied out of the file first (`Contents`), and a
//! file that has become shorter since it was opened has lost the bodies behind its end, no more.

use super::checksum::hash;
use std::fs::File;
use std::io::Read;

const MAGIC: &[u8; 8] = b"SAKICODE";
const VERSION: u32 = 3;
const HEADER_BYTES: usize = 64;
const SLOT_BYTES: usize = 32;
/// Bodies begin on this boundary.
const BODY_ALIGNMENT_BYTES: usize = 8;
/// Slots that a look-up copies at once. At most half of the slots are used, so it rarely needs more.
const SLOTS_AT_ONCE: usize = 4;

/// The name of a body; `key` makes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    pub low: u64,
    pub high: u64,
}

/// The bytes of a file, copied out piece by piece.
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

/// A file that stays mapped for ever.
pub(super) struct MappedFile(&'static [u8]);

impl Contents for MappedFile {
    fn len_bytes(&self) -> usize {
        self.0.len()
    }

    fn read_at(&self, at: usize, into: &mut [u8]) -> bool {
        let Some(part) = self.0.get(at..).and_then(|rest| rest.get(..into.len())) else { return false };
        // SAFETY: within the mapping, which stays; the machine's handler of SIGBUS calls `mapped_copy::recover`.
        unsafe { saki_os::mapped_copy::copy(part.as_ptr(), into) }
    }
}

/// An opened file.
pub(super) struct CodeFile<C> {
    contents: C,
    /// A power of two.
    slot_count: usize,
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

impl CodeFile<MappedFile> {
    /// The file, if it is of this build and module.
    pub fn open(file: &File, build_key: u64, module_id: [u64; 2]) -> Option<CodeFile<MappedFile>> {
        CodeFile::check(MappedFile(saki_os::file_map::map_for_ever(file).ok()?), build_key, module_id)
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
        (slots_end <= contents.len_bytes()).then_some(CodeFile { contents, slot_count })
    }

    /// The body with this key, if it is there and undamaged.
    pub fn find(&self, key: Key) -> Option<Vec<u8>> {
        let mut step = 0;
        while step < self.slot_count {
            let index = (key.high as usize).wrapping_add(step) & (self.slot_count - 1);
            let mut slots = [[0; SLOT_BYTES]; SLOTS_AT_ONCE];
            let count = SLOTS_AT_ONCE.min(self.slot_count - index);
            if !self.contents.read_at(HEADER_BYTES + index * SLOT_BYTES, slots[..count].as_flattened_mut()) {
                return None;
            }
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

    /// All undamaged bodies.
    pub fn bodies(&self) -> impl Iterator<Item = (Key, Vec<u8>)> {
        (0..self.slot_count).filter_map(|index| {
            let mut slot = [0; SLOT_BYTES];
            if !self.contents.read_at(HEADER_BYTES + index * SLOT_BYTES, &mut slot) {
                return None;
            }
            let key = Key { low: u64_at(&slot, 0)?, high: u64_at(&slot, 8)? };
            if key.low == 0 {
                return None;
            }
            Some((key, self.body(&slot, key)?))
        })
    }
}

/// The contents of a file with these bodies; None if they are too large for one.
pub(super) fn build(build_key: u64, module_id: [u64; 2], bodies: &[(Key, &[u8])]) -> Option<Vec<u8>> {
    // At most half of the slots are used, so an unsuccessful look-up ends soon.
    let slot_count = (bodies.len() * 2).next_power_of_two();
    let mut bytes = vec![0; HEADER_BYTES + slot_count * SLOT_BYTES];
    for &(key, body) in bodies {
        bytes.resize(bytes.len().next_multiple_of(BODY_ALIGNMENT_BYTES), 0);
        let offset = u32::try_from(bytes.len()).ok()?;
        bytes.extend(body);
        let mut index = key.high as usize & (slot_count - 1);
        let slot_at = loop {
            let at = HEADER_BYTES + index * SLOT_BYTES;
            if u64_at(&bytes, at)? == 0 {
                break at;
            }
            index = (index + 1) & (slot_count - 1);
        };
        let slot = &mut bytes[slot_at..slot_at + SLOT_BYTES];
        slot[..8].copy_from_slice(&key.low.to_le_bytes());
        slot[8..16].copy_from_slice(&key.high.to_le_bytes());
        slot[16..20].copy_from_slice(&offset.to_le_bytes());
        slot[20..24].copy_from_slice(&u32::try_from(body.len()).ok()?.to_le_bytes());
        slot[24..].copy_from_slice(&body_checksum(key, body).to_le_bytes());
    }
    let len = bytes.len() as u64;
    let header = &mut bytes[..HEADER_BYTES];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header[12..16].copy_from_slice(&u32::try_from(slot_count).ok()?.to_le_bytes());
    header[16..24].copy_from_slice(&build_key.to_le_bytes());
    header[24..32].copy_from_slice(&module_id[0].to_le_bytes());
    header[32..40].copy_from_slice(&module_id[1].to_le_bytes());
    header[40..48].copy_from_slice(&len.to_le_bytes());
    header[48..56].copy_from_slice(&(bodies.len() as u64).to_le_bytes());
    let checksum = hash(0, &header[..56]);
    header[56..].copy_from_slice(&checksum.to_le_bytes());
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: [u64; 2] = [7, 8];

    fn sample() -> (Vec<u8>, Vec<(Key, Vec<u8>)>) {
        let bodies: Vec<(Key, Vec<u8>)> =
            (1..40u64).map(|n| (Key { low: n * 1_000, high: n % 5 }, vec![n as u8; n as usize * 3])).collect();
        let borrowed: Vec<(Key, &[u8])> = bodies.iter().map(|(key, body)| (*key, body.as_slice())).collect();
        (build(1, ID, &borrowed).unwrap(), bodies)
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
        let bytes = build(1, ID, &[]).unwrap();
        assert_eq!(check(&bytes, 1, ID).unwrap().find(Key { low: 1, high: 1 }), None);
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
        let seeds = [bytes, build(1, ID, &[]).unwrap(), build(1, ID, &[(Key { low: 1, high: 0 }, b"body")]).unwrap()];
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
