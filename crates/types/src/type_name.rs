//! Parsing type names as reflection writes them: "Ns.Outer+Inner`1[[System.Int32, mscorlib]][,]&, Assembly,
//! Version=1.0.0.0".
//!
//! `\` escapes the next character. Left out: looking anything up (`accessors`, and `type_lookup` of crate `reflect`).

/// What follows a type's name, innermost first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Modifier {
    ByRef,
    Pointer,
    SzArray,
    /// An array type with bounds, of this rank: `[*]` has rank 1.
    Array(u32),
}

/// A parsed type name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TypeName {
    pub namespace: String,
    pub name: String,
    /// Names of the nested types, outermost first.
    pub nested: Vec<String>,
    pub arguments: Vec<TypeName>,
    pub modifiers: Vec<Modifier>,
    /// Display name of the assembly.
    pub assembly: Option<String>,
}

impl TypeName {
    /// "Ns.Outer+Inner", without arguments and modifiers.
    pub fn definition_name(&self) -> String {
        let mut out = crate::identity::qualified(&self.namespace, &self.name);
        for name in &self.nested {
            out.push('+');
            out.push_str(name);
        }
        out
    }
}

/// Parses a complete type name. None when it is malformed.
pub fn parse_type_name(text: &str) -> Option<TypeName> {
    let mut parser = Parser { chars: text.chars().collect(), at: 0 };
    let name = parser.type_name(false)?;
    (parser.at == parser.chars.len()).then_some(name)
}

/// Deepest nesting of generic arguments.
const MAX_DEPTH: usize = 100;

struct Parser {
    chars: Vec<char>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    fn type_name(&mut self, in_arguments: bool) -> Option<TypeName> {
        self.nested_type_name(in_arguments, 0)
    }

    fn nested_type_name(&mut self, in_arguments: bool, depth: usize) -> Option<TypeName> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.skip_spaces();
        let mut out = self.names()?;
        let mut is_byref = false;
        while let Some(c) = self.peek() {
            match c {
                '&' if !is_byref => {
                    is_byref = true;
                    out.modifiers.push(Modifier::ByRef);
                    self.at += 1;
                }
                '*' if !is_byref => {
                    out.modifiers.push(Modifier::Pointer);
                    self.at += 1;
                }
                '[' if !is_byref => {
                    self.at += 1;
                    if matches!(self.peek()?, ',' | '*' | ']') {
                        out.modifiers.push(self.array_shape()?);
                    } else if out.modifiers.is_empty() && out.arguments.is_empty() {
                        out.arguments = self.arguments(depth)?;
                    } else {
                        return None;
                    }
                }
                ',' | ']' if in_arguments => break,
                ',' => {
                    self.at += 1;
                    self.skip_spaces();
                    let rest: String = self.chars[self.at..].iter().collect();
                    if rest.is_empty() {
                        return None;
                    }
                    out.assembly = Some(rest);
                    self.at = self.chars.len();
                }
                _ => return None,
            }
        }
        Some(out)
    }

    /// Namespace, name and nested names, unescaped, up to the first modifier.
    fn names(&mut self) -> Option<TypeName> {
        let mut parts = vec![(String::new(), None)];
        while let Some(c) = self.peek() {
            match c {
                '&' | '*' | '[' | ',' | ']' => break,
                // Both as Mono takes them.
                '+' | '/' => parts.push((String::new(), None)),
                _ => {
                    let (part, last_point) = parts.last_mut()?;
                    if c == '\\' {
                        self.at += 1;
                        part.push(self.peek()?);
                    } else {
                        if c == '.' {
                            *last_point = Some(part.len());
                        }
                        part.push(c);
                    }
                }
            }
            self.at += 1;
        }
        let mut parts = parts.into_iter();
        let (outer, last_point) = parts.next()?;
        let (namespace, name) = match last_point {
            Some(point) => (outer[..point].to_string(), outer[point + 1..].to_string()),
            None => (String::new(), outer),
        };
        if name.is_empty() {
            return None;
        }
        Some(TypeName { namespace, name, nested: parts.map(|(name, _)| name).collect(), ..TypeName::default() })
    }

    /// After "[": ",,]", "*]" or "]".
    fn array_shape(&mut self) -> Option<Modifier> {
        let (mut rank, mut has_bounds) = (1, false);
        loop {
            let c = self.peek()?;
            self.at += 1;
            match c {
                ']' => break,
                ',' => rank += 1,
                '*' => has_bounds = true,
                _ => return None,
            }
        }
        match (rank, has_bounds) {
            (1, false) => Some(Modifier::SzArray),
            (1, true) => Some(Modifier::Array(1)),
            (_, true) => None,
            (rank, false) => Some(Modifier::Array(rank)),
        }
    }

    /// After "[": arguments, each bare or in brackets of its own with an assembly, and the closing "]".
    fn arguments(&mut self, depth: usize) -> Option<Vec<TypeName>> {
        let mut out = Vec::new();
        loop {
            self.skip_spaces();
            let is_bracketed = self.peek()? == '[';
            if is_bracketed {
                self.at += 1;
            }
            let mut argument = self.nested_type_name(true, depth + 1)?;
            if is_bracketed {
                if self.peek()? == ',' {
                    self.at += 1;
                    self.skip_spaces();
                    let start = self.at;
                    while self.peek()? != ']' {
                        self.at += 1;
                    }
                    let assembly: String = self.chars[start..self.at].iter().collect();
                    if assembly.is_empty() {
                        return None;
                    }
                    argument.assembly = Some(assembly);
                }
                if self.peek()? != ']' {
                    return None;
                }
                self.at += 1;
            }
            out.push(argument);
            self.skip_spaces();
            let separator = self.peek()?;
            self.at += 1;
            match separator {
                ']' => return Some(out),
                ',' => {}
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Modifier, parse_type_name};

    #[test]
    fn names_and_nesting() {
        let name = parse_type_name("A.B.Outer+Inner+Deep, My.Asm, Version=1.0.0.0").unwrap();
        assert_eq!((name.namespace.as_str(), name.name.as_str()), ("A.B", "Outer"));
        assert_eq!(name.nested, ["Inner", "Deep"]);
        assert_eq!(name.assembly.as_deref(), Some("My.Asm, Version=1.0.0.0"));
        assert_eq!(parse_type_name(r"Odd\+Name\,X").unwrap().name, "Odd+Name,X");
    }

    #[test]
    fn generic_arguments() {
        let text = "List`1[[Map`2[System.Int32,[Foo, Bar, Culture=neutral]][], mscorlib]][,]&";
        let name = parse_type_name(text).unwrap();
        assert_eq!(name.modifiers, [Modifier::Array(2), Modifier::ByRef]);
        let map = &name.arguments[0];
        assert_eq!(map.assembly.as_deref(), Some("mscorlib"));
        assert_eq!(map.modifiers, [Modifier::SzArray]);
        assert_eq!(map.arguments[0].definition_name(), "System.Int32");
        assert_eq!(map.arguments[1].assembly.as_deref(), Some("Bar, Culture=neutral"));
    }

    #[test]
    fn malformed() {
        for text in ["", "A[", "A[B", "A&&", "A&*", "A[,*]", "A,", "A[[B,]]", "A]", "A[]B", "A[][B]"] {
            assert!(parse_type_name(text).is_none(), "{text}");
        }
        assert_eq!(parse_type_name("A[*]").unwrap().modifiers, [Modifier::Array(1)]);
    }
    #[test]
    fn what_is_escaped_is_part_of_the_name() {
        let check = |text: &str, namespace: &str, name: &str, nested: &[&str]| {
            let parsed = parse_type_name(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((parsed.namespace.as_str(), parsed.name.as_str()), (namespace, name), "{text}");
            assert_eq!(parsed.nested, nested, "{text}");
        };
        check("A", "", "A", &[]);
        check("  A.B", "A", "B", &[]);
        check(r"A\.B", "", "A.B", &[]);
        check(r"N.A\[0\]", "N", "A[0]", &[]);
        check(r"A\\B", "", r"A\B", &[]);
        check("A/B+C", "", "A", &["B", "C"]);
        check(".A", "", "A", &[]);
        check("A..B", "A.", "B", &[]);
        check("Größe", "", "Größe", &[]);
    }

    #[test]
    fn modifiers_stand_in_order_and_a_reference_last() {
        let check = |text: &str, expected: &[Modifier]| {
            assert_eq!(parse_type_name(text).unwrap_or_else(|| panic!("{text}")).modifiers, expected, "{text}");
        };
        use Modifier::{Array, ByRef, Pointer, SzArray};
        check("A[]", &[SzArray]);
        check("A[][,]", &[SzArray, Array(2)]);
        check("A**&", &[Pointer, Pointer, ByRef]);
        check("A[*][]", &[Array(1), SzArray]);
        check("A[[B]][]*", &[SzArray, Pointer]);
    }

    #[test]
    fn nesting_has_an_end() {
        let nested = |levels: usize| format!("{}A{}", "A[".repeat(levels), "]".repeat(levels));
        assert!(parse_type_name(&nested(50)).is_some());
        assert!(parse_type_name(&nested(100_000)).is_none());
    }

    #[test]
    fn fuzz_type_names() {
        let seeds = [
            "List`1[[Map`2[System.Int32,[Foo, Bar, Culture=neutral]][], mscorlib]][,]&",
            r"A.B.Outer+Inner\+x/Deep*&, My.Asm, Version=1.0.0.0",
            "A[*][,,][B,C[]]",
        ];
        saki_mutation::survive("type_names", &seeds.map(|seed| seed.as_bytes().to_vec()), |bytes| {
            if let Some(parsed) = parse_type_name(&String::from_utf8_lossy(bytes)) {
                assert!(!parsed.name.is_empty());
            }
        });
    }
}
