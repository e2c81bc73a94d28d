//! CIL as text: `mono/metadata/debug-helpers.h`.

use crate::call::call;
use crate::opcodes::{mono_opcode_name, mono_opcode_value, mono_opcodes};
use crate::text::{given, text};
use saki_metadata::Token;
use saki_types::Method;
use std::ffi::{CStr, c_char, c_void};
use std::fmt::Write as _;

/// `MonoDisHelper`: how the host wants its text. Formats are those of `printf`, of one unsigned number.
#[repr(C)]
pub struct MonoDisHelper {
    newline: *const c_char,
    label_format: *const c_char,
    label_target: *const c_char,
    /// Gives a text of the C heap to stand before the instruction at an offset.
    indenter: Option<unsafe extern "C" fn(*const MonoDisHelper, &'static Method, u32) -> *mut c_char>,
    /// Gives a text of the C heap for a token.
    tokener: Option<unsafe extern "C" fn(*const MonoDisHelper, &'static Method, u32) -> *mut c_char>,
    data: *mut c_void,
}

// SAFETY: nothing changes in the one that this file has.
unsafe impl Sync for MonoDisHelper {}

static USUAL: MonoDisHelper = MonoDisHelper {
    newline: c"\n".as_ptr(),
    label_format: c"IL_%04x: ".as_ptr(),
    label_target: c"IL_%04x".as_ptr(),
    indenter: None,
    tokener: None,
    data: std::ptr::null_mut(),
};

/// The bytes of an instruction, from its first one to the end of the code.
struct Reader<'a> {
    code: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    /// The next bytes; zeros behind the end.
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let bytes = self.code.get(self.at..).and_then(|rest| rest.first_chunk()).copied();
        self.at += N;
        bytes.unwrap_or([0; N])
    }

    fn int(&mut self) -> i32 {
        i32::from_le_bytes(self.take())
    }
}

/// A number in a format of `printf`.
fn formatted(format: &CStr, value: u32) -> String {
    const ROOM: usize = 256;
    let mut room = [0_u8; ROOM];
    // SAFETY: room for so many bytes; the format is one of an unsigned number, as the header says.
    unsafe { libc::snprintf(room.as_mut_ptr().cast(), ROOM, format.as_ptr(), value) };
    CStr::from_bytes_until_nul(&room).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A number as `printf` writes it with `%g`.
fn general(value: f64) -> String {
    const ROOM: usize = 32;
    let mut room = [0_u8; ROOM];
    // SAFETY: room for so many bytes, and a double for the format.
    unsafe { libc::snprintf(room.as_mut_ptr().cast(), ROOM, c"%g".as_ptr(), value) };
    CStr::from_bytes_until_nul(&room).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A text that the host gave, which is freed.
///
/// # Safety
/// Null, or a text of the C heap.
unsafe fn taken(given: *mut c_char) -> String {
    if given.is_null() {
        return String::new();
    }
    // SAFETY: not null, so a text that ends in NUL.
    let copy = unsafe { text(given) };
    // SAFETY: a text of the C heap.
    unsafe { libc::free(given.cast()) };
    copy
}

struct Disassembler<'a> {
    helper: &'a MonoDisHelper,
    method: &'static Method,
    code: &'a [u8],
}

impl Disassembler<'_> {
    fn target(&self, to: i64) -> Option<String> {
        let format = self.helper.label_target;
        // SAFETY: not null, so the host's text.
        (!format.is_null()).then(|| formatted(unsafe { CStr::from_ptr(format) }, to as u32))
    }

    /// A jump of so many bytes from an offset.
    fn jump(&self, from: usize, by: i32) -> String {
        self.target(from as i64 + i64::from(by)).unwrap_or_else(|| by.to_string())
    }

    fn operand(&self, kind: u8, reader: &mut Reader<'_>) -> String {
        match kind {
            // Types, fields, methods, tokens, signatures.
            1..=4 | 6 => {
                let token = reader.int() as u32;
                match self.helper.tokener {
                    // SAFETY: the host's function, which gives a text of the C heap.
                    Some(tokener) => unsafe { taken(tokener(self.helper, self.method, token)) },
                    None => format!("0x{token:08x}"),
                }
            }
            5 => {
                let token = Token(reader.int() as u32);
                let text = self.method.image().meta.user_string(token).unwrap_or_default();
                format!("\"{}\"", String::from_utf16_lossy(&text))
            }
            7 => u16::from_le_bytes(reader.take()).to_string(),
            8 => u8::from_le_bytes(reader.take()).to_string(),
            9 => {
                let by = reader.int();
                self.jump(reader.at, by)
            }
            10 => {
                let by = i8::from_le_bytes(reader.take());
                self.jump(reader.at, by.into())
            }
            11 => {
                let count = reader.int().max(0) as usize;
                let end = reader.at + 4 * count;
                let count = count.min(reader.code.len());
                let targets: Vec<String> = (0..count)
                    .map(|_| reader.int())
                    .map(|by| self.target(end as i64 + i64::from(by)).unwrap_or_else(|| by.to_string()))
                    .collect();
                format!("({})", targets.join(", "))
            }
            12 => general(f64::from_le_bytes(reader.take())),
            13 => general(f32::from_le_bytes(reader.take()).into()),
            14 => reader.int().to_string(),
            15 => i8::from_le_bytes(reader.take()).to_string(),
            16 => {
                // Mono does not show the number.
                reader.at += 8;
                String::new()
            }
            _ => String::new(),
        }
    }

    /// Adds the instruction at an offset; the offset after it.
    fn add(&self, out: &mut String, at: usize) -> usize {
        let helper = self.helper;
        if let Some(indenter) = helper.indenter {
            // SAFETY: the host's function, which gives a text of the C heap.
            out.push_str(&unsafe { taken(indenter(helper, self.method, at as u32)) });
        }
        if !helper.label_format.is_null() {
            // SAFETY: not null, so the host's text.
            out.push_str(&formatted(unsafe { CStr::from_ptr(helper.label_format) }, at as u32));
        }
        let rest = &self.code[at..];
        let mut last = rest.as_ptr();
        // SAFETY: the code up to its end.
        let number = unsafe { mono_opcode_value(&raw mut last, rest.as_ptr_range().end) };
        let Some(opcode) = usize::try_from(number).ok().and_then(|number| mono_opcodes.get(number)) else {
            return self.code.len();
        };
        let mut reader = Reader { code: self.code, at: at + (last.addr() - rest.as_ptr().addr()) + 1 };
        // SAFETY: the name of a known instruction.
        let name = unsafe { text(mono_opcode_name(number)) };
        // A String takes all that is written.
        let _ = write!(out, "{name:<10}{}", self.operand(opcode.argument(), &mut reader));
        if !helper.newline.is_null() {
            // SAFETY: not null, so the host's text.
            out.push_str(&unsafe { text(helper.newline) });
        }
        reader.at
    }
}

/// The text of instructions from `ip` on, up to `end`, or of one instruction; and the address after them.
fn disassemble(
    function: &str,
    helper: Option<&MonoDisHelper>,
    method: &'static Method,
    ip: *const u8,
    end: Option<*const u8>,
) -> (String, *const u8) {
    let body = call(function, |_| method.body());
    let Ok(Some(body)) = body else {
        return ("could not disassemble, the method has no code".to_owned(), end.unwrap_or(ip));
    };
    let start = body.code.as_ptr();
    let disassembler = Disassembler { helper: helper.unwrap_or(&USUAL), method, code: body.code };
    let mut out = String::new();
    let mut at = ip.addr().saturating_sub(start.addr());
    let end = end.map_or(at + 1, |end| end.addr().saturating_sub(start.addr())).min(body.code.len());
    while at < end {
        at = disassembler.add(&mut out, at);
    }
    (out, start.wrapping_add(at))
}

/// The instruction at `ip` in the method's code as text, for `mono_free`, and the address after it. Without a helper as
/// "IL_0000: ldarg.0   " and a new line.
///
/// # Safety
/// `ip` lies in the method's code; `after` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_disasm_code_one(
    helper: Option<&MonoDisHelper>,
    method: &'static Method,
    ip: *const u8,
    after: *mut *const u8,
) -> *mut c_char {
    let (text, end) = disassemble("mono_disasm_code_one", helper, method, ip, None);
    // SAFETY: null or the host's variable.
    unsafe { crate::call::put(after, end) };
    given(text.as_bytes())
}

/// [`mono_disasm_code_one`] of the instructions from `ip` up to `end`.
///
/// # Safety
/// Both lie in the method's code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_disasm_code(
    helper: Option<&MonoDisHelper>,
    method: &'static Method,
    ip: *const u8,
    end: *const u8,
) -> *mut c_char {
    given(disassemble("mono_disasm_code", helper, method, ip, Some(end)).0.as_bytes())
}
