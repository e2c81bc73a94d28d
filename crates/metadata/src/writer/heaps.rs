//! The heaps `#Strings`, `#US`, `#Blob` and `#GUID`. ECMA-335 §II.24.2.3–5.

use crate::token::{BlobIdx, GuidIdx, StringIdx, TableId, Token};
use std::collections::HashMap;

/// An unsigned number as blobs hold it, below 2²⁹. ECMA-335 §II.23.2.
pub fn put_compressed(out: &mut Vec<u8>, value: u32) {
    match value {
        0..0x80 => out.push(value as u8),
        0x80..0x4000 => out.extend((value as u16 | 0x8000).to_be_bytes()),
        _ => out.extend((value | 0xc000_0000).to_be_bytes()),
    }
}

/// A signed number as blobs hold it, within ±2²⁸: rotated left by one within its width. ECMA-335 §II.23.2.
pub fn put_compressed_signed(out: &mut Vec<u8>, value: i32) {
    let sign = u32::from(value < 0);
    let rotated = |bits: u32| (value as u32) << 1 & ((1 << bits) - 1) | sign;
    match value {
        -0x40..0x40 => out.push(rotated(7) as u8),
        -0x2000..0x2000 => out.extend((rotated(14) as u16 | 0x8000).to_be_bytes()),
        _ => out.extend((rotated(29) | 0xc000_0000).to_be_bytes()),
    }
}

/// Four heaps; equal entries are stored once.
pub struct Heaps {
    pub(crate) strings: Vec<u8>,
    pub(crate) user_strings: Vec<u8>,
    pub(crate) blobs: Vec<u8>,
    pub(crate) guids: Vec<u8>,
    known_strings: HashMap<String, u32>,
    known_user_strings: HashMap<Vec<u16>, u32>,
    known_blobs: HashMap<Vec<u8>, u32>,
}

impl Default for Heaps {
    fn default() -> Self {
        Heaps {
            strings: vec![0],
            user_strings: vec![0],
            blobs: vec![0],
            guids: Vec::new(),
            known_strings: HashMap::default(),
            known_user_strings: HashMap::default(),
            known_blobs: HashMap::default(),
        }
    }
}

impl Heaps {
    /// NUL characters are left out.
    pub fn string(&mut self, text: &str) -> StringIdx {
        if text.is_empty() {
            return StringIdx(0);
        }
        if let Some(&known) = self.known_strings.get(text) {
            return StringIdx(known);
        }
        let at = self.strings.len() as u32;
        self.strings.extend(text.bytes().filter(|&byte| byte != 0));
        self.strings.push(0);
        self.known_strings.insert(text.to_string(), at);
        StringIdx(at)
    }

    /// The index of a blob with this content; equal blobs are written once.
    pub fn blob(&mut self, content: &[u8]) -> BlobIdx {
        if content.is_empty() {
            return BlobIdx(0);
        }
        if let Some(&known) = self.known_blobs.get(content) {
            return BlobIdx(known);
        }
        let at = self.blobs.len() as u32;
        put_compressed(&mut self.blobs, content.len() as u32);
        self.blobs.extend(content);
        self.known_blobs.insert(content.to_vec(), at);
        BlobIdx(at)
    }

    /// The index of the GUID.
    pub fn guid(&mut self, guid: [u8; 16]) -> GuidIdx {
        self.guids.extend(guid);
        GuidIdx((self.guids.len() / 16) as u32)
    }

    /// Adds a string literal and returns its token. The literal's final byte tells whether a character needs more than
    /// plain comparison (§II.24.2.4).
    pub fn user_string(&mut self, text: &[u16]) -> Token {
        if let Some(&known) = self.known_user_strings.get(text) {
            return Token::new(TableId::UserString, known);
        }
        let at = self.user_strings.len() as u32;
        put_compressed(&mut self.user_strings, text.len() as u32 * 2 + 1);
        text.iter().for_each(|unit| self.user_strings.extend(unit.to_le_bytes()));
        let is_special = text.iter().any(|&unit| matches!(unit, 1..=8 | 0x0e..=0x1f | 0x27 | 0x2d | 0x7f..));
        self.user_strings.push(u8::from(is_special));
        self.known_user_strings.insert(text.to_vec(), at);
        Token::new(TableId::UserString, at)
    }
}

#[cfg(test)]
mod tests {
    use super::{put_compressed, put_compressed_signed};

    #[test]
    fn numbers_as_the_standard_shows_them() {
        let unsigned = |value| {
            let mut out = Vec::new();
            put_compressed(&mut out, value);
            out
        };
        assert_eq!(unsigned(3), [3]);
        assert_eq!(unsigned(0x2e57), [0xae, 0x57]);
        assert_eq!(unsigned(0x4000), [0xc0, 0, 0x40, 0]);
        let signed = |value| {
            let mut out = Vec::new();
            put_compressed_signed(&mut out, value);
            out
        };
        assert_eq!(signed(3), [6]);
        assert_eq!(signed(-3), [0x7b]);
        assert_eq!(signed(64), [0x80, 0x80]);
        assert_eq!(signed(-64), [1]);
        assert_eq!(signed(-8192), [0x80, 1]);
        assert_eq!(signed(8192), [0xc0, 0, 0x40, 0]);
    }
}
