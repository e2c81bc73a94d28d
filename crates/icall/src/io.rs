//! Namespaces System.IO and System.IO.MemoryMappedFiles, and the reads and writes that replace those of libmono-native.

pub mod drive_info;
pub mod errors;
pub mod file_handles;
pub mod file_sharing;
pub mod memory_map;
pub mod mono_io;
pub mod mono_io_paths;
pub mod native_streams;
pub mod path;
pub mod streams;
pub mod watcher;
