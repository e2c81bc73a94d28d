//! Where the loops of a body lie relative to the blocks of 32 bytes in which processors fetch and cache decoded code.
//!
//! Cranelift aligns no block, so the same loop may be half as fast again in one body as in another, by chance: a jump
//! that crosses the end of such a block, or ends there, is decoded anew in each round on many processors (Intel,
//! "Mitigations for Jump Conditional Code Erratum"), and a loop that is spread over more blocks than it needs takes
//! more of the cache. The body's prologue ends with a padding of up to 31 bytes, chosen so that its innermost loops,
//! weighted by their depth, have the fewest of both.
//!
//! Loops are found in the machine code, by jumps backward. A misread byte can only make the choice worse.

use crate::output::CompiledCode;

/// The first bytes of every prologue: `push rbp; mov rbp, rsp`. Walks rely on them, so the padding comes behind.
const PROLOGUE: &[u8] = &[0x55, 0x48, 0x89, 0xe5];
/// What processors fetch and cache at a time.
const BLOCK_BYTES: usize = 32;
/// Padding for longer bodies is not worth the search.
const MAX_BODY_BYTES: usize = 1 << 16;
/// Bytes of a comparison that is decoded together with the jump behind it, usually.
const FUSED_BYTES: usize = 3;
/// How much more often an inner loop runs than the loop around it.
const ROUNDS: u32 = 8;
const MAX_DEPTH: u32 = 6;

/// A jump with a displacement of 32 bits.
#[derive(Clone, Copy)]
struct Jump {
    /// Offset of its first byte, and of the byte behind it.
    start: usize,
    end: usize,
    is_conditional: bool,
    target: usize,
}

/// Code from the target of a jump backward to the end of the jump.
struct Loop {
    start: usize,
    end: usize,
    weight: u32,
}

/// Pads the prologue where that makes loops faster.
pub(crate) fn pad(code: &mut CompiledCode) {
    let padding = if code.bytes.starts_with(PROLOGUE) { padding_bytes(&code.bytes) } else { 0 };
    if padding == 0 {
        return;
    }
    let place = PROLOGUE.len();
    code.bytes.splice(place..place, nops(padding));
    let moved = padding as u32;
    let is_behind = |offset: u32| offset as usize >= place;
    code.relocs.iter_mut().for_each(|reloc| reloc.offset += moved);
    let tables = &mut code.tables;
    tables.protected_calls.iter_mut().for_each(|call| call.return_offset += moved);
    tables.handlers.iter_mut().for_each(|handler| handler.landing_offset += moved);
    tables.traps.iter_mut().for_each(|trap| trap.offset += moved);
    tables
        .il_map
        .iter_mut()
        .filter(|entry| is_behind(entry.native_offset))
        .for_each(|entry| entry.native_offset += moved);
}

fn padding_bytes(bytes: &[u8]) -> usize {
    if bytes.len() > MAX_BODY_BYTES {
        return 0;
    }
    let jumps = jumps(bytes);
    let loops = innermost_loops(&jumps);
    if loops.is_empty() {
        return 0;
    }
    let cost = |padding: &usize| -> u32 { loops.iter().map(|inner| cost(inner, &jumps, *padding)).sum() };
    (0..BLOCK_BYTES).min_by_key(cost).unwrap_or(0)
}

/// The jumps within the body, by their offsets.
fn jumps(bytes: &[u8]) -> Vec<Jump> {
    let mut found = Vec::new();
    for start in PROLOGUE.len()..bytes.len().saturating_sub(4) {
        let (is_conditional, len) = match bytes[start..] {
            [0x0f, 0x80..=0x8f, ..] => (true, 6),
            [0xe9, ..] => (false, 5),
            _ => continue,
        };
        let end = start + len;
        let Some(&field) = bytes.get(end - 4..end).and_then(|field| field.first_chunk::<4>()) else { continue };
        let target = (end as i64) + i64::from(i32::from_le_bytes(field));
        if let Ok(target) = usize::try_from(target)
            && target < bytes.len()
        {
            found.push(Jump { start, end, is_conditional, target });
        }
    }
    found
}

/// Loops that contain no other, with the weights of their depths.
fn innermost_loops(jumps: &[Jump]) -> Vec<Loop> {
    let mut all: Vec<Loop> = Vec::new();
    for jump in jumps.iter().filter(|jump| jump.target < jump.start) {
        match all.iter_mut().find(|known| known.start == jump.target) {
            Some(known) => known.end = known.end.max(jump.end),
            None => all.push(Loop { start: jump.target, end: jump.end, weight: 1 }),
        }
    }
    let contains = |outer: &Loop, inner: &Loop| {
        outer.start <= inner.start && inner.end <= outer.end && (outer.start, outer.end) != (inner.start, inner.end)
    };
    let depth = |inner: &Loop| all.iter().filter(|outer| contains(outer, inner)).count() as u32;
    let innermost = all.iter().filter(|outer| !all.iter().any(|inner| contains(outer, inner)));
    innermost.map(|inner| Loop { weight: ROUNDS.pow(depth(inner).min(MAX_DEPTH)), ..*inner }).collect()
}

/// What a round of the loop costs beside its work, if the code moves by `padding`.
fn cost(inner: &Loop, jumps: &[Jump], padding: usize) -> u32 {
    let block = |offset: usize| (offset + padding) / BLOCK_BYTES;
    let is_split = |jump: &&Jump| {
        let start = if jump.is_conditional { jump.start - FUSED_BYTES } else { jump.start };
        block(start) != block(jump.end)
    };
    let inside = jumps.iter().filter(|jump| inner.start <= jump.start && jump.end <= inner.end);
    let split = inside.filter(is_split).count();
    let blocks = block(inner.end - 1) - block(inner.start) + 1;
    let spread = blocks - (inner.end - inner.start).div_ceil(BLOCK_BYTES);
    inner.weight * (2 * split + spread) as u32
}

/// So many bytes of instructions that do nothing, as few instructions as possible (Intel, "Software Developer's
/// Manual", NOP).
fn nops(bytes: usize) -> Vec<u8> {
    const LONGEST: [u8; 9] = [0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0];
    let rest: &[u8] = match bytes % LONGEST.len() {
        0 => &[],
        1 => &[0x90],
        2 => &[0x66, 0x90],
        3 => &[0x0f, 0x1f, 0x00],
        4 => &[0x0f, 0x1f, 0x40, 0],
        5 => &[0x0f, 0x1f, 0x44, 0, 0],
        6 => &[0x66, 0x0f, 0x1f, 0x44, 0, 0],
        7 => &[0x0f, 0x1f, 0x80, 0, 0, 0, 0],
        _ => &[0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0],
    };
    [&LONGEST.repeat(bytes / LONGEST.len())[..], rest].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use saki_abi::IlMapEntry;

    /// A body with a loop that begins at `begin` and has so many bytes, the last five of which are its jump.
    fn body_with_loop(begin: usize, len: usize) -> Vec<u8> {
        let mut bytes = vec![0x90; begin + len];
        bytes[..PROLOGUE.len()].copy_from_slice(PROLOGUE);
        let end = bytes.len();
        bytes[end - 5] = 0xe9;
        bytes[end - 4..].copy_from_slice(&(-(len as i32)).to_le_bytes());
        bytes.push(0xc3);
        bytes
    }

    #[test]
    fn a_loop_that_fits_into_a_block_is_moved_into_one() {
        for begin in 4..100 {
            let bytes = body_with_loop(begin, 30);
            let padding = padding_bytes(&bytes);
            assert_eq!((begin + padding) / 32, (begin + padding + 29) / 32, "{begin}: {padding}");
        }
    }

    #[test]
    fn code_without_loops_stays_where_it_is() {
        let mut bytes = body_with_loop(20, 30);
        bytes[45] = 0x90;
        assert_eq!(padding_bytes(&bytes), 0);
    }

    #[test]
    fn inner_loops_count_more() {
        let mut bytes = body_with_loop(10, 90);
        let inner = [0xe9u8, 0xe2, 0xff, 0xff, 0xff];
        bytes[60..65].copy_from_slice(&inner);
        let found = innermost_loops(&jumps(&bytes));
        assert_eq!(found.iter().map(|l| (l.start, l.end, l.weight)).collect::<Vec<_>>(), [(35, 65, ROUNDS)]);
    }

    #[test]
    fn padding_moves_the_tables() {
        let mut code = CompiledCode { bytes: body_with_loop(28, 30), ..CompiledCode::default() };
        let entry = |(native_offset, il_offset)| IlMapEntry { native_offset, il_offset };
        code.tables.il_map = [(0, 0), (28, 5)].map(entry).into();
        let padding = padding_bytes(&code.bytes);
        assert!(padding > 0);
        pad(&mut code);
        assert_eq!(code.tables.il_map[0].native_offset, 0);
        assert_eq!(code.tables.il_map[1].native_offset, 28 + padding as u32);
        assert!(code.bytes.starts_with(PROLOGUE) && code.bytes.len() == 59 + padding);
    }

    #[test]
    fn nops_have_the_length_that_was_asked_for() {
        for bytes in 0..32 {
            assert_eq!(nops(bytes).len(), bytes);
        }
    }
}
