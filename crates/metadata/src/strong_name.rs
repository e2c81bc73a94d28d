//! Public key tokens: the last 8 bytes, reversed, of the SHA-1 of a public key. ECMA-335 §II.6.2.1.3.
//!
//! Left out: checking signatures; nothing here is a security boundary.

/// The token of a public key; `None` for an empty key.
pub fn public_key_token(public_key: &[u8]) -> Option<[u8; 8]> {
    if public_key.is_empty() {
        return None;
    }
    let hash = sha1(public_key);
    let mut token = *hash.last_chunk::<8>()?;
    token.reverse();
    Some(token)
}

/// The SHA-1 digest of a message. FIPS 180-4 §6.1.
pub fn sha1(message: &[u8]) -> [u8; 20] {
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() - message.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    if let Some(length) = padded.last_chunk_mut::<8>() {
        *length = (message.len() as u64 * 8).to_be_bytes();
    }

    let mut state = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    for block in padded.as_chunks::<64>().0 {
        let mut schedule = [0_u32; 80];
        for (word, bytes) in schedule.iter_mut().zip(block.as_chunks::<4>().0) {
            *word = u32::from_be_bytes(*bytes);
        }
        for t in 16..80 {
            let mixed = schedule[t - 3] ^ schedule[t - 8] ^ schedule[t - 14] ^ schedule[t - 16];
            schedule[t] = mixed.rotate_left(1);
        }
        let [mut a, mut b, mut c, mut d, mut e] = state;
        for (t, word) in schedule.into_iter().enumerate() {
            let (f, k) = match t {
                0..20 => (b & c | !b & d, 0x5a82_7999),
                20..40 => (b ^ c ^ d, 0x6ed9_eba1),
                40..60 => (b & c | b & d | c & d, 0x8f1b_bcdc),
                _ => (b ^ c ^ d, 0xca62_c1d6_u32),
            };
            let next = a.rotate_left(5).wrapping_add(f).wrapping_add(e).wrapping_add(k).wrapping_add(word);
            (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
        }
        for (total, part) in state.iter_mut().zip([a, b, c, d, e]) {
            *total = total.wrapping_add(part);
        }
    }
    let mut hash = [0; 20];
    for (bytes, word) in hash.as_chunks_mut::<4>().0.iter_mut().zip(state) {
        *bytes = word.to_be_bytes();
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::{public_key_token, sha1};

    #[test]
    fn known_hashes() {
        assert_eq!(sha1(b"abc")[..4], [0xa9, 0x99, 0x3e, 0x36]);
        assert_eq!(sha1(b"")[..4], [0xda, 0x39, 0xa3, 0xee]);
        let two_blocks = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(sha1(two_blocks)[..4], [0x84, 0x98, 0x3e, 0x44]);
    }

    #[test]
    fn token_of_the_standard_public_key() {
        let ecma_key = [0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(public_key_token(&ecma_key), Some([0xb7, 0x7a, 0x5c, 0x56, 0x19, 0x34, 0xe0, 0x89]));
        assert_eq!(public_key_token(&[]), None);
    }
}
