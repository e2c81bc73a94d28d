//! Where the cache is, whether it is on, and what it counts.

use super::directory::CacheFolder;
use std::ffi::{OsStr, OsString};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

/// The extension of the cache's files.
pub const FILE_EXTENSION: &str = "saki-code";

pub(super) struct Settings {
    /// The user's cache; None: nothing is written.
    pub own: Option<CacheFolder>,
    /// The cache that came with the installation; never written.
    pub installed: Option<CacheFolder>,
    /// The name of this build's folder in both caches.
    pub folder: OsString,
    pub build_key: u64,
}

/// Unset: off.
pub(super) static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// Counters of the cache, for `saki --stats`. All accesses are relaxed.
#[derive(Default)]
pub struct CacheStatistics {
    /// Bodies that needed no compiling.
    pub found: AtomicU64,
    /// Bodies that were found but were stale: an entity that they name has changed.
    pub stale: AtomicU64,
    /// Bodies that were found but assume that a class is initialised that was not.
    pub too_early: AtomicU64,
    /// Bodies kept for later runs.
    pub kept: AtomicU64,
    pub find_nanoseconds: AtomicU64,
    /// Files whose contents were hashed, and (below) files whose hash was known from earlier runs.
    pub contents_hashed: AtomicU64,
    pub contents_remembered: AtomicU64,
}

pub static STATISTICS: CacheStatistics = CacheStatistics {
    found: AtomicU64::new(0),
    stale: AtomicU64::new(0),
    too_early: AtomicU64::new(0),
    kept: AtomicU64::new(0),
    find_nanoseconds: AtomicU64::new(0),
    contents_hashed: AtomicU64::new(0),
    contents_remembered: AtomicU64::new(0),
};

/// Whether bodies are looked for and kept: on disk, or in memory for the other domains of this process.
pub(super) fn is_on() -> bool {
    SETTINGS.get().is_some() || crate::domain::count() > 1
}

/// This build's files of this name, the user's and the one that came with the installation, as far as they exist and are trusted.
pub(super) fn open_files(name: &OsStr) -> impl Iterator<Item = std::fs::File> {
    let settings = SETTINGS.get();
    let places = settings.into_iter().flat_map(|settings| {
        [&settings.own, &settings.installed].into_iter().flatten().map(|place| (place, &settings.folder))
    });
    places.filter_map(move |(place, folder)| place.open_below(folder)?.file(name).ok()?)
}

/// The hash of this build and its options; 0 while the cache is off.
pub(super) fn build_key() -> u64 {
    SETTINGS.get().map_or(0, |settings| settings.build_key)
}
