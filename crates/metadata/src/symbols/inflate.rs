//! Decompression of a Deflate stream held in memory. RFC 1951.
//!
//! Invariant: the output never exceeds the caller's limit; malformed input gives `None`. Codes are read bit by bit, with one
//! table per code length: only a few kilobytes of symbols are decompressed, once, so faster tables would not pay.

/// The longest code. RFC 1951 §3.2.7.
const MAX_CODE_BITS: usize = 15;
/// Order in which the lengths of the code-length code are stored. RFC 1951 §3.2.7.
const LENGTH_ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const END_OF_BLOCK: u16 = 256;

struct Bits<'a> {
    bytes: &'a [u8],
    position: usize,
    /// Bits read from `bytes` and not used yet, lowest first.
    held: u32,
    held_count: u32,
}

impl Bits<'_> {
    /// The next `count` (≤ 16) bits, lowest first.
    fn take(&mut self, count: u32) -> Option<u32> {
        while self.held_count < count {
            self.held |= u32::from(*self.bytes.get(self.position)?) << self.held_count;
            self.position += 1;
            self.held_count += 8;
        }
        let value = self.held & ((1 << count) - 1);
        self.held >>= count;
        self.held_count -= count;
        Some(value)
    }

    fn drop_rest_of_byte(&mut self) {
        // `take` never reads a byte before it needs a bit of it, so less than 8 bits are held.
        self.held = 0;
        self.held_count = 0;
    }
}

/// A canonical Huffman code: how many codes each length has, and the symbols by code. RFC 1951 §3.2.2.
struct Code {
    counts: [u16; MAX_CODE_BITS + 1],
    symbols: Vec<u16>,
}

impl Code {
    /// `None` when there are more codes than the lengths allow.
    fn new(lengths: &[u8]) -> Option<Self> {
        let mut counts = [0_u16; MAX_CODE_BITS + 1];
        for &length in lengths {
            *counts.get_mut(usize::from(length))? += 1;
        }
        counts[0] = 0;
        let mut free = 1_i32;
        for &count in &counts[1..] {
            free = free * 2 - i32::from(count);
            if free < 0 {
                return None;
            }
        }
        let mut symbols: Vec<u16> = (0..lengths.len() as u16).filter(|&s| lengths[usize::from(s)] != 0).collect();
        // A stable sort keeps the symbols of one length in their order.
        symbols.sort_by_key(|&symbol| lengths[usize::from(symbol)]);
        Some(Self { counts, symbols })
    }

    /// The next symbol. `None` for an unused code, or at the end of the input.
    fn symbol(&self, bits: &mut Bits<'_>) -> Option<u16> {
        let (mut code, mut first, mut index) = (0_u32, 0_u32, 0_u32);
        for &count in &self.counts[1..] {
            code |= bits.take(1)?;
            let count = u32::from(count);
            if code < first + count {
                return self.symbols.get((index + code - first) as usize).copied();
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        None
    }
}

/// Decompresses at most `limit_bytes`; `None` when the stream is malformed or longer.
pub(super) fn inflate(bytes: &[u8], limit_bytes: usize) -> Option<Vec<u8>> {
    let mut bits = Bits { bytes, position: 0, held: 0, held_count: 0 };
    let mut output = Vec::with_capacity(limit_bytes.min(1 << 20));
    loop {
        let is_last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => stored_block(&mut bits, &mut output, limit_bytes)?,
            1 => {
                let (literals, distances) = fixed_codes()?;
                coded_block(&mut bits, &mut output, limit_bytes, &literals, &distances)?;
            }
            2 => {
                let (literals, distances) = dynamic_codes(&mut bits)?;
                coded_block(&mut bits, &mut output, limit_bytes, &literals, &distances)?;
            }
            _ => return None,
        }
        if is_last {
            return Some(output);
        }
    }
}

/// RFC 1951 §3.2.4.
fn stored_block(bits: &mut Bits<'_>, output: &mut Vec<u8>, limit_bytes: usize) -> Option<()> {
    bits.drop_rest_of_byte();
    let length = bits.take(16)?;
    if bits.take(16)? != !length & 0xffff {
        return None;
    }
    let start = bits.position;
    let content = bits.bytes.get(start..start + length as usize)?;
    bits.position += content.len();
    output.extend_from_slice(content);
    (output.len() <= limit_bytes).then_some(())
}

/// RFC 1951 §3.2.6.
fn fixed_codes() -> Option<(Code, Code)> {
    let mut lengths = [8; 288];
    lengths[144..256].fill(9);
    lengths[256..280].fill(7);
    Some((Code::new(&lengths)?, Code::new(&[5; 30])?))
}

/// RFC 1951 §3.2.7.
fn dynamic_codes(bits: &mut Bits<'_>) -> Option<(Code, Code)> {
    let literal_count = bits.take(5)? as usize + 257;
    let distance_count = bits.take(5)? as usize + 1;
    let length_count = bits.take(4)? as usize + 4;
    let mut code_lengths = [0; 19];
    for &place in &LENGTH_ORDER[..length_count] {
        code_lengths[place] = bits.take(3)? as u8;
    }
    let code = Code::new(&code_lengths)?;
    let total = literal_count + distance_count;
    let mut lengths: Vec<u8> = Vec::with_capacity(total);
    while lengths.len() < total {
        let (value, repeat) = match code.symbol(bits)? {
            symbol @ 0..=15 => (symbol as u8, 1),
            16 => (*lengths.last()?, bits.take(2)? + 3),
            17 => (0, bits.take(3)? + 3),
            _ => (0, bits.take(7)? + 11),
        };
        lengths.extend(std::iter::repeat_n(value, repeat as usize));
    }
    if lengths.len() != total {
        return None;
    }
    let (literals, distances) = lengths.split_at(literal_count);
    Some((Code::new(literals)?, Code::new(distances)?))
}

/// RFC 1951 §3.2.5.
fn coded_block(
    bits: &mut Bits<'_>,
    output: &mut Vec<u8>,
    limit_bytes: usize,
    literals: &Code,
    distances: &Code,
) -> Option<()> {
    loop {
        let symbol = literals.symbol(bits)?;
        if symbol < END_OF_BLOCK {
            output.push(symbol as u8);
        } else if symbol == END_OF_BLOCK {
            return Some(());
        } else {
            let length = match symbol - 257 {
                28 => 258,
                small @ 0..=7 => u32::from(small) + 3,
                // Four lengths for each number of extra bits.
                code @ 8..=27 => {
                    let extra = u32::from(code) / 4 - 1;
                    3 + ((4 + u32::from(code) % 4) << extra) + bits.take(extra)?
                }
                _ => return None,
            };
            let distance = match distances.symbol(bits)? {
                small @ 0..=3 => u32::from(small) + 1,
                // Two distances for each number of extra bits.
                code @ 4..=29 => {
                    let extra = u32::from(code) / 2 - 1;
                    1 + ((2 + u32::from(code) % 2) << extra) + bits.take(extra)?
                }
                _ => return None,
            };
            let start = output.len().checked_sub(distance as usize)?;
            for place in start..start + length as usize {
                // The source may overlap what is being written.
                output.push(*output.get(place)?);
            }
        }
        if output.len() > limit_bytes {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::inflate;

    fn check(compressed: &[u8], expected: &[u8]) {
        assert_eq!(inflate(compressed, expected.len()).as_deref(), Some(expected));
        for len in 0..compressed.len() {
            assert_eq!(inflate(&compressed[..len], expected.len()), None, "cut at {len}");
        }
        if let Some(less) = expected.len().checked_sub(1) {
            assert_eq!(inflate(compressed, less), None);
        }
    }

    #[test]
    fn stored() {
        check(&[1, 3, 0, 0xfc, 0xff, b'a', b'b', b'c'], b"abc");
    }

    #[test]
    fn fixed() {
        check(&[3, 0], b"");
        check(&[0x4b, 0x4a, 0xcc, 0x03, 0x42, 0x85, 0x24, 0x2c, 0x54, 0x31, 0x00], b"banana banana banana bananas");
    }

    #[test]
    fn dynamic() {
        // As zlib compresses it.
        let compressed = &[
            0xad, 0x91, 0x4b, 0x12, 0x80, 0x30, 0x08, 0x43, 0xcf, 0xca, 0x74, 0x11, 0x18, 0xef, 0xbf, 0xb7, 0x0d, 0x10,
            0xc5, 0xb5, 0x59, 0xb6, 0x2f, 0x9f, 0xaa, 0x03, 0x11, 0xb1, 0xb6, 0xae, 0x47, 0x2b, 0x15, 0x25, 0x37, 0x73,
            0x77, 0x80, 0x68, 0xc2, 0x03, 0x3f, 0x0a, 0x60, 0x33, 0x66, 0x44, 0x13, 0x2e, 0xbc, 0x0d, 0xdb, 0xc2, 0xc8,
            0x73, 0x41, 0xc6, 0x4c, 0x78, 0x1b, 0x80, 0xa5, 0x01, 0xb4, 0xe6, 0x61, 0x31, 0x56, 0x02, 0x23, 0x3f, 0x6b,
            0xab, 0xab, 0x73, 0x8c, 0x91, 0x6a, 0x1f, 0x5b, 0x7b, 0x0f, 0x18, 0xa9, 0xf6, 0x31, 0x56, 0x2c, 0x23, 0xd5,
            0x3e, 0xc6, 0xf6, 0xf7, 0xc9, 0x48, 0xb5, 0x8f, 0xb1, 0x35, 0xdd, 0x43, 0x91, 0xaf, 0xb5, 0x18, 0xcf, 0x3b,
            0xb9, 0x7f, 0xfd, 0x8b, 0x1b,
        ];
        let text: Vec<u8> = (0..120).flat_map(|i| std::iter::repeat_n(b'a' + (i * i * 7 % 11) as u8, i % 9)).collect();
        check(compressed, &text);
    }

    #[test]
    fn malformed() {
        // A reserved block type; a distance before the start; a stored length without its complement.
        for bytes in [&[7][..], &[0x4b, 0x44, 0x62, 0x00], &[1, 3, 0, 0, 0, 1, 2, 3]] {
            assert_eq!(inflate(bytes, 1000), None);
        }
    }
}
