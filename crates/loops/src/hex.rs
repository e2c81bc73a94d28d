//! Bytes as pairs of hexadecimal digits with hyphens between them.

/// For each byte two hexadecimal digits, a hyphen, and a unit that the first digit of the next byte overwrites.
const HEX: [[u16; 4]; 256] = {
    let digits = b"0123456789ABCDEF";
    let mut all = [[0; 4]; 256];
    let mut byte = 0;
    while byte < all.len() {
        all[byte] = [digits[byte >> 4] as u16, digits[byte & 15] as u16, b'-' as u16, 0];
        byte += 1;
    }
    all
};

/// Writes the text of `bytes` to `units`: three units for each byte, two for the last.
pub fn to_hex(bytes: &[u8], units: &mut [u16]) {
    let Some((last, others)) = bytes.split_last() else { return };
    for (byte, place) in others.iter().zip((0..).step_by(3)) {
        if let Some(room) = units[place..].first_chunk_mut() {
            *room = HEX[usize::from(*byte)];
        }
    }
    let [high, low, ..] = HEX[usize::from(*last)];
    units[3 * others.len()..].copy_from_slice(&[high, low]);
}

#[cfg(test)]
mod tests {
    use super::to_hex;

    #[test]
    fn bytes_are_pairs_of_digits_with_hyphens_between_them() {
        let check = |bytes: &[u8], expected: &str| {
            let mut units = vec![0; expected.len()];
            to_hex(bytes, &mut units);
            assert_eq!(String::from_utf16_lossy(&units), expected);
        };
        check(&[], "");
        check(&[0x0f], "0F");
        check(&[0, 0xff, 0x1a, 0xb2], "00-FF-1A-B2");
    }
}
