//! The part of a program's `NAME.exe.config` that says where its assemblies are: probing paths and version redirects.
//!
//! Invariant: malformed parts are ignored, never an error, since the program could run without a configuration. Left
//! out: code bases, publisher policies, and everything outside of `assemblyBinding`.

use crate::identity::AssemblyName;
use std::path::PathBuf;

type Version = [u16; 4];

/// See the module header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppConfig {
    /// Directories below the application's, in order.
    pub private_paths: Vec<PathBuf>,
    redirects: Vec<Redirect>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Redirect {
    name: String,
    culture: String,
    public_key_token: String,
    /// First and last version that is redirected.
    old: (Version, Version),
    new: Version,
}

fn parse_version(text: &str) -> Option<Version> {
    let mut version = Version::default();
    for (slot, number) in version.iter_mut().zip(text.trim().split('.')) {
        *slot = number.parse().ok()?;
    }
    Some(version)
}

/// The start tags of an XML text, each with its name and attributes; comments are left out.
fn tags(text: &str) -> Vec<(&str, Vec<(&str, &str)>)> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let Some(end) = rest.find('>') else { break };
        let (tag, behind) = (&rest[..end], &rest[end + 1..]);
        rest = behind;
        let tag = tag.trim_end_matches('/');
        let name_end = tag.find(char::is_whitespace).unwrap_or(tag.len());
        let (name, mut attributes_text) = tag.split_at(name_end);
        let mut attributes = Vec::new();
        while let Some((key, behind)) = attributes_text.split_once('=') {
            let behind = behind.trim_start();
            let Some(quote) = behind.chars().next().filter(|c| matches!(c, '"' | '\'')) else { break };
            let Some((value, behind)) = behind[1..].split_once(quote) else { break };
            attributes.push((key.trim(), value));
            attributes_text = behind;
        }
        out.push((name, attributes));
    }
    out
}

impl AppConfig {
    /// Reads a configuration file's text.
    pub fn parse(text: &str) -> AppConfig {
        let mut config = AppConfig::default();
        let mut identity = Redirect::default();
        for (name, attributes) in tags(text) {
            let value = |key: &str| attributes.iter().find(|(k, _)| *k == key).map(|(_, value)| *value);
            match name {
                "probing" => {
                    let paths = value("privatePath").unwrap_or_default();
                    config
                        .private_paths
                        .extend(paths.split(';').map(str::trim).filter(|p| !p.is_empty()).map(PathBuf::from));
                }
                "assemblyIdentity" => {
                    let text = |key| value(key).unwrap_or_default().to_string();
                    let culture = text("culture");
                    identity = Redirect {
                        name: text("name"),
                        culture: if culture.eq_ignore_ascii_case("neutral") { String::new() } else { culture },
                        public_key_token: text("publicKeyToken").to_ascii_lowercase(),
                        ..Redirect::default()
                    };
                }
                "bindingRedirect" => {
                    let old = value("oldVersion").unwrap_or_default();
                    let (first, last) = old.split_once('-').unwrap_or((old, old));
                    let new = value("newVersion").and_then(parse_version);
                    if let (Some(first), Some(last), Some(new)) = (parse_version(first), parse_version(last), new) {
                        config.redirects.push(Redirect { old: (first, last), new, ..identity.clone() });
                    }
                }
                _ => {}
            }
        }
        config
    }

    /// The redirected version to load in place of `wanted`; None if it is not redirected.
    pub fn redirected(&self, wanted: &AssemblyName) -> Option<AssemblyName> {
        let token: String = wanted.public_key_token.iter().map(|byte| format!("{byte:02x}")).collect();
        let redirect = self.redirects.iter().find(|redirect| {
            redirect.name.eq_ignore_ascii_case(&wanted.name)
                && redirect.culture.eq_ignore_ascii_case(&wanted.culture)
                && redirect.public_key_token == token
                && (redirect.old.0..=redirect.old.1).contains(&wanted.version)
        })?;
        (redirect.new != wanted.version).then(|| AssemblyName { version: redirect.new, ..wanted.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"<?xml version="1.0"?><configuration><!-- <probing privatePath="no"/> --><runtime>
        <assemblyBinding xmlns="urn:schemas-microsoft-com:asm.v1"><probing privatePath="a; b/c"/>
        <dependentAssembly><assemblyIdentity name="Lib" publicKeyToken="0A0b" culture='neutral' />
        <bindingRedirect oldVersion="0.0.0.0-1.5.0.0" newVersion="2.0.0.0"/></dependentAssembly>
        </assemblyBinding></runtime></configuration>"#;

    #[test]
    fn redirects_apply_to_their_range_and_identity() {
        let config = AppConfig::parse(TEXT);
        assert_eq!(config.private_paths, [PathBuf::from("a"), PathBuf::from("b/c")]);
        let name = |version, token: &[u8]| AssemblyName {
            name: "lib".into(),
            version,
            culture: String::new(),
            public_key_token: token.to_vec(),
        };
        let redirected = config.redirected(&name([1, 0, 0, 0], &[0x0a, 0x0b])).expect("in the range");
        assert_eq!(redirected.version, [2, 0, 0, 0]);
        assert_eq!(config.redirected(&name([1, 6, 0, 0], &[0x0a, 0x0b])), None);
        assert_eq!(config.redirected(&name([1, 0, 0, 0], &[])), None);
    }

    #[test]
    fn broken_text_gives_nothing() {
        for text in ["", "<", "<a b", "<a b=c>", "<!--", "<bindingRedirect oldVersion='x'/>"] {
            assert_eq!(AppConfig::parse(text), AppConfig::default(), "{text}");
        }
    }
}
