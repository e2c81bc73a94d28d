//! Namespace System.Globalization.
//!
//! `data` holds the known cultures; the other files fill the managed types from it.

pub mod calendar_data;
pub mod culture_data;
pub mod culture_info;
mod data;
pub mod region_info;
