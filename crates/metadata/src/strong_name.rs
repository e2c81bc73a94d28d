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
    sha1_smol::Sha1::from(message).digest().bytes()
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
