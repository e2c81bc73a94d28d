//! Which words of a frame are dead at a call on aarch64: hand-assembled bodies with a frame of four words.

#![cfg(target_arch = "aarch64")]

use saki_abi::{CALLEE_SAVED, EnclosingHandler, ProtectedCall, SpillArea};
use saki_code::{CodeInfo, CodeKind, NewBody, PlacedTables};

/// `stp x29, x30, [sp, #-16]!; mov x29, sp; sub sp, sp, #32`: FP − 32 is [sp].
const PROLOGUE: &[u32] = &[0xa9bf_7bfd, 0x9100_03fd, 0xd100_83ff];
/// `add sp, sp, #32; ldp x29, x30, [sp], #16; ret`
const EPILOGUE: &[u32] = &[0x9100_83ff, 0xa8c1_7bfd, 0xd65f_03c0];
/// `bl .`
const CALL: u32 = 0x9400_0000;
/// `str x0, [sp, #8]`, all of it and its lower half.
const WRITE_8: u32 = 0xf900_07e0;
const WRITE_HALF_8: u32 = 0xb900_0be0;
/// `ldr x0, [sp, #8]`, its upper half, and the word as a double.
const READ_8: u32 = 0xf940_07e0;
const READ_UPPER_8: u32 = 0xb940_0fe0;
const READ_8_AS_DOUBLE: u32 = 0xfd40_07e0;
/// `ldp x0, x1, [sp, #8]`, `ldr q0, [sp, #16]`
const READ_8_AND_16: u32 = 0xa940_87e0;
const READ_16_AND_24: u32 = 0x3dc0_07e0;
/// `stur x0, [x29, #-24]`: the word of `WRITE_8`.
const WRITE_8_BY_FP: u32 = 0xf81e_83a0;
/// `stp x0, x1, [sp]`, `str q0, [sp]`: the two lower words.
const WRITE_TWO: u32 = 0xa900_07e0;
const WRITE_VECTOR: u32 = 0x3d80_03e0;
/// `mov x28, x0`, `mov w28, w0`, `movk x28, #1`, `str x28, [x0]`
const WRITE_X28: u32 = 0xaa00_03fc;
const WRITE_W28: u32 = 0x2a00_03fc;
const CHANGE_X28: u32 = 0xf280_003c;
const READ_X28: u32 = 0xf900_001c;

fn body_with(parts: &[u32], change: impl Fn(&mut PlacedTables)) -> (CodeInfo, Vec<u32>) {
    let words = [PROLOGUE, parts, EPILOGUE].concat();
    let calls = words.iter().enumerate().filter(|(_, word)| **word == CALL);
    let returns = calls.map(|(index, _)| 4 * (index as u32 + 1)).collect();
    let mut new = NewBody::new(CodeKind::Method, std::ptr::null(), "body");
    new.tables.frame_size_bytes = 32;
    new.tables.spill_area = Some(SpillArea { low_bytes: 32, high_bytes: 0, saved_registers: 0 });
    change(&mut new.tables);
    let len_bytes = 4 * words.len() as u32;
    (new.placed_at(words.leak().as_ptr() as usize, len_bytes), returns)
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

fn check(parts: &[u32], expected: &[&[u32]]) {
    let (info, returns) = body_with(parts, |_| ());
    let expected: Vec<_> = expected.iter().map(|words| Some(words.to_vec())).collect();
    assert_eq!(dead_words(&info, &returns), expected, "{parts:08x?}");
}

#[test]
fn a_word_dies_with_its_last_read() {
    for write in [WRITE_8, WRITE_8_BY_FP] {
        for read in [READ_8, READ_8_AS_DOUBLE] {
            check(&[write, CALL, read, CALL], &[&[32, 16, 8], &[32, 24, 16, 8]]);
        }
    }
    check(&[CALL, READ_8_AND_16, CALL], &[&[32, 8], &[32, 24, 16, 8]]);
    check(&[CALL, READ_16_AND_24, CALL], &[&[32, 24], &[32, 24, 16, 8]]);
    // The word is written again before it is read, so it is dead in between.
    check(&[WRITE_8, CALL, WRITE_8, READ_8], &[&[32, 24, 16, 8]]);
    check(&[WRITE_TWO, CALL, WRITE_VECTOR, READ_8], &[&[24, 16, 8]]);
}

#[test]
fn words_that_are_written_and_never_read_may_be_arguments() {
    check(&[CALL], &[&[32, 24, 16, 8]]);
    check(&[WRITE_HALF_8, CALL], &[&[32, 16, 8]]);
    check(&[WRITE_TWO, CALL], &[&[16, 8]]);
    check(&[WRITE_VECTOR, CALL], &[&[16, 8]]);
}

#[test]
fn a_part_that_is_written_does_not_end_the_old_value() {
    check(&[WRITE_8, CALL, WRITE_HALF_8, READ_8], &[&[32, 16, 8]]);
    // A part that is read keeps the whole word.
    check(&[WRITE_8, CALL, READ_UPPER_8, CALL], &[&[32, 16, 8], &[32, 24, 16, 8]]);
}

#[test]
fn a_way_back_keeps_what_the_loop_reads() {
    // `cbz x0, .-8`, `tbz w0, #0, .-8`, `b.ne .-8`: back to the read. Live around the loop, dead behind it.
    for again in [0xb4ff_ffc0, 0x3607_ffc0, 0x54ff_ffc1] {
        check(&[WRITE_8, READ_8, CALL, again, CALL], &[&[32, 16, 8], &[32, 24, 16, 8]]);
    }
    // `cbz x0, .+8` over the second write, to the read behind it: one path reads the old value.
    check(&[WRITE_8, CALL, 0xb400_0040, WRITE_8, READ_8], &[&[32, 16, 8]]);
    // `b .+8` over the read.
    check(&[WRITE_8, CALL, 0x1400_0002, READ_8], &[&[32, 16, 8]]);
}

#[test]
fn jump_tables_are_followed() {
    // adr x1, table; ldrsw x2, [x1, w0, uxtw #2]; add x1, x1, x2; br x1; the table: behind it, and to the read there.
    let jump = [0x1000_0081, 0xb8a0_5822, 0x8b02_0021, 0xd61f_0020, 8, 8 + 4 * 3];
    // The first target leaves, the second one reads.
    let parts = [&[WRITE_8, CALL], &jump[..], EPILOGUE, &[READ_8]].concat();
    check(&parts, &[&[32, 16, 8]]);
    let parts = [&[WRITE_8, CALL], &jump[..], EPILOGUE, &[WRITE_8, READ_8]].concat();
    check(&parts, &[&[32, 24, 16, 8]]);
}

#[test]
fn landing_pads_read_words() {
    // The pad lies behind the epilogue of the normal path; only the exception leads there.
    let parts = [&[WRITE_8, CALL, CALL], EPILOGUE, &[READ_8]].concat();
    let (first, second) = (4 * (PROLOGUE.len() as u32 + 2), 4 * (PROLOGUE.len() as u32 + 3));
    let landing_offset = second + 4 * EPILOGUE.len() as u32;
    let site = ProtectedCall { return_offset: first, frame_offset_bytes: 32, first_handler: 0, handler_count: 1 };
    let info = body_with(&parts, |tables| {
        tables.handlers = Box::new([EnclosingHandler { clause_index: 0, landing_offset }]);
        tables.protected_calls = Box::new([site]);
    });
    assert_eq!(dead_words(&info.0, &[first, second]), [Some(vec![32, 16, 8]), Some(vec![32, 24, 16, 8])]);
}

#[test]
fn registers_live_until_they_are_overwritten() {
    let index = CALLEE_SAVED.iter().position(|&number| number == 28).expect("x28");
    let reads = |parts: &[u32], change: &dyn Fn(&mut PlacedTables)| -> Vec<bool> {
        let (info, returns) = body_with(parts, change);
        let live = |offset: &u32| info.live_words(info.start + *offset as usize).expect("a call").reads_register(index);
        returns.iter().map(live).collect()
    };
    assert_eq!(reads(&[WRITE_X28, CALL, READ_X28, CALL], &|_| ()), [true, false]);
    assert_eq!(reads(&[CALL, WRITE_X28, READ_X28], &|_| ()), [false]);
    // A write of 32 bits clears the others; that of 16 keeps them.
    assert_eq!(reads(&[CALL, WRITE_W28, READ_X28], &|_| ()), [false]);
    assert_eq!(reads(&[CALL, CHANGE_X28, READ_X28], &|_| ()), [true]);
    // `ldp x28, x27, [sp], #16`: an epilogue gives the caller's values back.
    assert_eq!(reads(&[CALL, 0xa8c1_6ffc, READ_X28], &|_| ()), [false]);
    // Behind the epilogue lies a landing pad, which only an exception reaches. What it reads counts on all processors,
    // although no compiled pad reads a register on this one.
    let parts = [&[WRITE_X28, CALL], EPILOGUE, &[READ_X28]].concat();
    let return_offset = 4 * (PROLOGUE.len() as u32 + 2);
    let landing_offset = return_offset + 4 * EPILOGUE.len() as u32;
    let site = ProtectedCall { return_offset, frame_offset_bytes: 32, first_handler: 0, handler_count: 1 };
    let with_handler = |tables: &mut PlacedTables| {
        tables.handlers = Box::new([EnclosingHandler { clause_index: 0, landing_offset }]);
        tables.protected_calls = Box::new([site]);
    };
    assert_eq!(reads(&parts, &with_handler), [true]);
    assert_eq!(reads(&parts, &|_| ()), [false]);
}

#[test]
fn what_is_not_understood_keeps_everything() {
    let instructions = [
        0x9100_23e0, // add x0, sp, #8: any code that gets the address may read the word at any time
        0xd100_63a0, // sub x0, x29, #24
        0x8b21_63e0, // add x0, sp, x1
        0xcb01_03a0, // sub x0, x29, x1
        0xf821_6be0, // str x0, [sp, x1]: any word
        0xc8df_ffe0, // ldar x0, [sp]
        0xf8e0_03e0, // ldaddal x0, x0, [sp]
        0xd61f_0020, // br x1: anywhere
        0xd400_0001, // svc #0
    ];
    for instruction in instructions {
        let (info, returns) = body_with(&[instruction, CALL], |_| ());
        assert_eq!(dead_words(&info, &returns), [None], "{instruction:08x}");
    }
    // `add x0, x29, #16`: an argument in memory, above the frame.
    check(&[0x9100_43a0, CALL], &[&[32, 24, 16, 8]]);
}
