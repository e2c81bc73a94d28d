//! Demangles names of Rust and C++. Other names stay as they are.

use cpp_demangle::{DemangleOptions, Symbol};

/// The name for people, without hashes, parameters and return types.
pub fn demangle(name: &str) -> String {
    if let Ok(name) = rustc_demangle::try_demangle(name) {
        let name = format!("{name:#}");
        return entered_function(&name).map_or(name.clone(), str::to_owned);
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    let symbol = name.starts_with("_Z").then(|| Symbol::new(name).ok()).flatten();
    symbol.and_then(|symbol| symbol.demangle_with_options(&options).ok()).unwrap_or_else(|| name.to_owned())
}

/// Compiled code calls internal calls and helpers by entries that are made from their functions (`runtime::crossings`), and most functions
/// are inlined into their entries. The function's name says more than the entry's, whose first generic argument it is.
fn entered_function(name: &str) -> Option<&str> {
    let (_, arguments) = name.strip_prefix("saki_runtime::exec::crossings::call")?.split_once("::<")?;
    let mut depth = 0;
    let end = arguments.find(|c| {
        match c {
            '<' => depth += 1,
            '>' if depth > 0 => depth -= 1,
            ',' | '>' if depth == 0 => return true,
            _ => {}
        }
        false
    })?;
    Some(&arguments[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_internal_calls_go_by_their_functions() {
        let check = |name: &str, expect: Option<&str>| assert_eq!(entered_function(name), expect);
        let entry = "saki_runtime::exec::crossings::call";
        check(
            &format!("{entry}1::<saki_icall::system::array::get_rank, i32>"),
            Some("saki_icall::system::array::get_rank"),
        );
        check(&format!("{entry}0::<a::refuse::<u8, <b::C as D>::E>, i32>"), Some("a::refuse::<u8, <b::C as D>::E>"));
        check(&format!("{entry}0::<a::b>"), Some("a::b"));
        check("saki_runtime::exec::crossings::Kind::takes", None);
        check("memcpy", None);
    }

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
