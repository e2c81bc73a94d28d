//! `SigReader`: the primitive reads of a signature blob. ECMA-335 §II.23.2.
//!
//! Invariant: offsets in errors count from the start of the blob.

use crate::bytes::ByteCursor;
use crate::element_type::ElementType;
use crate::error::BadImage;
use crate::token::{CodedKind, Token};

/// A position in a signature blob.
#[derive(Clone, Copy, Debug)]
pub struct SigReader<'a> {
    cursor: ByteCursor<'a>,
}

impl<'a> SigReader<'a> {
    /// Starts at the first byte of `blob`.
    pub fn new(blob: &'a [u8]) -> Self {
        Self { cursor: ByteCursor::new(blob) }
    }

    /// Bytes consumed so far.
    pub fn offset_bytes(&self) -> usize {
        self.cursor.pos()
    }

    /// Bytes not yet consumed.
    pub fn remaining_bytes(&self) -> usize {
        self.cursor.remaining()
    }

    /// The next byte, not consumed.
    #[inline]
    pub fn peek_u8(&self) -> Option<u8> {
        self.cursor.peek_u8()
    }

    /// One byte. Errors: the blob ends.
    #[inline]
    pub fn read_u8(&mut self) -> Result<u8, BadImage> {
        self.cursor.u8().ok_or_else(|| self.error("signature ends too early"))
    }

    /// An element type byte. Errors: the blob ends; the byte is not an element type.
    #[inline]
    pub fn read_element_type(&mut self) -> Result<ElementType, BadImage> {
        let byte = self.read_u8()?;
        ElementType::from_u8(byte).ok_or_else(|| self.error(format!("{byte:#04x} is no element type")))
    }

    /// A compressed unsigned integer. Errors: the blob ends; the encoding is invalid.
    #[inline]
    pub fn read_compressed_u32(&mut self) -> Result<u32, BadImage> {
        self.cursor.compressed_u32().ok_or_else(|| self.error("invalid compressed integer"))
    }

    /// A compressed signed integer. Errors: the blob ends; the encoding is invalid.
    pub fn read_compressed_i32(&mut self) -> Result<i32, BadImage> {
        self.cursor.compressed_i32().ok_or_else(|| self.error("invalid compressed integer"))
    }

    /// A TypeDefOrRefOrSpec token. Errors: the blob ends; the tag is unused; the row is 0. §II.23.2.8.
    #[inline]
    pub fn read_type_token(&mut self) -> Result<Token, BadImage> {
        let raw = self.read_compressed_u32()?;
        match CodedKind::TypeDefOrRef.decode(raw) {
            Some(token) if !token.is_nil() => Ok(token),
            _ => Err(self.error(format!("{raw:#x} is no type token"))),
        }
    }

    /// An error at the current offset.
    #[cold]
    pub fn error(&self, what: impl Into<String>) -> BadImage {
        BadImage::in_blob(self.cursor.pos(), what)
    }
}
