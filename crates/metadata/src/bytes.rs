//! A bounds-checked little-endian cursor, and the compressed integers of ECMA-335 §II.23.2.
//!
//! Invariant: a read outside the slice returns `None` and does not move the cursor.

/// The bytes before the first NUL. Names are short, so testing 8 bytes per step is faster than a general search.
#[inline]
pub(crate) fn until_nul(bytes: &[u8]) -> Option<&[u8]> {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let (words, tail) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The lowest marked byte is the first zero byte; marks above it may be false.
        let zeros = word.wrapping_sub(LOW) & !word & HIGH;
        if zeros != 0 {
            return bytes.get(..index * 8 + zeros.trailing_zeros() as usize / 8);
        }
    }
    let len = tail.iter().position(|&byte| byte == 0)?;
    bytes.get(..words.len() * 8 + len)
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteCursor<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> ByteCursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, pos: 0 }
    }

    pub(crate) fn at(bytes: &'a [u8], pos: usize) -> Self {
        Self { bytes, pos }
    }

    pub(crate) fn pos(&self) -> usize {
        self.pos
    }

    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.pos)
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.pos..).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let chunk = self.bytes.get(self.pos..)?.first_chunk::<N>()?;
        self.pos += N;
        Some(*chunk)
    }

    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let end = self.pos.checked_add(len)?;
        let slice = self.bytes.get(self.pos..end)?;
        self.pos = end;
        Some(slice)
    }

    pub(crate) fn skip(&mut self, len: usize) -> Option<()> {
        self.take(len).map(drop)
    }

    pub(crate) fn peek_u8(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.pos)?;
        self.pos += 1;
        Some(byte)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// An unsigned compressed integer (1, 2 or 4 bytes; at most 0x1fff_ffff). §II.23.2.
    #[inline]
    pub(crate) fn compressed_u32(&mut self) -> Option<u32> {
        let first = self.peek_u8()?;
        if first & 0x80 == 0 {
            self.pos += 1;
            Some(u32::from(first))
        } else if first & 0x40 == 0 {
            let [a, b] = self.array()?;
            Some(u32::from(a & 0x3f) << 8 | u32::from(b))
        } else if first & 0x20 == 0 {
            let [a, b, c, d] = self.array()?;
            Some(u32::from_be_bytes([a & 0x1f, b, c, d]))
        } else {
            None
        }
    }

    /// A signed compressed integer: rotated left by one bit within its 7, 14 or 29 bits. §II.23.2.
    pub(crate) fn compressed_i32(&mut self) -> Option<i32> {
        let start = self.pos;
        let raw = self.compressed_u32()?;
        let value_bits = match self.pos - start {
            1 => 6,
            2 => 13,
            _ => 28,
        };
        let magnitude = (raw >> 1) as i32;
        Some(if raw & 1 == 0 { magnitude } else { magnitude - (1 << value_bits) })
    }
}

#[cfg(test)]
mod tests {
    use super::{ByteCursor, until_nul};

    #[test]
    fn until_nul_finds_the_first() {
        for len in 0..20 {
            let mut bytes = vec![0x80; len];
            assert_eq!(until_nul(&bytes), None);
            bytes.extend([0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            assert_eq!(until_nul(&bytes), Some(&bytes[..len]));
        }
    }

    #[test]
    fn unsigned_examples_of_the_standard() {
        for (bytes, value) in [
            (&[0x03][..], 0x03),
            (&[0x7f], 0x7f),
            (&[0x80, 0x80], 0x80),
            (&[0xae, 0x57], 0x2e57),
            (&[0xbf, 0xff], 0x3fff),
            (&[0xc0, 0x00, 0x40, 0x00], 0x4000),
            (&[0xdf, 0xff, 0xff, 0xff], 0x1fff_ffff),
        ] {
            assert_eq!(ByteCursor::new(bytes).compressed_u32(), Some(value));
        }
        assert_eq!(ByteCursor::new(&[0xff]).compressed_u32(), None);
        assert_eq!(ByteCursor::new(&[0x80]).compressed_u32(), None);
    }

    #[test]
    fn signed_examples_of_the_standard() {
        for (bytes, value) in [
            (&[0x06][..], 3),
            (&[0x7b], -3),
            (&[0x80, 0x80], 64),
            (&[0x01], -64),
            (&[0xc0, 0x00, 0x40, 0x00], 8192),
            (&[0x80, 0x01], -8192),
            (&[0xdf, 0xff, 0xff, 0xfe], 268_435_455),
            (&[0xc0, 0x00, 0x00, 0x01], -268_435_456),
        ] {
            assert_eq!(ByteCursor::new(bytes).compressed_i32(), Some(value));
        }
    }
}
