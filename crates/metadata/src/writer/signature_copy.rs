//! Copying signatures from one image to another: everything stays as it is but the tokens of types. ECMA-335 §II.23.2.

use super::{put_compressed, put_compressed_signed};
use crate::element_type::ElementType;
use crate::error::BadImage;
use crate::sig_reader::SigReader;
use crate::token::{CodedKind, Token};

const FIELD: u8 = 6;
const LOCALS: u8 = 7;
const METHOD_SPEC: u8 = 10;
const GENERIC: u8 = 0x10;
const KIND_MASK: u8 = 0xf;

/// A copy in progress: what is left of the original, and the copy so far.
struct Copier<'a, E> {
    from: SigReader<'a>,
    to: Vec<u8>,
    replace: &'a mut dyn FnMut(Token) -> Result<Token, E>,
}

impl<E: From<BadImage>> Copier<'_, E> {
    fn number(&mut self) -> Result<u32, E> {
        let number = self.from.read_compressed_u32()?;
        put_compressed(&mut self.to, number);
        Ok(number)
    }

    fn token(&mut self) -> Result<(), E> {
        let token = (self.replace)(self.from.read_type_token()?)?;
        let coded = CodedKind::TypeDefOrRef.encode(token);
        put_compressed(&mut self.to, coded.ok_or_else(|| self.from.error(format!("{token} is no type token")))?);
        Ok(())
    }

    fn types(&mut self, count: u32) -> Result<(), E> {
        (0..count).try_for_each(|_| self.ty())
    }

    fn ty(&mut self) -> Result<(), E> {
        use ElementType as T;
        loop {
            let element = self.from.read_element_type()?;
            self.to.push(element as u8);
            match element {
                // Prefixes: a type follows.
                T::CModReqd | T::CModOpt => self.token()?,
                T::Ptr | T::ByRef | T::SzArray | T::Pinned | T::Sentinel => {}
                T::Class | T::ValueType => return self.token(),
                T::Var | T::MVar => return self.number().map(|_| ()),
                T::GenericInst => {
                    self.ty()?;
                    let count = self.number()?;
                    return self.types(count);
                }
                T::FnPtr => return self.method(),
                T::Array => {
                    self.ty()?;
                    self.number()?;
                    for _ in 0..self.number()? {
                        self.number()?;
                    }
                    for _ in 0..self.number()? {
                        let bound = self.from.read_compressed_i32()?;
                        put_compressed_signed(&mut self.to, bound);
                    }
                    return Ok(());
                }
                _ => return Ok(()),
            }
        }
    }

    /// A method or a property: their signatures have the same form.
    fn method(&mut self) -> Result<(), E> {
        let first = self.from.read_u8()?;
        self.to.push(first);
        if first & GENERIC != 0 {
            self.number()?;
        }
        let count = self.number()?;
        self.ty()?;
        self.types(count)
    }
}

/// What a blob is the signature of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SignatureForm {
    /// A TypeSpec: a type without anything before it.
    Type,
    /// All others, whose first byte says what they are.
    Marked,
}

/// A copy of a signature in which each TypeDefOrRef token is replaced by what `replace` gives for it.
///
/// # Errors
/// The blob is malformed; those of `replace`.
pub fn copy_signature<E: From<BadImage>>(
    blob: &[u8],
    form: SignatureForm,
    replace: &mut dyn FnMut(Token) -> Result<Token, E>,
) -> Result<Vec<u8>, E> {
    let mut copier = Copier { from: SigReader::new(blob), to: Vec::with_capacity(blob.len()), replace };
    let kind = copier.from.peek_u8().unwrap_or(0) & KIND_MASK;
    match kind {
        _ if form == SignatureForm::Type => copier.ty()?,
        FIELD => {
            copier.to.push(copier.from.read_u8()?);
            copier.ty()?;
        }
        LOCALS | METHOD_SPEC => {
            copier.to.push(copier.from.read_u8()?);
            let count = copier.number()?;
            copier.types(count)?;
        }
        _ => copier.method()?,
    }
    Ok(copier.to)
}

#[cfg(test)]
mod tests {
    use super::{SignatureForm, copy_signature};
    use crate::{BadImage, TableId, Token};

    fn copy(blob: &[u8], form: SignatureForm) -> Result<Vec<u8>, BadImage> {
        copy_signature(blob, form, &mut |token| Ok(Token::new(TableId::TypeSpec, token.rid() + 1)))
    }

    #[test]
    fn only_tokens_change() {
        // A generic instance of a class over a struct and a type variable, as a field with a modifier.
        let field = [6, 0x20, 0x09, 0x15, 0x12, 0x08, 2, 0x11, 0x0c, 0x13, 1];
        let copied = [6, 0x20, 0x0e, 0x15, 0x12, 0x0e, 2, 0x11, 0x12, 0x13, 1];
        assert_eq!(copy(&field, SignatureForm::Marked).expect("valid"), copied);
        // A generic vararg method with a sentinel, and an array with bounds.
        let method = [0x35, 1, 2, 1, 0x41, 0x1e, 0, 0x14, 8, 2, 1, 3, 2, 0, 0x7f];
        assert_eq!(copy(&method, SignatureForm::Marked).expect("valid"), method);
        let locals = [7, 2, 0x45, 0x10, 0x12, 0x04, 0x1b, 0, 1, 1, 0x0f, 0x11, 0x04];
        let copied = [7, 2, 0x45, 0x10, 0x12, 0x0a, 0x1b, 0, 1, 1, 0x0f, 0x11, 0x0a];
        assert_eq!(copy(&locals, SignatureForm::Marked).expect("valid"), copied);
        assert_eq!(copy(&[0x1d, 0x12, 0x04], SignatureForm::Type).expect("valid"), [0x1d, 0x12, 0x0a]);
    }

    #[test]
    fn a_blob_that_is_cut_short_is_refused() {
        assert!(copy(&[6, 0x12], SignatureForm::Marked).is_err());
        assert!(copy(&[], SignatureForm::Type).is_err());
        assert!(copy(&[0x20, 2, 1, 8], SignatureForm::Marked).is_err());
    }
}
