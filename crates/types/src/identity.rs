//! Identities of assemblies and names of types, parsed from text (display names) or read from AssemblyRef rows.
//!
//! Plain values: nothing is looked up or loaded here.

use saki_metadata::public_key_token;

/// A part of a version that a name leaves open.
pub const UNSPECIFIED: u16 = u16::MAX;

/// The identity that a reference names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssemblyName {
    pub name: String,
    /// Major, minor, build, revision. A part that .NET's class libraries do not give is `UNSPECIFIED`; Mono's give 0.
    pub version: [u16; 4],
    pub culture: String,
    /// Empty when the reference names none.
    pub public_key_token: Vec<u8>,
}

/// How an assembly was loaded; decides whether its references are searched for in its directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadContext {
    /// By a reference or a name, or as the program.
    #[default]
    Default,
    /// By `Assembly.LoadFrom`, or from the directory of an assembly loaded so.
    LoadFrom,
    /// By `Assembly.LoadFile`: its directory is never searched.
    Individual,
    /// Into one of .NET's AssemblyLoadContexts other than the default one, by its number.
    Custom(u32),
}

/// Public key token of a full key: the last 8 bytes of its SHA-1, reversed. ECMA-335 §II.6.3.
pub fn token_of_key(key: &[u8]) -> Vec<u8> {
    public_key_token(key).map_or_else(Vec::new, |token| token.to_vec())
}

/// Token of an AssemblyRef's key blob; flag 1 = it is a full key.
pub fn token_of_reference(blob: &[u8], flags: u32) -> Vec<u8> {
    if flags & 1 != 0 { token_of_key(blob) } else { blob.to_vec() }
}

/// `namespace.name`, or the name alone.
pub fn qualified(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { name.to_string() } else { format!("{namespace}.{name}") }
}

pub(crate) fn normal_culture(culture: &str) -> &str {
    if culture.eq_ignore_ascii_case("neutral") { "" } else { culture }
}

/// "Name, Version=…, Culture=…, PublicKeyToken=…"; without a version if it is left open.
pub(crate) fn display_name(name: &str, version: [u16; 4], culture: &str, public_key_token: &[u8]) -> String {
    let [a, b, c, d] = version;
    let culture = if culture.is_empty() { "neutral" } else { culture };
    let token = match public_key_token {
        [] => "null".to_string(),
        bytes => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    let version = if a == UNSPECIFIED { String::new() } else { format!("Version={a}.{b}.{c}.{d}, ") };
    format!("{name}, {version}Culture={culture}, PublicKeyToken={token}")
}

/// .NET's rule: whether an assembly of version `found` satisfies a reference to `wanted`. Parts that are left open
/// allow any.
pub(crate) fn satisfies(found: [u16; 4], wanted: [u16; 4]) -> bool {
    for (found, wanted) in found.into_iter().zip(wanted) {
        if wanted == UNSPECIFIED || found > wanted {
            return true;
        }
        if found < wanted {
            return false;
        }
    }
    true
}

impl AssemblyName {
    /// "Name, Version=…, Culture=…, PublicKeyToken=…".
    pub fn display(&self) -> String {
        display_name(&self.name, self.version, &self.culture, &self.public_key_token)
    }

    /// Parses a display name; missing parts stay empty.
    pub fn parse(text: &str) -> Option<AssemblyName> {
        let mut parts = text.split(',');
        let name = parts.next()?.trim();
        if name.is_empty() {
            return None;
        }
        let mut out = AssemblyName { name: name.to_string(), ..AssemblyName::default() };
        for part in parts {
            let (key, value) = part.split_once('=')?;
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "version" => {
                    for (slot, number) in out.version.iter_mut().zip(value.split('.')) {
                        *slot = number.parse().ok()?;
                    }
                }
                "culture" | "language" => out.culture = normal_culture(value).to_string(),
                "publickeytoken" if !value.eq_ignore_ascii_case("null") => {
                    out.public_key_token = (0..value.len() / 2)
                        .map(|i| u8::from_str_radix(value.get(2 * i..2 * i + 2)?, 16).ok())
                        .collect::<Option<_>>()?;
                }
                _ => {}
            }
        }
        Some(out)
    }
}

/// The manifest of an assembly made at run time.
#[derive(Default)]
pub struct Manifest<'a> {
    pub identity: AssemblyName,
    /// Of the module that has the manifest.
    pub module_name: &'a str,
    pub module_version: [u8; 16],
    /// Empty: the assembly has none.
    pub public_key: &'a [u8],
    /// `AssemblyFlags` (ECMA-335 §II.23.1.2).
    pub flags: u32,
    /// `AssemblyHashAlgorithm` (ECMA-335 §II.23.1.1).
    pub hash_algorithm: u32,
    pub load_context: LoadContext,
    /// Its types may be instantiated and its code run.
    pub is_runnable: bool,
    /// It is freed when it is no longer reachable.
    pub is_collectible: bool,
}

#[cfg(test)]
mod tests {
    use super::{UNSPECIFIED, display_name, satisfies};

    #[test]
    fn later_versions_satisfy_references() {
        for (found, wanted, expected) in [
            ([9, 0, 0, 0], [8, 5, 1, 2], true),
            ([9, 0, 0, 0], [9, 0, 0, 0], true),
            ([9, 0, 0, 0], [9, 0, 0, 1], false),
            ([9, 0, 0, 0], [10, 0, 0, 0], false),
            ([9, 0, 5, 0], [9, UNSPECIFIED, UNSPECIFIED, UNSPECIFIED], true),
            ([9, 0, 5, 0], [UNSPECIFIED; 4], true),
        ] {
            assert_eq!(satisfies(found, wanted), expected, "{found:?} for {wanted:?}");
        }
    }

    #[test]
    fn versions_that_are_left_open_are_not_shown() {
        assert_eq!(display_name("A", [UNSPECIFIED; 4], "", &[]), "A, Culture=neutral, PublicKeyToken=null");
        assert_eq!(display_name("A", [1, 2, 3, 4], "de", &[1]), "A, Version=1.2.3.4, Culture=de, PublicKeyToken=01");
    }
}
