//! Namespace System.Globalization.
//!
//! `data` has the cultures that are known; the other files give them to the managed types.

pub mod calendar_data;
pub mod culture_data;
pub mod culture_info;
mod data;
pub mod region_info;
