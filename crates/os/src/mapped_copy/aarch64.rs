//! A loop over bytes, whose only load lies between two labels.

use std::arch::global_asm;

global_asm!(
    ".pushsection .text.saki_mapped_copy,\"ax\",@progbits",
    ".p2align 4",
    ".globl saki_mapped_copy",
    ".hidden saki_mapped_copy",
    ".type saki_mapped_copy,@function",
    "saki_mapped_copy:",
    ".cfi_startproc",
    "    cbz x2, 2f",
    "1:",
    ".globl saki_mapped_copy_copying",
    ".hidden saki_mapped_copy_copying",
    "saki_mapped_copy_copying:",
    "    ldrb w3, [x1], #1",
    "    strb w3, [x0], #1",
    "    subs x2, x2, #1",
    "    b.ne 1b",
    "2:",
    "    mov w0, #0",
    "    ret",
    ".globl saki_mapped_copy_failure",
    ".hidden saki_mapped_copy_failure",
    "saki_mapped_copy_failure:",
    "    mov w0, #1",
    "    ret",
    ".cfi_endproc",
    ".size saki_mapped_copy, . - saki_mapped_copy",
    ".popsection",
);
