//! The identity of a module: a hash of its file's whole contents.
//!
//! Compiled code depends on a module's tables, heaps, bodies and field data. A hash of the whole file binds the code to exactly
//! these contents; MVID and length would not, since a patched file keeps both.
//!
//! Hashes of large files are remembered in the cache under the files' stamps (`remembered`), which saves reading all of mscorlib
//! at each start. Small files are hashed each time.
//!
//! Invariant: a body is never written to the cache if a file that it depends on may have held other contents than were hashed when
//! the body was compiled. A mapping shows what is later written into its file in place; `is_any_written_to` detects this by change
//! times. Replacing a mapped file by `rename` does no harm: the mapping keeps the old contents.

use super::checksum;
pub use super::checksum::ContentId;
use super::remembered;
use rustc_hash::FxHashMap;
use saki_base::locks::{Mutex, rank};
use saki_metadata::{FileStamp, Image};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

struct Identified {
    id: ContentId,
    path: PathBuf,
    /// The file's stamp when it was mapped.
    stamp: FileStamp,
}

/// The identified images, by address; images of files are never freed.
static IDENTIFIED: Mutex<rank::IdentifiedFiles, Option<FxHashMap<usize, Identified>>> = Mutex::new(None);

/// The identity of an image that was mapped from a file; None for one that came from memory.
pub(super) fn id_of(image: &'static Image) -> Option<ContentId> {
    let stamp = image.stamp()?;
    let mut table = IDENTIFIED.lock();
    let identified = table.get_or_insert_default().entry(std::ptr::from_ref(image).addr()).or_insert_with(|| {
        let path = std::path::absolute(image.path()).unwrap_or_else(|_| image.path().to_path_buf());
        let id = remembered::find_or_hash(&stamp, &path, || {
            let mut hasher = checksum::PartsHasher::new();
            image.for_each_part(|part| hasher.part(part));
            hasher.finish()
        });
        Identified { id, path, stamp }
    });
    Some(identified.id)
}

/// The identity of a file's present contents.
///
/// # Errors
/// Those of reading.
pub fn id_of_file(path: &Path) -> io::Result<ContentId> {
    let mut file = File::open(path)?;
    let stamp = FileStamp::of(&file.metadata()?);
    let mut failure = None;
    let id = remembered::find_or_hash(&stamp, path, || {
        let mut bytes = Vec::new();
        failure = file.read_to_end(&mut bytes).err();
        checksum::wide_hash(&bytes)
    });
    failure.map_or(Ok(id), Err)
}

/// Whether the file of a module was written to since it was mapped. Conservative: `true` also for files of which only
/// the mode or the number of links changed.
pub(super) fn is_any_written_to() -> bool {
    let table = IDENTIFIED.lock();
    let is_written_to = |identified: &Identified| {
        FileStamp::of_path(&identified.path).is_some_and(|now| identified.stamp.was_changed_in_place(&now))
    };
    table.iter().flat_map(FxHashMap::values).any(is_written_to)
}
