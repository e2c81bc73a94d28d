//! Opened metadata files, which all domains share: mapped once however many domains load them.

use crate::error::{LoadResult, open_error};
use rustc_hash::FxHashMap;
use saki_base::locks::{Mutex, rank};
use saki_metadata::{FileStamp, Image};
use std::path::{Path, PathBuf};

/// A file in one state; after a change of the file the key differs.
type Key = (PathBuf, FileStamp);

static OPENED: Mutex<rank::OpenedFiles, Option<FxHashMap<Key, &'static Image>>> = Mutex::new(None);

/// The metadata of the file, mapped on first use and kept.
///
/// # Errors
/// `FileNotFound`, `FileLoad`, `BadImageFormat`.
pub(crate) fn open(path: &Path) -> LoadResult<&'static Image> {
    let mut opened = OPENED.lock();
    let table = opened.get_or_insert_default();
    if let Some(stamp) = FileStamp::of_path(path)
        && let Some(image) = table.get(&(path.to_path_buf(), stamp))
    {
        return Ok(image);
    }
    let image: &'static Image = Box::leak(Box::new(Image::open(path).map_err(|e| open_error(&e, path))?));
    // The stamp of the mapped file is used: the name may denote another file since it was looked up.
    if let Some(stamp) = image.stamp() {
        table.insert((path.to_path_buf(), stamp), image);
    }
    Ok(image)
}

/// Takes the pages of all mapped files out of the process's memory, unless a file is being opened at the moment. What
/// is looked at again is mapped again.
pub fn give_back_pages() {
    if let Some(opened) = OPENED.try_lock() {
        opened.iter().flat_map(FxHashMap::values).for_each(|image| image.give_back_pages());
    }
}
