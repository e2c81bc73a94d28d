//! Opened metadata files, which all domains share: mapped once however many domains load them.

use crate::assembly::open_error;
use crate::error::LoadResult;
use rustc_hash::FxHashMap;
use saki_metadata::Image;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

/// A file as it was at one time: a changed one is another.
type Key = (PathBuf, u64, Option<SystemTime>);

static OPENED: Mutex<Option<FxHashMap<Key, &'static Image>>> = Mutex::new(None);

/// The metadata of the file, mapped on first use and kept.
///
/// # Errors
/// `FileNotFound`, `FileLoad`, `BadImageFormat`.
pub(crate) fn open(path: &Path) -> LoadResult<&'static Image> {
    let key = std::fs::metadata(path).ok().map(|data| (path.to_path_buf(), data.len(), data.modified().ok()));
    let mut opened = OPENED.lock().unwrap_or_else(|e| e.into_inner());
    let table = opened.get_or_insert_default();
    if let Some(image) = key.as_ref().and_then(|key| table.get(key)) {
        return Ok(image);
    }
    let image: &'static Image = Box::leak(Box::new(Image::open(path).map_err(|e| open_error(&e, path))?));
    if let Some(key) = key {
        table.insert(key, image);
    }
    Ok(image)
}
