//! The Cranelift IR and machine code of a compilation as text, for `saki --dump-clif` and for tests.

use std::fmt;

/// Cranelift IR, symbols and machine code of a function.
#[derive(Clone, Debug)]
pub struct Dump {
    pub name: String,
    /// Cranelift IR before optimisation.
    pub clif: String,
    /// The targets of the external names, one line each.
    pub symbols: Vec<String>,
    /// Names of the targets, by `n` of `u0:n`.
    pub symbol_names: Vec<String>,
    /// Names of the targets, by number of Cranelift's `userextname`.
    pub external_names: Vec<String>,
    /// Machine instructions after register allocation.
    pub machine_code: String,
    pub size_bytes: usize,
    /// The function's filters.
    pub filters: Vec<Dump>,
}

impl Dump {
    /// The Cranelift IR of the function and its filters, with the names of symbols.
    pub fn clif_text(&self) -> String {
        self.text(|dump| &dump.clif)
    }

    /// The machine instructions of the function and its filters, with the names of symbols.
    pub fn machine_text(&self) -> String {
        self.text(|dump| &dump.machine_code)
    }

    fn text(&self, part: fn(&Dump) -> &str) -> String {
        let code = self.with_names(part(self).trim_end());
        let filters: String = self.filters.iter().map(|filter| filter.text(part)).collect();
        format!("; {}\n{code}\n{filters}", self.name)
    }

    /// Replaces Cranelift's numbers by names: `userextname3`, `User(userextname3)` and, in declarations, `u0:3`.
    /// Unwind notes are left out.
    fn with_names(&self, code: &str) -> String {
        let mut out = String::with_capacity(code.len());
        for line in code.lines().filter(|line| !line.starts_with("  unwind ")) {
            let is_declaration = line.trim_start().starts_with("fn") && line.contains(" = ");
            let mut rest = line.trim_end();
            loop {
                let found =
                    [("User(userextname", ")", &self.external_names), ("userextname", "", &self.external_names)]
                        .into_iter()
                        .chain(is_declaration.then_some(("u0:", "", &self.symbol_names)))
                        .filter_map(|(prefix, suffix, names)| rest.find(prefix).map(|at| (at, prefix, suffix, names)))
                        .min_by_key(|&(at, ..)| at);
                let Some((at, prefix, suffix, names)) = found else { break };
                let (before, after) = (&rest[..at], &rest[at + prefix.len()..]);
                let digits = after.bytes().take_while(u8::is_ascii_digit).count();
                out.push_str(before);
                match after[..digits].parse().ok().and_then(|number: usize| names.get(number)) {
                    Some(name) => out.extend(["<", name, ">"]),
                    None => out.extend([prefix, &after[..digits]]),
                }
                let after = &after[digits..];
                rest = after.strip_prefix(suffix).unwrap_or(after);
            }
            out.push_str(rest);
            out.push('\n');
        }
        out.truncate(out.trim_end().len());
        out
    }
}

/// `code` with `names` in its calls, which Cranelift writes as `bl 0` on aarch64.
pub(crate) fn name_calls(code: &str, names: &[String]) -> String {
    const CALL: &str = "bl 0";
    let is_call =
        |line: &str| line.trim_start().strip_prefix(CALL).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    if code.lines().filter(|line| is_call(line)).count() != names.len() {
        return code.to_owned();
    }
    let mut names = names.iter();
    let lines = code.lines().map(|line| match is_call(line).then(|| names.next()).flatten() {
        Some(name) => line.replacen(CALL, &format!("bl {name}"), 1),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

impl fmt::Display for Dump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "; {}", self.name)?;
        for line in &self.symbols {
            writeln!(f, "{line}")?;
        }
        writeln!(f, "{}", self.clif.trim_end())?;
        writeln!(f, "; {} bytes", self.size_bytes)?;
        writeln!(f, "{}", self.machine_code.trim_end())?;
        for filter in &self.filters {
            write!(f, "{filter}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::name_calls;

    #[test]
    fn calls_get_their_names_in_order() {
        let names = ["userextname1".to_owned(), "userextname0".to_owned()];
        let code = "block0:\n  bl 0\n  blr x1\n  bl 0; b MachLabel(2)";
        let named = "block0:\n  bl userextname1\n  blr x1\n  bl userextname0; b MachLabel(2)";
        assert_eq!(name_calls(code, &names), named);
        assert_eq!(name_calls(code, &names[..1]), code);
    }
}
