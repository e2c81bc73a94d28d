//! Hashes of large files' contents, remembered from run to run under the files' stamps, in `files/contents` of the cache.
//!
//! A hash of mscorlib takes 0.3 ms and makes all its pages resident (4.8 MB); from a rotating disk it takes a second. A stamp
//! identifies the contents if every change of them moves the file's change time. So a hash is remembered only
//!
//! - of files from `MIN_BYTES`: smaller ones cost less than a look-up saves;
//! - when the file system keeps change times: it is one of those that are known to
//!   (`saki_os::file_map::change_times`), or the file has a change time of its own
//!   (`FileStamp::keeps_change_time`). Never on a tmpfs, where writing through a mapping moves no time;
//! - when the last change is longer ago than `SETTLED`: a second change within one tick of the file system's clock leaves the time as
//!   it is, and so does writing through a mapping to a page that has not been written back since it was written to before;
//! - when the name still leads to a file with the stamp of the one that was hashed.
//!
//! Invariant: only records that pass `trusted` and the checksum are used. Left out: clocks that a privileged user sets back. A
//! changed file whose change time is the same to the nanosecond counts as unchanged.
//!
//! | bytes | field (little-endian) |
//! |---|---|
//! | 0..8 | "SAKIFILE" |
//! | 8..16 | format version |
//! | 16..24 | checksum of the records |
//! | 24.. | records of nine words: device, inode, length, time of modification (2), of change (2), hash (2) |

use super::checksum::{ContentId, hash};
use super::directory::CacheFolder;
use super::settings::STATISTICS;
use super::trusted::TrustedFolder;
use saki_base::locks::{Mutex, rank};
use saki_metadata::FileStamp;
use saki_os::file_map::ChangeTimes;
use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

/// Hashing this many bytes takes 10 µs; a look-up makes a dozen system calls.
const MIN_BYTES: u64 = 256 << 10;
/// The kernel writes back pages that were written through a mapping within 35 s (`dirty_expire_centisecs` and one round of its writer);
/// clocks of file systems tick every 10 ms, that of FAT every 2 s.
const SETTLED: Duration = Duration::from_secs(60);
/// The latest records are kept, at most so many; a program with its libraries has some dozens.
const MAX_RECORDS: usize = 1024;

const FOLDER: &str = "files";
const NAME: &str = "contents";
const MAGIC: &[u8; 8] = b"SAKIFILE";
const VERSION: u64 = 2;
const HEADER_BYTES: usize = 24;
const RECORD_WORDS: usize = 9;

type Record = (FileStamp, ContentId);

/// The caches in which hashes are remembered. Unset: none.
static PLACES: OnceLock<Places> = OnceLock::new();

struct Places {
    own: Option<CacheFolder>,
    installed: Option<CacheFolder>,
    /// The records of both caches, as they were at the first look-up.
    read: [OnceLock<Vec<Record>>; 2],
    fresh: Mutex<rank::FreshRecords, Vec<Record>>,
}

/// Sets the caches in which hashes are looked up; they are written to `own`.
pub fn remember_in(own: Option<CacheFolder>, installed: Option<CacheFolder>) {
    let _ = PLACES.set(Places { own, installed, read: Default::default(), fresh: Mutex::default() });
}

/// The hash of the file with this stamp and name: the remembered one, or the result of `hash`.
pub(super) fn find_or_hash(stamp: &FileStamp, path: &Path, hash: impl FnOnce() -> ContentId) -> ContentId {
    let places = PLACES.get().filter(|_| stamp.length_bytes >= MIN_BYTES);
    let Some(places) = places else { return count(false, hash()) };
    let known = [&places.own, &places.installed].into_iter().zip(&places.read).find_map(|(place, records)| {
        let records = records.get_or_init(|| place.as_ref().and_then(read).unwrap_or_default());
        records.iter().find(|(known, _)| known == stamp).map(|(_, id)| *id)
    });
    if let Some(id) = known {
        return count(true, id);
    }
    let id = hash();
    if stands_for_contents(stamp, saki_os::clock::system_time(), saki_os::file_map::change_times(path))
        && FileStamp::of_path(path).is_some_and(|now| now == *stamp)
    {
        places.fresh.lock().push((*stamp, id));
    }
    count(false, id)
}

/// Counts a hash for `saki --stats`. The counters are relaxed.
fn count(is_remembered: bool, id: ContentId) -> ContentId {
    let counter = if is_remembered { &STATISTICS.contents_remembered } else { &STATISTICS.contents_hashed };
    counter.fetch_add(1, Ordering::Relaxed);
    id
}

fn stands_for_contents(stamp: &FileStamp, now: SystemTime, file_system: ChangeTimes) -> bool {
    let now = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i128);
    let is_change_seen = match file_system {
        ChangeTimes::Kept => true,
        ChangeTimes::NotOfMappings => false,
        ChangeTimes::Unknown => stamp.keeps_change_time(),
    };
    is_change_seen && stamp.changed + (SETTLED.as_nanos() as i128) < now
}

/// Writes this run's hashes together with those already in the file.
pub(super) fn save() {
    let Some((places, own)) = PLACES.get().and_then(|places| Some((places, places.own.as_ref()?))) else { return };
    let fresh = std::mem::take(&mut *places.fresh.lock());
    if fresh.is_empty() {
        return;
    }
    let Ok(folder) = own.make_below(OsStr::new(FOLDER)) else { return };
    let mut records = read_in(&folder).unwrap_or_default();
    let is_same_file = |a: &Record, b: &Record| (a.0.device, a.0.inode) == (b.0.device, b.0.inode);
    records.retain(|old| !fresh.iter().any(|new| is_same_file(old, new)));
    records.extend(fresh);
    let latest = records.len().saturating_sub(MAX_RECORDS);
    // If this fails, the next run has to compute the hashes again.
    let _ = folder.replace(OsStr::new(NAME), &encode(&records[latest..]));
}

fn read(place: &CacheFolder) -> Option<Vec<Record>> {
    read_in(&place.open_below(OsStr::new(FOLDER))?)
}

fn read_in(folder: &TrustedFolder) -> Option<Vec<Record>> {
    let mut bytes = Vec::new();
    folder.file(OsStr::new(NAME)).ok()??.read_to_end(&mut bytes).ok()?;
    decode(&bytes)
}

fn encode(records: &[Record]) -> Vec<u8> {
    let words = records.iter().flat_map(|(stamp, id)| {
        let wide = |time: i128| [time as u64, (time >> 64) as u64];
        let [modified, changed] = [wide(stamp.modified), wide(stamp.changed)];
        [stamp.device, stamp.inode, stamp.length_bytes, modified[0], modified[1], changed[0], changed[1], id[0], id[1]]
    });
    let records: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    [MAGIC.as_slice(), &VERSION.to_le_bytes(), &hash(0, &records).to_le_bytes(), &records].concat()
}

fn decode(bytes: &[u8]) -> Option<Vec<Record>> {
    let (header, records) = bytes.split_at_checked(HEADER_BYTES)?;
    let passes = header.starts_with(MAGIC)
        && header[8..16] == VERSION.to_le_bytes()
        && header[16..24] == hash(0, records).to_le_bytes();
    let words: Vec<u64> = records.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let wide = |low: u64, high: u64| i128::from(low) | i128::from(high as i64) << 64;
    let record = |w: &[u64; RECORD_WORDS]| {
        let stamp = FileStamp {
            device: w[0],
            inode: w[1],
            length_bytes: w[2],
            modified: wide(w[3], w[4]),
            changed: wide(w[5], w[6]),
        };
        (stamp, [w[7], w[8]])
    };
    passes.then(|| words.as_chunks().0.iter().map(record).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(modified: i128, changed: i128) -> FileStamp {
        FileStamp { device: 1, inode: 2, length_bytes: MIN_BYTES, modified, changed }
    }

    #[test]
    fn records_come_back_and_damage_is_seen() {
        let records = vec![(stamp(-5, i128::from(u64::MAX) + 7), [1, u64::MAX]), (stamp(1, 2), [3, 4])];
        let bytes = encode(&records);
        assert_eq!(decode(&bytes), Some(records));
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            assert_eq!(decode(&damaged), None, "byte {at}");
        }
        for len in 0..bytes.len() {
            assert_eq!(decode(&bytes[..len]), None, "cut to {len}");
        }
    }

    #[test]
    fn only_settled_stamps_stand_for_contents() {
        const SECOND: i128 = 1_000_000_000;
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
        let stands = |stamp, file_system| stands_for_contents(&stamp, now, file_system);
        for file_system in [ChangeTimes::Kept, ChangeTimes::Unknown] {
            assert!(stands(stamp(100 * SECOND, 900 * SECOND), file_system));
            assert!(!stands(stamp(100 * SECOND, 950 * SECOND), file_system), "changed within the last minute");
            assert!(!stands(stamp(100 * SECOND, 1900 * SECOND), file_system), "changed in the future");
        }
        assert!(!stands(stamp(100 * SECOND, 900 * SECOND), ChangeTimes::NotOfMappings), "in memory");
        // A copy that has not been touched since.
        assert!(stands(stamp(900 * SECOND, 900 * SECOND), ChangeTimes::Kept));
        assert!(!stands(stamp(900 * SECOND, 900 * SECOND), ChangeTimes::Unknown), "no change time of its own");
    }
}
