//! Demangles names of Rust and C++. Other names stay as they are.

use cpp_demangle::{DemangleOptions, Symbol};

/// The name for people, without hashes, parameters and return types.
pub fn demangle(name: &str) -> String {
    if let Ok(name) = rustc_demangle::try_demangle(name) {
        return format!("{name:#}");
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    let symbol = name.starts_with("_Z").then(|| Symbol::new(name).ok()).flatten();
    symbol.and_then(|symbol| symbol.demangle_with_options(&options).ok()).unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_paths() {
        let check = |name: &str, expect: &str| assert_eq!(demangle(name), expect);
        check("memcpy", "memcpy");
        check("_ZN9saki_code6x86_6410saki_enter17h92faf213c17b2c6fE", "saki_code::x86_64::saki_enter");
        check(
            "_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Write$GT$9write_str17h0123456789abcdefE",
            "<alloc::string::String as core::fmt::Write>::write_str",
        );
        check(
            "_RINvMNtCsgEmfK2I1SDS_4core3stre12trim_matchesNvMNtNtB5_4char7methodsc13is_whitespaceECsjrHSEGnQ3l9_3std",
            "<str>::trim_matches::<<char>::is_whitespace>",
        );
        check("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
        check("_RNCNvCs1234_7mycrate3foo0B3_", "mycrate::foo::{closure#0}");
        check("_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back");
        check("_ZN3std", "_ZN3std");
        check("_RNvB", "_RNvB");
    }
}
