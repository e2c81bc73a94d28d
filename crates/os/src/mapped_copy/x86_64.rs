//! `rep movsb` between two labels. Intel's and AMD's processors since 2013 copy whole lines by it.

use std::arch::global_asm;

global_asm!(
    ".pushsection .text.saki_mapped_copy,\"ax\",@progbits",
    ".p2align 4",
    ".globl saki_mapped_copy",
    ".hidden saki_mapped_copy",
    ".type saki_mapped_copy,@function",
    "saki_mapped_copy:",
    ".cfi_startproc",
    "    mov rcx, rdx",
    ".globl saki_mapped_copy_copying",
    ".hidden saki_mapped_copy_copying",
    "saki_mapped_copy_copying:",
    "    rep movsb",
    "    xor eax, eax",
    "    ret",
    ".globl saki_mapped_copy_failure",
    ".hidden saki_mapped_copy_failure",
    "saki_mapped_copy_failure:",
    "    mov eax, 1",
    "    ret",
    ".cfi_endproc",
    ".size saki_mapped_copy, . - saki_mapped_copy",
    ".popsection",
);
