//! The format of `contract.txt`: a section per assembly, a line per member; a line has an optional version mark, a kind
//! and a signature.
//!
//! ```text
//! [mscorlib]
//! call static System.GC::GetTotalMemory(System.Boolean) System.Int64
//! @6.8 lack Mono.Interop.ComInteropProxy::FindProxy(System.IntPtr) Mono.Interop.ComInteropProxy
//! ```

use crate::{Version, Versions, split_mark};

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LineKind {
    /// An internal call that Saki implements.
    Call,
    /// An internal call that has no function in Saki: it is replaced by other means or not supported.
    Lack,
    /// A field that Rust code reads or writes.
    Field,
    /// The instance fields, in order, of a structure that Rust code mirrors.
    Layout,
    /// A method that the machine calls, or whose code it replaces.
    Method,
    /// A C symbol that the program exports, in the section "native".
    Export,
    /// A function that P/Invokes name but that Mono's libraries lack as well; in the section "native".
    Absent,
}

impl LineKind {
    const NAMES: [(&'static str, LineKind); 7] = [
        ("call", LineKind::Call),
        ("lack", LineKind::Lack),
        ("field", LineKind::Field),
        ("layout", LineKind::Layout),
        ("method", LineKind::Method),
        ("export", LineKind::Export),
        ("absent", LineKind::Absent),
    ];

    /// The word with which lines of this kind begin.
    pub fn name(self) -> &'static str {
        LineKind::NAMES.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// Whether the line names an internal call, be it there or not.
    pub fn is_call(self) -> bool {
        matches!(self, LineKind::Call | LineKind::Lack)
    }
}

/// A line of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContractLine<'a> {
    pub kind: LineKind,
    /// The signature: "static Namespace.Type::Member(PARAMETERS) RESULT"; the name of a C symbol.
    pub text: &'a str,
    pub versions: Versions,
}

impl<'a> ContractLine<'a> {
    /// Whether the line says something about this version.
    pub fn holds_for(&self, version: Version) -> bool {
        self.versions.contains(version)
    }

    /// Type and name: ("Namespace.Outer+Inner", "Member").
    pub fn member(&self) -> (&'a str, &'a str) {
        let text = self.text.strip_prefix("static ").unwrap_or(self.text);
        if self.kind == LineKind::Layout {
            return (text.split('(').next().unwrap_or(text), "");
        }
        let (owner, rest) = text.split_once("::").unwrap_or(("", text));
        let name = if self.kind == LineKind::Field {
            rest.split(' ').next().unwrap_or(rest)
        } else {
            let name = rest.split('(').next().unwrap_or(rest);
            // "<1>" behind the name of a generic method.
            name.split_once('<').filter(|(name, _)| !name.is_empty()).map_or(name, |(name, _)| name)
        };
        (owner, name)
    }
}

/// The lines about one assembly, or about C symbols ("native").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section<'a> {
    pub assembly: &'a str,
    pub lines: Vec<ContractLine<'a>>,
}

/// The whole contract.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contract<'a> {
    pub sections: Vec<Section<'a>>,
}

/// The contract's text, as of the build.
const TEXT: &str = include_str!("../contract.txt");

impl Contract<'static> {
    /// The contract of this build.
    pub fn own() -> Contract<'static> {
        Contract::parse(TEXT).unwrap_or_default()
    }

    /// One section of the contract, without parsing the others; empty for an assembly that it does not mention.
    pub fn own_section(assembly: &str) -> Vec<ContractLine<'static>> {
        let Some(start) = TEXT.find(&format!("\n[{assembly}]\n")) else { return Vec::new() };
        let section = &TEXT[start + 1..];
        let section = section.find("\n[").map_or(section, |end| &section[..end]);
        let mut sections = Contract::parse(section).unwrap_or_default().sections;
        sections.pop().map_or_else(Vec::new, |section| section.lines)
    }
}

impl<'a> Contract<'a> {
    /// Reads the file's text. Errors: the number of the first bad line, and a description.
    pub fn parse(text: &'a str) -> Result<Contract<'a>, String> {
        let mut sections: Vec<Section<'a>> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let bad = |what: &str| format!("line {}: {what}: {line}", index + 1);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(assembly) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                sections.push(Section { assembly, lines: Vec::new() });
                continue;
            }
            let (versions, rest) = split_mark(line).map_err(|mark| bad(&format!("no version {mark}")))?;
            let (word, text) = rest.split_once(' ').ok_or_else(|| bad("no kind"))?;
            let (_, kind) =
                LineKind::NAMES.iter().find(|(name, _)| *name == word).ok_or_else(|| bad("unknown kind"))?;
            let section = sections.last_mut().ok_or_else(|| bad("outside all sections"))?;
            section.lines.push(ContractLine { kind: *kind, text, versions });
        }
        Ok(Contract { sections })
    }

    /// The lines about an assembly.
    pub fn section(&self, assembly: &str) -> &[ContractLine<'a>] {
        self.sections.iter().find(|section| section.assembly == assembly).map_or(&[], |section| &section.lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_marks_kinds_and_members() {
        let text = "# remark\n[mscorlib]\n@6.12,6.14 call static A.B+C::D<1>(X&,!!0) Y\nfield A.B::<E>k__F Z\nmethod A::.ctor() W\n";
        let contract = Contract::parse(text).expect("a contract");
        let lines = contract.section("mscorlib");
        let holds = |line: &ContractLine| Version::MONO.map(|version| line.holds_for(version));
        assert_eq!(holds(&lines[0]), [false, true, true]);
        assert_eq!(holds(&lines[1]), [true, true, true]);
        assert_eq!(lines[0].member(), ("A.B+C", "D"));
        assert_eq!(lines[1].member(), ("A.B", "<E>k__F"));
        assert_eq!(lines[2].member(), ("A", ".ctor"));
    }

    #[test]
    fn bad_lines_are_named() {
        assert!(Contract::parse("[a]\n@5.0 call x\n").unwrap_err().starts_with("line 2: no version 5.0"));
        assert!(Contract::parse("[a]\n@6.8,5.0 call x\n").unwrap_err().starts_with("line 2: no version 6.8,5.0"));
        assert!(Contract::parse("[a]\n@6.8, call x\n").is_err());
        assert!(Contract::parse("[a]\ncalls x\n").is_err());
        assert!(Contract::parse("call x\n").is_err());
    }

    #[test]
    fn the_own_contract_can_be_read() {
        let contract = Contract::parse(TEXT).expect("contract.txt");
        assert!(contract.section("mscorlib").len() > 900);
        for section in &contract.sections {
            assert_eq!(Contract::own_section(section.assembly), section.lines);
        }
        assert!(Contract::own_section("Syste").is_empty());
    }
}
