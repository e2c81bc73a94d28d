//! Method bodies: tiny and fat headers, exception sections. ECMA-335 §II.25.4.

use super::{pad, put16, put32};
use crate::body::{EhClause, EhKind};
use crate::token::Token;

/// A body to write.
#[derive(Default)]
pub struct BodySpec {
    pub code: Vec<u8>,
    pub max_stack: u16,
    pub init_locals: bool,
    /// StandAloneSig, or nil.
    pub locals: Token,
    /// Inner clauses before outer ones.
    pub clauses: Vec<EhClause>,
}

const MAX_TINY_CODE_BYTES: usize = 63;
const MAX_TINY_STACK: u16 = 8;
const FAT_HEADER_BYTES: u16 = 12;

/// Appends the body, aligned as its header requires, and returns its offset in `out`.
pub(super) fn put_body(out: &mut Vec<u8>, body: &BodySpec) -> usize {
    let is_tiny = body.code.len() <= MAX_TINY_CODE_BYTES
        && body.max_stack <= MAX_TINY_STACK
        && body.locals.is_nil()
        && body.clauses.is_empty();
    if is_tiny {
        let at = out.len();
        out.push((body.code.len() as u8) << 2 | 2);
        out.extend(&body.code);
        return at;
    }
    pad(out, 4);
    let at = out.len();
    let flags = 3 | u16::from(!body.clauses.is_empty()) << 3 | u16::from(body.init_locals) << 4;
    put16(out, flags | (FAT_HEADER_BYTES / 4) << 12);
    put16(out, body.max_stack);
    put32(out, body.code.len() as u32);
    put32(out, body.locals.0);
    out.extend(&body.code);
    if !body.clauses.is_empty() {
        pad(out, 4);
        put_clauses(out, &body.clauses);
    }
    at
}

fn put_clauses(out: &mut Vec<u8>, clauses: &[EhClause]) {
    const SMALL_CLAUSE_BYTES: usize = 12;
    const FAT_CLAUSE_BYTES: usize = 24;
    let is_small = clauses.len() * SMALL_CLAUSE_BYTES + 4 <= 0xff
        && clauses.iter().all(|clause| {
            clause.try_offset <= 0xffff
                && clause.handler_offset <= 0xffff
                && clause.try_len <= 0xff
                && clause.handler_len <= 0xff
        });
    if is_small {
        out.extend([1, (clauses.len() * SMALL_CLAUSE_BYTES + 4) as u8, 0, 0]);
    } else {
        put32(out, ((clauses.len() * FAT_CLAUSE_BYTES + 4) as u32) << 8 | 0x41);
    }
    for clause in clauses {
        let kind = match clause.kind {
            EhKind::Catch => 0u16,
            EhKind::Filter => 1,
            EhKind::Finally => 2,
            EhKind::Fault => 4,
        };
        if is_small {
            put16(out, kind);
            put16(out, clause.try_offset as u16);
            out.push(clause.try_len as u8);
            put16(out, clause.handler_offset as u16);
            out.push(clause.handler_len as u8);
        } else {
            put32(out, u32::from(kind));
            for word in [clause.try_offset, clause.try_len, clause.handler_offset, clause.handler_len] {
                put32(out, word);
            }
        }
        put32(out, clause.class_token_or_filter_offset);
    }
}
