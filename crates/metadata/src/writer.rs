//! Writing CLI images: heaps and tables that grow, and the PE file around them. ECMA-335 §II.24, §II.25.
//!
//! Invariant: `Image` reads back the bytes that `ImageWriter::finish` returns row for row; only tables that must be
//! sorted are reordered, and references to their rows are adjusted. Left out: PE32+.

mod bodies;
mod heaps;
mod native_resources;
mod pe;
mod signature_copy;
mod tables;

pub use bodies::BodySpec;
pub use heaps::{Heaps, put_compressed, put_compressed_signed};
pub use native_resources::NativeResource;
pub use pe::{ImageSpec, ImageWriter};
pub use signature_copy::{SignatureForm, copy_signature};
pub use tables::TableWriter;

pub(crate) fn put16(out: &mut Vec<u8>, value: u16) {
    out.extend(value.to_le_bytes());
}

pub(crate) fn put32(out: &mut Vec<u8>, value: u32) {
    out.extend(value.to_le_bytes());
}

/// Fills with zeros up to a multiple of `alignment`.
pub(crate) fn pad(bytes: &mut Vec<u8>, alignment: usize) {
    bytes.resize(bytes.len().next_multiple_of(alignment), 0);
}
