//! The code of a dynamic method, whose tokens index its list of references instead of metadata tables.

use crate::domain::{DynamicBody, DynamicCode, DynamicRef};
use crate::error::{LoadError, LoadResult};
use crate::field::Field;
use crate::method::{LocalSig, Method, MethodKind, MethodSig};
use crate::ty::Ty;
use saki_metadata::{MethodBody, Token};

impl DynamicCode {
    /// The token of reference number `index`: the class library's list has two places per reference and counts from 1.
    pub fn token(index: usize) -> Token {
        Token(2 * index as u32 + 1)
    }

    pub(crate) fn reference(&self, token: Token) -> LoadResult<DynamicRef> {
        let found = self.body.get().and_then(|body| body.refs.get(token.0 as usize / 2));
        found.copied().ok_or_else(|| wrong_token(token))
    }

    pub(crate) fn ty(&self, token: Token) -> LoadResult<Ty> {
        match self.reference(token)? {
            DynamicRef::Type(ty) => Ok(ty),
            _ => Err(wrong_token(token)),
        }
    }

    pub(crate) fn method(&self, token: Token) -> LoadResult<&'static Method> {
        match self.reference(token)? {
            DynamicRef::Method(method) => Ok(method),
            _ => Err(wrong_token(token)),
        }
    }

    pub(crate) fn field(&self, token: Token) -> LoadResult<&'static Field> {
        match self.reference(token)? {
            DynamicRef::Field(field) => Ok(field),
            _ => Err(wrong_token(token)),
        }
    }

    pub(crate) fn call_sig(&'static self, token: Token) -> LoadResult<&'static MethodSig> {
        let signatures = self.body.get().map_or(&[][..], |body| &body.signatures);
        match self.reference(token)? {
            DynamicRef::Signature(index) => signatures.get(index).ok_or_else(|| wrong_token(token)),
            _ => Err(wrong_token(token)),
        }
    }

    pub(crate) fn locals(&self) -> Vec<LocalSig> {
        self.body.get().map_or_else(Vec::new, |body| body.locals.clone())
    }

    pub(crate) fn sig(&'static self) -> &'static MethodSig {
        &self.sig
    }

    /// The references of the body; empty before `define`.
    pub(crate) fn refs(&self) -> &[DynamicRef] {
        self.body.get().map_or(&[], |body| &body.refs)
    }

    /// The body in the form of a metadata body, without a token for its locals: `Image::resolve_locals` has them.
    pub(crate) fn method_body(&'static self) -> LoadResult<MethodBody<'static>> {
        let Some(body) = self.body.get() else {
            return Err(LoadError::invalid_program("a dynamic method has no code yet"));
        };
        Ok(MethodBody {
            max_stack: body.max_stack,
            code: &body.code,
            init_locals: body.init_locals,
            local_var_sig: Token::NIL,
            eh_clauses: body.eh_clauses.clone(),
        })
    }
}

fn wrong_token(token: Token) -> LoadError {
    LoadError::invalid_program(format!("token {token} of a dynamic method names something else"))
}

impl Method {
    pub fn is_dynamic(&self) -> bool {
        matches!(self.kind, MethodKind::Dynamic(_))
    }

    pub(crate) fn dynamic_code(&self) -> Option<&'static DynamicCode> {
        match self.kind {
            MethodKind::Dynamic(image) => image.dynamic.as_ref(),
            _ => None,
        }
    }

    /// The references in the code of a dynamic method.
    pub fn dynamic_refs(&self) -> &'static [DynamicRef] {
        self.dynamic_code().map_or(&[], DynamicCode::refs)
    }

    /// Gives a dynamic method its code; only the first call counts.
    pub fn define(&self, body: DynamicBody) {
        if let Some(code) = self.dynamic_code() {
            let _ = code.body.set(body);
        }
    }

    /// Whether the method is a dynamic one without code.
    pub fn lacks_code(&self) -> bool {
        self.dynamic_code().is_some_and(|code| code.body.get().is_none())
    }

    /// The type from which a method's access to fields is judged; None = all fields are accessible.
    pub(crate) fn access_scope(&self) -> Option<Ty> {
        match self.dynamic_code() {
            Some(code) => code.scope,
            None => Some(self.owner),
        }
    }
}
