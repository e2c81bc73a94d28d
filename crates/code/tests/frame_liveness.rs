//! Which words of a frame are dead at a call: hand-assembled bodies with a frame of four words.

#![cfg(target_arch = "x86_64")]

use saki_abi::{CALLEE_SAVED, EnclosingHandler, ProtectedCall, SpillArea};
use saki_code::{CodeInfo, CodeKind, NewBody, PlacedTables};

/// `push rbp; mov rbp, rsp; sub rsp, 32`: FP − 32 is [rsp].
const PROLOGUE: &[u8] = &[0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20];
/// `add rsp, 32; pop rbp; ret`
const EPILOGUE: &[u8] = &[0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3];
const CALL: &[u8] = &[0xe8, 0, 0, 0, 0];
/// `mov [rsp + 8], rdi`, all of it and its lower half.
const WRITE_8: &[u8] = &[0x48, 0x89, 0x7c, 0x24, 0x08];
const WRITE_HALF_8: &[u8] = &[0x89, 0x7c, 0x24, 0x08];
/// `mov rax, [rsp + 8]`, and its upper half.
const READ_8: &[u8] = &[0x48, 0x8b, 0x44, 0x24, 0x08];
const READ_UPPER_8: &[u8] = &[0x8b, 0x44, 0x24, 0x0c];
/// `mov [rsp + 16], rax`
const WRITE_16: &[u8] = &[0x48, 0x89, 0x44, 0x24, 0x10];
/// `mov [rbp - 24], rdi`: the word of `WRITE_8`.
const WRITE_8_BY_FP: &[u8] = &[0x48, 0x89, 0x7d, 0xe8];
/// `movups [rsp], xmm0`: the two lower words.
const WRITE_TWO: &[u8] = &[0x0f, 0x11, 0x04, 0x24];
/// `mov rbx, rdi`, `mov ebx, edi`, `mov bl, dil`, `mov rax, rbx`
const WRITE_RBX: &[u8] = &[0x48, 0x89, 0xfb];
const WRITE_EBX: &[u8] = &[0x89, 0xfb];
const WRITE_BL: &[u8] = &[0x40, 0x88, 0xfb];
const READ_RBX: &[u8] = &[0x48, 0x89, 0xd8];

/// A body of these parts between prologue and epilogue, and the return address of each of its calls.
fn body(parts: &[&[u8]]) -> (CodeInfo, Vec<u32>) {
    body_with(parts, |_| ())
}

fn body_with(parts: &[&[u8]], change: impl Fn(&mut PlacedTables)) -> (CodeInfo, Vec<u32>) {
    let mut bytes = PROLOGUE.to_vec();
    let mut returns = Vec::new();
    for part in parts {
        bytes.extend_from_slice(part);
        if *part == CALL {
            returns.push(bytes.len() as u32);
        }
    }
    bytes.extend_from_slice(EPILOGUE);
    let mut new = NewBody::new(CodeKind::Method, std::ptr::null(), "body");
    new.tables.frame_size_bytes = 32;
    new.tables.spill_area = Some(SpillArea { low_bytes: 32, high_bytes: 0, saved_registers: 0 });
    change(&mut new.tables);
    let len_bytes = bytes.len() as u32;
    (new.placed_at(bytes.leak().as_ptr() as usize, len_bytes), returns)
}

/// Distances from FP down to the dead words after each call. None: the words are unknown.
fn dead_words(info: &CodeInfo, returns: &[u32]) -> Vec<Option<Vec<u32>>> {
    let dead = |offset: &u32| {
        let mut words = Vec::new();
        info.live_words(info.start + *offset as usize)?.for_each_dead(|word| words.push(word));
        Some(words)
    };
    returns.iter().map(dead).collect()
}

fn check(parts: &[&[u8]], expected: &[&[u32]]) {
    let (info, returns) = body(parts);
    let expected: Vec<_> = expected.iter().map(|words| Some(words.to_vec())).collect();
    assert_eq!(dead_words(&info, &returns), expected, "{parts:02x?}");
}

/// Checks that the words are unknown at every call.
fn check_unknown(parts: &[&[u8]]) {
    let (info, returns) = body(parts);
    assert!(dead_words(&info, &returns).iter().all(Option::is_none), "{parts:02x?}");
}

#[test]
fn a_word_dies_with_its_last_read() {
    check(&[WRITE_8, CALL, READ_8, CALL], &[&[32, 16, 8], &[32, 24, 16, 8]]);
    // The frame may be addressed through either register.
    check(&[WRITE_8_BY_FP, CALL, READ_8, CALL], &[&[32, 16, 8], &[32, 24, 16, 8]]);
    // The word is written again before it is read, so it is dead in between.
    check(&[WRITE_8, CALL, WRITE_8, READ_8], &[&[32, 24, 16, 8]]);
}

#[test]
fn words_that_a_body_never_touches_are_dead() {
    check(&[CALL], &[&[32, 24, 16, 8]]);
}

#[test]
fn words_that_are_written_and_never_read_may_be_arguments() {
    check(&[WRITE_16, CALL, CALL], &[&[32, 24, 8], &[32, 24, 8]]);
    check(&[WRITE_HALF_8, CALL], &[&[32, 16, 8]]);
    // A vector covers two words.
    check(&[WRITE_TWO, CALL], &[&[16, 8]]);
}

#[test]
fn a_part_that_is_written_does_not_end_the_old_value() {
    check(&[WRITE_8, CALL, WRITE_HALF_8, READ_8], &[&[32, 16, 8]]);
    check(&[WRITE_8, CALL, WRITE_HALF_8, CALL, READ_UPPER_8], &[&[32, 16, 8], &[32, 16, 8]]);
    // A part that is read keeps the whole word.
    check(&[WRITE_8, CALL, READ_UPPER_8, CALL], &[&[32, 16, 8], &[32, 24, 16, 8]]);
}

#[test]
fn a_way_back_keeps_what_the_loop_reads() {
    // `jne` back to the read: 5 + 5 + 2 bytes. Live around the loop, dead behind it.
    let again: &[u8] = &[0x75, (-12_i8) as u8];
    check(&[WRITE_8, READ_8, CALL, again, CALL], &[&[32, 16, 8], &[32, 24, 16, 8]]);
    // `je` over the second write, to the read behind it: one path reads the old value.
    let over: &[u8] = &[0x74, 5];
    check(&[WRITE_8, CALL, over, WRITE_8, READ_8], &[&[32, 16, 8]]);
}

#[test]
fn landing_pads_read_words_and_registers_of_their_calls() {
    // The pad lies behind the epilogue of the normal path; only the exception leads there.
    let (info, returns) = body(&[WRITE_8, WRITE_RBX, CALL, EPILOGUE, READ_8, READ_RBX]);
    let without = dead_words(&info, &returns);
    assert_eq!(without, [Some(vec![32, 16, 8])], "never read: may be an argument");
    let (first, second) = (returns[0], returns[0] + CALL.len() as u32);
    let landing_offset = second + EPILOGUE.len() as u32;
    let site = ProtectedCall { return_offset: first, frame_offset_bytes: 32, first_handler: 0, handler_count: 1 };
    let with_handler = |tables: &mut PlacedTables| {
        tables.handlers = Box::new([EnclosingHandler { clause_index: 0, landing_offset }]);
        tables.protected_calls = Box::new([site]);
    };
    let info = body_with(&[WRITE_8, WRITE_RBX, CALL, CALL, EPILOGUE, READ_8, READ_RBX], with_handler).0;
    assert_eq!(dead_words(&info, &[first, second]), [Some(vec![32, 16, 8]), Some(vec![32, 24, 16, 8])]);
    let reads_rbx = |offset: u32| info.live_words(info.start + offset as usize).expect("a call").reads_register(0);
    assert_eq!([first, second].map(reads_rbx), [true, false]);
}

#[test]
fn registers_live_until_they_are_overwritten_whole() {
    let reads_rbx = |parts: &[&[u8]]| -> Vec<bool> {
        let (info, returns) = body(parts);
        let live = |offset: &u32| info.live_words(info.start + *offset as usize).expect("a call").reads_register(0);
        returns.iter().map(live).collect()
    };
    assert_eq!(CALLEE_SAVED[0], 3, "rbx");
    assert_eq!(reads_rbx(&[WRITE_RBX, CALL, READ_RBX, CALL]), [true, false]);
    assert_eq!(reads_rbx(&[CALL, WRITE_RBX, READ_RBX]), [false]);
    // 32 bits clear the rest, eight keep it.
    assert_eq!(reads_rbx(&[CALL, WRITE_EBX, READ_RBX]), [false]);
    assert_eq!(reads_rbx(&[CALL, WRITE_BL, READ_RBX]), [true]);
}

#[test]
fn what_is_not_understood_keeps_everything() {
    // `lea rax, [rsp + 8]`: any code that gets the address may read the word at any time.
    check_unknown(&[&[0x48, 0x8d, 0x44, 0x24, 0x08], CALL]);
    // `mov rax, [rsp + rcx * 8]`: any word.
    check_unknown(&[&[0x48, 0x8b, 0x04, 0xcc], CALL]);
    // `jmp rax`: anywhere. A byte that begins no instruction.
    check_unknown(&[CALL, &[0xff, 0xe0]]);
    check_unknown(&[CALL, &[0x06]]);
    let (info, returns) = body(&[WRITE_8, CALL, READ_8, CALL]);
    assert!(info.live_words(info.start + returns[0] as usize + 1).is_none(), "no return address");
    assert!(info.live_words(info.start - 1).is_none(), "another body's");
    let info = body_with(&[WRITE_8, CALL, READ_8, CALL], |tables| tables.spill_area = None).0;
    assert!(dead_words(&info, &returns).iter().all(Option::is_none), "without a map");
}
