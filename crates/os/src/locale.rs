//! The C library's locale: that of the user, as C programs take it up, and that of the machine's own numbers.
//!
//! Invariant: what the machine itself formats does not depend on the user's locale. Left out: cultures of the class
//! library, which has tables of its own.

use std::ffi::CStr;
use std::sync::OnceLock;

/// Takes up the locale that the environment asks for, in all categories: translations (gettext), input methods and the
/// messages of native libraries follow it. For the process's only thread, once, in a program of our own: a library
/// leaves its host's locale alone. An unknown locale changes nothing.
pub fn take_up() {
    // SAFETY: no other thread reads the locale meanwhile.
    unsafe { libc::setlocale(libc::LC_ALL, c"".as_ptr()) };
}

/// The name of the character set that the environment asks for, whatever the process has taken up; that of the plain C
/// locale if it asks for an unknown one.
pub fn charset() -> String {
    // SAFETY: the name is a C string, and there is no locale to change.
    let user = unsafe { libc::newlocale(libc::LC_CTYPE_MASK, c"".as_ptr(), std::ptr::null_mut()) };
    if user.is_null() {
        return in_plain_locale(codeset);
    }
    // SAFETY: a locale of this function's own; the thread's is put back below.
    let before = unsafe { libc::uselocale(user) };
    let name = codeset();
    // SAFETY: what was there before.
    unsafe { libc::uselocale(before) };
    // SAFETY: made above, and used no more.
    unsafe { libc::freelocale(user) };
    name
}

fn codeset() -> String {
    // SAFETY: gives a string that lives until the thread's locale changes.
    let name = unsafe { CStr::from_ptr(libc::nl_langinfo(libc::CODESET)) };
    name.to_string_lossy().into_owned()
}

/// Runs `f`, whose calls of the C library write and read numbers as in the plain C locale. It does not wait: the locale
/// is the OS thread's.
pub fn in_plain_locale<R>(f: impl FnOnce() -> R) -> R {
    static PLAIN: OnceLock<usize> = OnceLock::new();
    let plain = *PLAIN.get_or_init(|| {
        // SAFETY: the name is a C string, and there is no locale to change.
        unsafe { libc::newlocale(libc::LC_ALL_MASK, c"C".as_ptr(), std::ptr::null_mut()) as usize }
    });
    // SAFETY: a locale that is never freed; a null one leaves the thread's as it is.
    let before = unsafe { libc::uselocale(plain as libc::locale_t) };
    let result = f();
    // SAFETY: what was there before.
    unsafe { libc::uselocale(before) };
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A locale with another decimal point, from the sources that the system has, or one of those that are installed.
    fn with_comma() -> Option<libc::locale_t> {
        ["de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8"].into_iter().find_map(|name| {
            let name = std::ffi::CString::new(name).ok()?;
            // SAFETY: the name is a C string, and there is no locale to change.
            let locale = unsafe { libc::newlocale(libc::LC_ALL_MASK, name.as_ptr(), std::ptr::null_mut()) };
            (!locale.is_null()).then_some(locale)
        })
    }

    fn written() -> String {
        let mut buffer = [0_u8; 16];
        // SAFETY: the format takes one number, and the buffer's length is given.
        unsafe { libc::snprintf(buffer.as_mut_ptr().cast(), buffer.len(), c"%.1f".as_ptr(), 1.5_f64) };
        String::from_utf8_lossy(&buffer[..3]).into_owned()
    }

    #[test]
    fn numbers_of_the_machine_have_a_point_in_every_locale() {
        assert_eq!(in_plain_locale(written), "1.5");
        let Some(comma) = with_comma() else { return eprintln!("partly skipped: no locale with a decimal comma") };
        // SAFETY: a locale that is not freed.
        let before = unsafe { libc::uselocale(comma) };
        let seen = [written(), in_plain_locale(written), written()];
        // SAFETY: what was there before.
        unsafe { libc::uselocale(before) };
        assert_eq!(seen, ["1,5", "1.5", "1,5"]);
    }
}
