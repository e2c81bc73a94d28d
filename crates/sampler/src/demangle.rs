//! Rust's mangled names as paths: enough to read a profile by, not every detail.
//!
//! Both manglings are read: the older one (`_ZN…E`, with a hash at its end) and version 0 (`_R…`, RFC 2603), of which generic arguments are left
//! out. What is neither stays as it is. Left out: C++.

/// The name for people.
pub fn demangle(name: &str) -> String {
    let readable = match name {
        _ if name.starts_with("_ZN") => legacy(&name[3..]),
        _ if name.starts_with("_R") => {
            let mut reader = Reader { text: name.as_bytes(), at: 2, depth: 0 };
            reader.path()
        }
        _ => None,
    };
    readable.unwrap_or_else(|| name.to_owned())
}

/// `17h` and 16 digits.
fn is_hash(part: &str) -> bool {
    part.len() == 17 && part.starts_with('h') && part[1..].bytes().all(|b| b.is_ascii_hexdigit())
}

fn legacy(mut rest: &str) -> Option<String> {
    let mut parts = Vec::new();
    while !rest.starts_with('E') {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let len: usize = rest[..digits].parse().ok()?;
        parts.push(rest.get(digits..digits.checked_add(len)?)?);
        rest = &rest[digits + len..];
    }
    if parts.pop_if(|part| is_hash(part)).is_none_or(|_| parts.is_empty()) {
        return None;
    }
    let mut name = parts.join("::");
    for (from, to) in [
        ("$LT$", "<"),
        ("$GT$", ">"),
        ("$RF$", "&"),
        ("$BP$", "*"),
        ("$LP$", "("),
        ("$RP$", ")"),
        ("$C$", ","),
        ("$u20$", " "),
        ("$u27$", "'"),
        ("$u5b$", "["),
        ("$u5d$", "]"),
        ("$u7b$", "{"),
        ("$u7d$", "}"),
        ("$u3b$", ";"),
        ("$u2b$", "+"),
        ("$u22$", "\""),
        ("..", "::"),
    ] {
        name = name.replace(from, to);
    }
    Some(name.replace("::_<", "::<"))
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    depth: u32,
}

impl Reader<'_> {
    const MAX_DEPTH: u32 = 64;

    fn next(&mut self) -> Option<u8> {
        let byte = *self.text.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn eat(&mut self, byte: u8) -> bool {
        let is_there = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(is_there);
        is_there
    }

    /// A number in base 62, ended by `_`.
    fn base_62(&mut self) -> Option<usize> {
        let mut value = 0_usize;
        if self.eat(b'_') {
            return Some(0);
        }
        loop {
            let digit = match self.next()? {
                b'_' => return value.checked_add(1),
                c @ b'0'..=b'9' => c - b'0',
                c @ b'a'..=b'z' => c - b'a' + 10,
                c @ b'A'..=b'Z' => c - b'A' + 36,
                _ => return None,
            };
            value = value.checked_mul(62)?.checked_add(digit.into())?;
        }
    }

    fn identifier(&mut self) -> Option<String> {
        if self.eat(b's') {
            self.base_62()?;
        }
        let is_punycode = self.eat(b'u');
        let mut len = 0_usize;
        while let Some(digit) = self.text.get(self.at).filter(|b| b.is_ascii_digit()) {
            len = len.checked_mul(10)?.checked_add((digit - b'0').into())?;
            self.at += 1;
            if len == 0 {
                break;
            }
        }
        self.eat(b'_');
        let bytes = self.text.get(self.at..self.at.checked_add(len)?)?;
        self.at += len;
        let text = String::from_utf8_lossy(bytes).into_owned();
        Some(if is_punycode { format!("punycode{{{text}}}") } else { text })
    }

    fn back_reference<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let target = self.base_62()?.checked_add(2).filter(|target| *target < self.at)?;
        let after = std::mem::replace(&mut self.at, target);
        let result = read(self);
        self.at = after;
        result
    }

    fn path(&mut self) -> Option<String> {
        self.depth += 1;
        if self.depth > Self::MAX_DEPTH {
            return None;
        }
        let path = match self.next()? {
            b'C' => self.identifier()?,
            b'N' => {
                let namespace = self.next()?;
                let parent = self.path()?;
                let name = self.identifier()?;
                match namespace {
                    b'C' => format!("{parent}::{{closure}}"),
                    b'A'..=b'Z' => format!("{parent}::{{{name}}}"),
                    _ if name.is_empty() => parent,
                    _ => format!("{parent}::{name}"),
                }
            }
            b'M' => {
                self.implementation_path()?;
                format!("<{}>", self.ty()?)
            }
            b'X' => {
                self.implementation_path()?;
                let ty = self.ty()?;
                format!("<{ty} as {}>", self.path()?)
            }
            b'Y' => {
                let ty = self.ty()?;
                format!("<{ty} as {}>", self.path()?)
            }
            b'I' => {
                let path = self.path()?;
                self.generic_arguments()?;
                path
            }
            b'B' => self.back_reference(Reader::path)?,
            _ => return None,
        };
        self.depth -= 1;
        Some(path)
    }

    fn implementation_path(&mut self) -> Option<()> {
        if self.eat(b's') {
            self.base_62()?;
        }
        self.path().map(|_| ())
    }

    fn generic_arguments(&mut self) -> Option<()> {
        while !self.eat(b'E') {
            if self.eat(b'L') {
                self.base_62()?;
            } else if self.eat(b'K') {
                self.constant()?;
            } else {
                self.ty()?;
            }
        }
        Some(())
    }

    /// A type and a number in hexadecimal.
    fn constant(&mut self) -> Option<()> {
        if self.eat(b'B') {
            return self.back_reference(Reader::constant);
        }
        if self.eat(b'p') {
            return Some(());
        }
        self.ty()?;
        while self.next()? != b'_' {}
        Some(())
    }

    fn ty(&mut self) -> Option<String> {
        self.depth += 1;
        if self.depth > Self::MAX_DEPTH {
            return None;
        }
        let text = match self.next()? {
            b'R' | b'Q' => {
                if self.eat(b'L') {
                    self.base_62()?;
                }
                format!("&{}", self.ty()?)
            }
            b'P' | b'O' => format!("*{}", self.ty()?),
            b'S' => format!("[{}]", self.ty()?),
            b'A' => {
                let element = self.ty()?;
                self.constant()?;
                format!("[{element}; _]")
            }
            b'T' => {
                while !self.eat(b'E') {
                    self.ty()?;
                }
                "(...)".into()
            }
            b'F' => {
                if self.eat(b'G') {
                    self.base_62()?;
                }
                self.eat(b'U');
                if self.eat(b'K') && !self.eat(b'C') {
                    self.identifier()?;
                }
                while !self.eat(b'E') {
                    self.ty()?;
                }
                self.ty()?;
                "fn".into()
            }
            b'D' => {
                if self.eat(b'G') {
                    self.base_62()?;
                }
                let mut name = String::from("dyn");
                while !self.eat(b'E') {
                    name = format!("dyn {}", self.path()?);
                    while self.eat(b'p') {
                        self.identifier()?;
                        self.ty()?;
                    }
                }
                if self.eat(b'L') {
                    self.base_62()?;
                }
                name
            }
            b'B' => self.back_reference(Reader::ty)?,
            b'C' | b'N' | b'M' | b'X' | b'Y' | b'I' => {
                self.at -= 1;
                self.path()?
            }
            basic => basic_type(basic)?.to_owned(),
        };
        self.depth -= 1;
        Some(text)
    }
}

fn basic_type(letter: u8) -> Option<&'static str> {
    Some(match letter {
        b'a' => "i8",
        b'b' => "bool",
        b'c' => "char",
        b'd' => "f64",
        b'e' => "str",
        b'f' => "f32",
        b'h' => "u8",
        b'i' => "isize",
        b'j' => "usize",
        b'l' => "i32",
        b'm' => "u32",
        b'n' => "i128",
        b'o' => "u128",
        b's' => "i16",
        b't' => "u16",
        b'u' => "()",
        b'v' => "...",
        b'x' => "i64",
        b'y' => "u64",
        b'z' => "!",
        b'p' => "_",
        _ => return None,
    })
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
            "_<alloc::string::String as core::fmt::Write>::write_str",
        );
        check(
            "_RINvMNtCsgEmfK2I1SDS_4core3stre12trim_matchesNvMNtNtB5_4char7methodsc13is_whitespaceECsjrHSEGnQ3l9_3std",
            "<str>::trim_matches",
        );
        check("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
        check("_RNCNvCs1234_7mycrate3foo0B3_", "mycrate::foo::{closure}");
        check("_ZN3std", "_ZN3std");
        check("_RNvB", "_RNvB");
    }
}
