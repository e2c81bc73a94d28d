//! `mono/metadata/opcodes.h`: the instructions of CIL as Mono numbers them: by their code if it has one byte, then
//! those behind the prefix 0xfe, then Mono's own behind 0xf0.

use crate::text::kept;
use std::ffi::{c_char, c_int};

/// An entry of `mono_opcodes`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MonoOpcode {
    /// The kind of operand: `MonoInlineNone` and so on.
    argument: u8,
    /// Where control goes: `MONO_FLOW_NEXT` and so on.
    flow_type: u8,
    /// The last byte of the code; above it the number of bytes less one.
    opval: u16,
}

impl MonoOpcode {
    /// The kind of operand.
    pub(crate) fn argument(&self) -> u8 {
        self.argument
    }
}

const COUNT: usize = ROWS.len();

/// The instructions, and an entry of zeros.
#[unsafe(no_mangle)]
pub static mono_opcodes: [MonoOpcode; COUNT + 1] = {
    let mut table = [MonoOpcode { argument: 0, flow_type: 0, opval: 0 }; COUNT + 1];
    let mut index = 0;
    while index < COUNT {
        let (_, argument, flow_type, opval) = ROWS[index];
        table[index] = MonoOpcode { argument, flow_type, opval };
        index += 1;
    }
    table
};

/// The name of an instruction; null for a number that is none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_opcode_name(opcode: c_int) -> *const c_char {
    let row = usize::try_from(opcode).ok().and_then(|index| ROWS.get(index));
    row.map_or(std::ptr::null(), |(name, ..)| kept(name))
}

/// The number of the instruction at `*ip`, which then is the address of its last byte; -1 if it does not end before
/// `end`.
///
/// # Safety
/// From `*ip` to `end` there is code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_opcode_value(ip: *mut *const u8, end: *const u8) -> c_int {
    const NONE: c_int = -1;
    // SAFETY: the host's variable.
    let mut at = unsafe { ip.read() };
    if at >= end {
        return NONE;
    }
    // SAFETY: before the end of the code.
    let first = c_int::from(unsafe { at.read() });
    let base = match first {
        0xfe => AFTER_FE,
        0xf0 => AFTER_F0,
        _ => return first,
    };
    at = at.wrapping_add(1);
    if at >= end {
        return NONE;
    }
    // SAFETY: the host's variable.
    unsafe { ip.write(at) };
    // SAFETY: before the end of the code.
    base + c_int::from(unsafe { at.read() })
}

/// The number of the first instruction behind 0xfe.
const AFTER_FE: c_int = 256;

/// The number of the first instruction behind 0xf0.
const AFTER_F0: c_int = 293;

/// Name, kind of operand, flow of control and code of each.
#[rustfmt::skip]
const ROWS: &[(&str, u8, u8, u16)] = &[
    ("nop", 0, 0, 0x0), ("break", 0, 3, 0x1), ("ldarg.0", 0, 0, 0x2), ("ldarg.1", 0, 0, 0x3), ("ldarg.2", 0, 0, 0x4),
    ("ldarg.3", 0, 0, 0x5), ("ldloc.0", 0, 0, 0x6), ("ldloc.1", 0, 0, 0x7), ("ldloc.2", 0, 0, 0x8),
    ("ldloc.3", 0, 0, 0x9), ("stloc.0", 0, 0, 0xa), ("stloc.1", 0, 0, 0xb), ("stloc.2", 0, 0, 0xc),
    ("stloc.3", 0, 0, 0xd), ("ldarg.s", 8, 0, 0xe), ("ldarga.s", 8, 0, 0xf), ("starg.s", 8, 0, 0x10),
    ("ldloc.s", 8, 0, 0x11), ("ldloca.s", 8, 0, 0x12), ("stloc.s", 8, 0, 0x13), ("ldnull", 0, 0, 0x14),
    ("ldc.i4.m1", 0, 0, 0x15), ("ldc.i4.0", 0, 0, 0x16), ("ldc.i4.1", 0, 0, 0x17), ("ldc.i4.2", 0, 0, 0x18),
    ("ldc.i4.3", 0, 0, 0x19), ("ldc.i4.4", 0, 0, 0x1a), ("ldc.i4.5", 0, 0, 0x1b), ("ldc.i4.6", 0, 0, 0x1c),
    ("ldc.i4.7", 0, 0, 0x1d), ("ldc.i4.8", 0, 0, 0x1e), ("ldc.i4.s", 15, 0, 0x1f), ("ldc.i4", 14, 0, 0x20),
    ("ldc.i8", 16, 0, 0x21), ("ldc.r4", 13, 0, 0x22), ("ldc.r8", 12, 0, 0x23), ("unused99", 0, 0, 0x24),
    ("dup", 0, 0, 0x25), ("pop", 0, 0, 0x26), ("jmp", 3, 4, 0x27), ("call", 3, 4, 0x28), ("calli", 6, 4, 0x29),
    ("ret", 0, 5, 0x2a), ("br.s", 10, 1, 0x2b), ("brfalse.s", 10, 2, 0x2c), ("brtrue.s", 10, 2, 0x2d),
    ("beq.s", 10, 2, 0x2e), ("bge.s", 10, 2, 0x2f), ("bgt.s", 10, 2, 0x30), ("ble.s", 10, 2, 0x31),
    ("blt.s", 10, 2, 0x32), ("bne.un.s", 10, 2, 0x33), ("bge.un.s", 10, 2, 0x34), ("bgt.un.s", 10, 2, 0x35),
    ("ble.un.s", 10, 2, 0x36), ("blt.un.s", 10, 2, 0x37), ("br", 9, 1, 0x38), ("brfalse", 9, 2, 0x39),
    ("brtrue", 9, 2, 0x3a), ("beq", 9, 2, 0x3b), ("bge", 9, 2, 0x3c), ("bgt", 9, 2, 0x3d), ("ble", 9, 2, 0x3e),
    ("blt", 9, 2, 0x3f), ("bne.un", 9, 2, 0x40), ("bge.un", 9, 2, 0x41), ("bgt.un", 9, 2, 0x42),
    ("ble.un", 9, 2, 0x43), ("blt.un", 9, 2, 0x44), ("switch", 11, 2, 0x45), ("ldind.i1", 0, 0, 0x46),
    ("ldind.u1", 0, 0, 0x47), ("ldind.i2", 0, 0, 0x48), ("ldind.u2", 0, 0, 0x49), ("ldind.i4", 0, 0, 0x4a),
    ("ldind.u4", 0, 0, 0x4b), ("ldind.i8", 0, 0, 0x4c), ("ldind.i", 0, 0, 0x4d), ("ldind.r4", 0, 0, 0x4e),
    ("ldind.r8", 0, 0, 0x4f), ("ldind.ref", 0, 0, 0x50), ("stind.ref", 0, 0, 0x51), ("stind.i1", 0, 0, 0x52),
    ("stind.i2", 0, 0, 0x53), ("stind.i4", 0, 0, 0x54), ("stind.i8", 0, 0, 0x55), ("stind.r4", 0, 0, 0x56),
    ("stind.r8", 0, 0, 0x57), ("add", 0, 0, 0x58), ("sub", 0, 0, 0x59), ("mul", 0, 0, 0x5a), ("div", 0, 0, 0x5b),
    ("div.un", 0, 0, 0x5c), ("rem", 0, 0, 0x5d), ("rem.un", 0, 0, 0x5e), ("and", 0, 0, 0x5f), ("or", 0, 0, 0x60),
    ("xor", 0, 0, 0x61), ("shl", 0, 0, 0x62), ("shr", 0, 0, 0x63), ("shr.un", 0, 0, 0x64), ("neg", 0, 0, 0x65),
    ("not", 0, 0, 0x66), ("conv.i1", 0, 0, 0x67), ("conv.i2", 0, 0, 0x68), ("conv.i4", 0, 0, 0x69),
    ("conv.i8", 0, 0, 0x6a), ("conv.r4", 0, 0, 0x6b), ("conv.r8", 0, 0, 0x6c), ("conv.u4", 0, 0, 0x6d),
    ("conv.u8", 0, 0, 0x6e), ("callvirt", 3, 4, 0x6f), ("cpobj", 1, 0, 0x70), ("ldobj", 1, 0, 0x71),
    ("ldstr", 5, 0, 0x72), ("newobj", 3, 4, 0x73), ("castclass", 1, 0, 0x74), ("isinst", 1, 0, 0x75),
    ("conv.r.un", 0, 0, 0x76), ("unused58", 0, 0, 0x77), ("unused1", 0, 0, 0x78), ("unbox", 1, 0, 0x79),
    ("throw", 0, 3, 0x7a), ("ldfld", 2, 0, 0x7b), ("ldflda", 2, 0, 0x7c), ("stfld", 2, 0, 0x7d),
    ("ldsfld", 2, 0, 0x7e), ("ldsflda", 2, 0, 0x7f), ("stsfld", 2, 0, 0x80), ("stobj", 1, 0, 0x81),
    ("conv.ovf.i1.un", 0, 0, 0x82), ("conv.ovf.i2.un", 0, 0, 0x83), ("conv.ovf.i4.un", 0, 0, 0x84),
    ("conv.ovf.i8.un", 0, 0, 0x85), ("conv.ovf.u1.un", 0, 0, 0x86), ("conv.ovf.u2.un", 0, 0, 0x87),
    ("conv.ovf.u4.un", 0, 0, 0x88), ("conv.ovf.u8.un", 0, 0, 0x89), ("conv.ovf.i.un", 0, 0, 0x8a),
    ("conv.ovf.u.un", 0, 0, 0x8b), ("box", 1, 0, 0x8c), ("newarr", 1, 0, 0x8d), ("ldlen", 0, 0, 0x8e),
    ("ldelema", 1, 0, 0x8f), ("ldelem.i1", 0, 0, 0x90), ("ldelem.u1", 0, 0, 0x91), ("ldelem.i2", 0, 0, 0x92),
    ("ldelem.u2", 0, 0, 0x93), ("ldelem.i4", 0, 0, 0x94), ("ldelem.u4", 0, 0, 0x95), ("ldelem.i8", 0, 0, 0x96),
    ("ldelem.i", 0, 0, 0x97), ("ldelem.r4", 0, 0, 0x98), ("ldelem.r8", 0, 0, 0x99), ("ldelem.ref", 0, 0, 0x9a),
    ("stelem.i", 0, 0, 0x9b), ("stelem.i1", 0, 0, 0x9c), ("stelem.i2", 0, 0, 0x9d), ("stelem.i4", 0, 0, 0x9e),
    ("stelem.i8", 0, 0, 0x9f), ("stelem.r4", 0, 0, 0xa0), ("stelem.r8", 0, 0, 0xa1), ("stelem.ref", 0, 0, 0xa2),
    ("ldelem", 1, 0, 0xa3), ("stelem", 1, 0, 0xa4), ("unbox.any", 1, 0, 0xa5), ("unused5", 0, 0, 0xa6),
    ("unused6", 0, 0, 0xa7), ("unused7", 0, 0, 0xa8), ("unused8", 0, 0, 0xa9), ("unused9", 0, 0, 0xaa),
    ("unused10", 0, 0, 0xab), ("unused11", 0, 0, 0xac), ("unused12", 0, 0, 0xad), ("unused13", 0, 0, 0xae),
    ("unused14", 0, 0, 0xaf), ("unused15", 0, 0, 0xb0), ("unused16", 0, 0, 0xb1), ("unused17", 0, 0, 0xb2),
    ("conv.ovf.i1", 0, 0, 0xb3), ("conv.ovf.u1", 0, 0, 0xb4), ("conv.ovf.i2", 0, 0, 0xb5),
    ("conv.ovf.u2", 0, 0, 0xb6), ("conv.ovf.i4", 0, 0, 0xb7), ("conv.ovf.u4", 0, 0, 0xb8),
    ("conv.ovf.i8", 0, 0, 0xb9), ("conv.ovf.u8", 0, 0, 0xba), ("unused50", 0, 0, 0xbb), ("unused18", 0, 0, 0xbc),
    ("unused19", 0, 0, 0xbd), ("unused20", 0, 0, 0xbe), ("unused21", 0, 0, 0xbf), ("unused22", 0, 0, 0xc0),
    ("unused23", 0, 0, 0xc1), ("refanyval", 1, 0, 0xc2), ("ckfinite", 0, 0, 0xc3), ("unused24", 0, 0, 0xc4),
    ("unused25", 0, 0, 0xc5), ("mkrefany", 1, 0, 0xc6), ("unused59", 0, 0, 0xc7), ("unused60", 0, 0, 0xc8),
    ("unused61", 0, 0, 0xc9), ("unused62", 0, 0, 0xca), ("unused63", 0, 0, 0xcb), ("unused64", 0, 0, 0xcc),
    ("unused65", 0, 0, 0xcd), ("unused66", 0, 0, 0xce), ("unused67", 0, 0, 0xcf), ("ldtoken", 4, 0, 0xd0),
    ("conv.u2", 0, 0, 0xd1), ("conv.u1", 0, 0, 0xd2), ("conv.i", 0, 0, 0xd3), ("conv.ovf.i", 0, 0, 0xd4),
    ("conv.ovf.u", 0, 0, 0xd5), ("add.ovf", 0, 0, 0xd6), ("add.ovf.un", 0, 0, 0xd7), ("mul.ovf", 0, 0, 0xd8),
    ("mul.ovf.un", 0, 0, 0xd9), ("sub.ovf", 0, 0, 0xda), ("sub.ovf.un", 0, 0, 0xdb), ("endfinally", 0, 5, 0xdc),
    ("leave", 9, 1, 0xdd), ("leave.s", 10, 1, 0xde), ("stind.i", 0, 0, 0xdf), ("conv.u", 0, 0, 0xe0),
    ("unused26", 0, 0, 0xe1), ("unused27", 0, 0, 0xe2), ("unused28", 0, 0, 0xe3), ("unused29", 0, 0, 0xe4),
    ("unused30", 0, 0, 0xe5), ("unused31", 0, 0, 0xe6), ("unused32", 0, 0, 0xe7), ("unused33", 0, 0, 0xe8),
    ("unused34", 0, 0, 0xe9), ("unused35", 0, 0, 0xea), ("unused36", 0, 0, 0xeb), ("unused37", 0, 0, 0xec),
    ("unused38", 0, 0, 0xed), ("unused39", 0, 0, 0xee), ("unused40", 0, 0, 0xef), ("unused41", 0, 0, 0xf0),
    ("unused42", 0, 0, 0xf1), ("unused43", 0, 0, 0xf2), ("unused44", 0, 0, 0xf3), ("unused45", 0, 0, 0xf4),
    ("unused46", 0, 0, 0xf5), ("unused47", 0, 0, 0xf6), ("unused48", 0, 0, 0xf7), ("prefix7", 0, 6, 0xf8),
    ("prefix6", 0, 6, 0xf9), ("prefix5", 0, 6, 0xfa), ("prefix4", 0, 6, 0xfb), ("prefix3", 0, 6, 0xfc),
    ("prefix2", 0, 6, 0xfd), ("prefix1", 0, 6, 0xfe), ("prefixref", 0, 6, 0xff), ("arglist", 0, 0, 0x100),
    ("ceq", 0, 0, 0x101), ("cgt", 0, 0, 0x102), ("cgt.un", 0, 0, 0x103), ("clt", 0, 0, 0x104),
    ("clt.un", 0, 0, 0x105), ("ldftn", 3, 0, 0x106), ("ldvirtftn", 3, 0, 0x107), ("unused56", 0, 0, 0x108),
    ("ldarg", 7, 0, 0x109), ("ldarga", 7, 0, 0x10a), ("starg", 7, 0, 0x10b), ("ldloc", 7, 0, 0x10c),
    ("ldloca", 7, 0, 0x10d), ("stloc", 7, 0, 0x10e), ("localloc", 0, 0, 0x10f), ("unused57", 0, 0, 0x110),
    ("endfilter", 0, 5, 0x111), ("unaligned.", 15, 6, 0x112), ("volatile.", 0, 6, 0x113), ("tail.", 0, 6, 0x114),
    ("initobj", 1, 0, 0x115), ("constrained.", 1, 6, 0x116), ("cpblk", 0, 0, 0x117), ("initblk", 0, 0, 0x118),
    ("no.", 15, 0, 0x119), ("rethrow", 0, 3, 0x11a), ("unused", 0, 0, 0x11b), ("sizeof", 1, 0, 0x11c),
    ("refanytype", 0, 0, 0x11d), ("readonly.", 0, 6, 0x11e), ("unused53", 0, 0, 0x11f), ("unused54", 0, 0, 0x120),
    ("unused55", 0, 0, 0x121), ("unused70", 0, 0, 0x122), ("illegal", 0, 6, 0x100), ("endmac", 0, 6, 0x100),
    ("mono_icall", 14, 0, 0x100), ("mono_objaddr", 0, 0, 0x101), ("mono_ldptr", 14, 0, 0x102),
    ("mono_vtaddr", 0, 0, 0x103), ("mono_newobj", 1, 0, 0x104), ("mono_retobj", 1, 5, 0x105),
    ("mono_ldnativeobj", 1, 5, 0x106), ("mono_cisinst", 1, 0, 0x107), ("mono_ccastclass", 1, 0, 0x108),
    ("mono_save_lmf", 0, 0, 0x109), ("mono_restore_lmf", 0, 0, 0x10a), ("mono_classconst", 14, 0, 0x10b),
    ("mono_not_taken", 0, 0, 0x10c), ("mono_tls", 14, 0, 0x10d), ("mono_icall_addr", 14, 0, 0x10e),
    ("mono_dyn_call", 0, 0, 0x10f), ("mono_memory_barrier", 14, 0, 0x110), ("unused71", 0, 0, 0x111),
    ("unused72", 0, 0, 0x112), ("mono_jit_icall_addr", 14, 0, 0x113), ("mono_ldptr_int_req_flag", 0, 0, 0x114),
    ("mono_ldptr_card_table", 0, 0, 0x115), ("mono_ldptr_nursery_start", 0, 0, 0x116),
    ("mono_ldptr_nursery_bits", 0, 0, 0x117), ("mono_calli_extra_arg", 6, 4, 0x118), ("mono_lddomain", 0, 0, 0x119),
    ("mono_atomic_store_i4", 14, 0, 0x11a), ("mono_save_last_error", 0, 0, 0x11b),
    ("mono_get_rgctx_arg", 0, 0, 0x11c), ("mono_ldptr_profiler_allocation_count", 0, 0, 0x11d),
    ("mono_ld_delegate_method_ptr", 0, 0, 0x11e), ("mono_rethrow", 0, 3, 0x11f),
];
