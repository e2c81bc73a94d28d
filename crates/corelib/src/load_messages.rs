//! The messages of exceptions for files and types that cannot be loaded, which managed code makes of an error number
//! when a program asks for them.
//!
//! Left out: messages of exceptions that the machine itself throws, which have a text from the start.

use crate::arguments::StringPlace;
use saki_runtime::{CurrentThread, InternalCall, Managed, Str};

/// An error number, its text, and whether the text is enough: otherwise the number follows.
const TEXTS: &[(u32, &str, bool)] = &[
    (0x8007_0002, "The system cannot find the file specified.\n", true),
    (0x8007_0003, "The system cannot find the path specified.\n", true),
    (0x8007_0005, "Access is denied.\n", true),
    (0x8007_000B, "An attempt was made to load a program with an incorrect format.\n", true),
    (0x8007_000E, "Not enough storage is available to complete this operation.\n", false),
    (0x8007_0020, "The process cannot access the file because it is being used by another process.\n", false),
    (0x8007_0057, "The parameter is incorrect.\n", false),
    (0x8013_1018, "The module was expected to contain an assembly manifest.", true),
    (
        0x8013_101B,
        "This assembly is built by a runtime newer than the currently loaded runtime and cannot be loaded.",
        true,
    ),
    (0x8013_1040, "The located assembly's manifest definition does not match the assembly reference.", false),
    (0x8013_1047, "The given assembly name was invalid.", false),
    (0x8013_1107, "Old version error.", false),
    (0x8013_1515, "Operation is not supported.", false),
    (0x8013_1534, "Uncaught exception during type initialization.", false),
    (0x8013_1620, "Error during managed I/O.", false),
    (0x8013_1621, "Could not find or load a specific file.", false),
];

/// Error numbers with names.
const NAMES: &[(u32, &str)] = &[
    (0x8000_4001, "E_NOTIMPL"),
    (0x8000_4002, "E_NOINTERFACE"),
    (0x8000_4003, "E_POINTER"),
    (0x8000_4004, "E_ABORT"),
    (0x8000_4005, "E_FAIL"),
    (0x8000_FFFF, "E_UNEXPECTED"),
    (0x8007_0006, "E_HANDLE"),
    (0x8007_000E, "E_OUTOFMEMORY"),
    (0x8007_0057, "E_INVALIDARG"),
];

fn text_of(error: u32) -> String {
    /// The numbers of .NET's own errors, and what its resources add to their lower half.
    const OWN_ERRORS: u32 = 0x8013;
    const FIRST_RESOURCE: u32 = 0x6000;
    let known = TEXTS.iter().find(|(number, ..)| *number == error);
    let text = match known {
        Some((_, text, true)) => return (*text).to_owned(),
        Some((_, text, false)) => (*text).to_owned(),
        None if error >> 16 == OWN_ERRORS => {
            format!("Undefined resource string ID:0x{:X}", (error & 0xffff) + FIRST_RESOURCE)
        }
        None => format!("Error {error}"),
    };
    match NAMES.iter().find(|(number, _)| *number == error) {
        Some((_, name)) => format!("{text} (0x{error:08X} ({name}))"),
        None => format!("{text} (0x{error:08X})"),
    }
}

fn message_of_error(t: CurrentThread, error: i32, text: StringPlace) -> Managed<()> {
    text.set(t, Some(Str::new(t, &text_of(error.cast_unsigned()))?));
    Ok(())
}

/// The format of a message; managed code puts the file's name and `message_of_error` into it.
fn file_load_format(t: CurrentThread, _error: i32, text: StringPlace) -> Managed<()> {
    text.set(t, Some(Str::new(t, "Could not load file or assembly '{0}'. {1}")?));
    Ok(())
}

/// The format of a message; managed code puts the names of the type and of the assembly into it.
fn type_load_format(t: CurrentThread, _resource: i32, text: StringPlace) -> Managed<()> {
    text.set(t, Some(Str::new(t, "Could not load type '{0}' from assembly '{1}'.")?));
    Ok(())
}

/// The internal calls of FileLoadException and TypeLoadException.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net QCall::FileLoadException_GetMessageForHR", &message_of_error),
    InternalCall::new("@net QCall::GetFileLoadExceptionMessage", &file_load_format),
    InternalCall::new("@net QCall::GetTypeLoadExceptionMessage", &type_load_format),
];

#[cfg(test)]
mod tests {
    use super::text_of;

    #[test]
    fn numbers_follow_texts_that_do_not_say_all() {
        assert_eq!(text_of(0x8007_0002), "The system cannot find the file specified.\n");
        assert_eq!(text_of(0x8007_0057), "The parameter is incorrect.\n (0x80070057 (E_INVALIDARG))");
        assert_eq!(text_of(0x8013_1052), "Undefined resource string ID:0x7052 (0x80131052)");
        assert_eq!(text_of(0x8000_4005), "Error 2147500037 (0x80004005 (E_FAIL))");
        assert_eq!(text_of(0x1234_5678), "Error 305419896 (0x12345678)");
    }
}
