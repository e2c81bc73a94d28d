//! `<dllmap>` and `<dllentry>` of Mono's configuration files: the library and function that a P/Invoke name stands for.
//!
//! Sources: mono/config in the configuration directory, as a rule /etc/mono/config (MONO_CONFIG or `mono --config` name another file) for
//! all assemblies, and `<assembly file>.config` for one assembly, which is asked first. Later entries win. Invariant: entries for other systems, processors or word sizes are dropped while parsing.
//! Left out: the rest of the XML. Of a file that is not well-formed, the entries before the error count.

use saki_os::message_log::{self, Level, LogSubject};
use saki_runtime::vm::{ConfigurationFiles, options};
use saki_types::universe;
use std::path::{Path, PathBuf};

const OS: &str = "linux";
#[cfg(target_arch = "x86_64")]
const CPU: &str = "x86-64";
#[cfg(target_arch = "aarch64")]
const CPU: &str = "armv8";
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const CPU: &str = "";
const WORD_SIZE: &str = "64";
/// The value of `$mono_libdir`.
pub const LIBRARY_DIRECTORY: &str = "/usr/lib";

/// One mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    /// The name in `DllImport`; with "i:" in front, case does not matter.
    dll: String,
    /// The function that the entry is for; None: all functions of the library.
    function: Option<String>,
    target: Option<String>,
    target_function: Option<String>,
}

impl Entry {
    fn names(&self, dll: &str) -> bool {
        match self.dll.strip_prefix("i:") {
            Some(name) => name.eq_ignore_ascii_case(dll),
            None => self.dll == dll,
        }
    }
}

/// The mappings of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DllMap {
    entries: Vec<Entry>,
}

/// The library and function that a P/Invoke is mapped to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    pub library: String,
    pub function: String,
    /// Whether an entry named the library.
    pub found: bool,
}

impl DllMap {
    /// The mappings in a file; none when there is no file.
    pub fn read(path: &Path) -> DllMap {
        let text = format_args!("Config attempting to parse: '{}'.", path.display());
        message_log::message(Level::Info, LogSubject::Configuration, text);
        std::fs::read(path).map_or_else(|_| DllMap::default(), |bytes| DllMap::parse(&String::from_utf8_lossy(&bytes)))
    }

    /// The mappings in such a text; elements that say nothing about libraries are passed over.
    pub fn parse(text: &str) -> DllMap {
        let mut map = DllMap::default();
        // The enclosing `<dllmap>`: its library, and whether it is for this system.
        let mut scope: (String, bool) = (String::new(), false);
        for tag in tags(text) {
            let applies = tag.applies();
            match tag.name {
                "dllmap" => {
                    let dll = tag.get("dll").unwrap_or_default();
                    scope = (dll.clone(), applies);
                    if applies {
                        // `name` on a dllmap is ignored, as Mono does.
                        let target = tag.get("target").map(|t| t.replace("$mono_libdir", LIBRARY_DIRECTORY));
                        map.entries.push(Entry { dll, function: None, target, target_function: None });
                    }
                }
                "dllentry" if scope.1 && applies => {
                    let dll = scope.0.clone();
                    let target = Some(tag.get("dll").unwrap_or_else(|| dll.clone()));
                    let (function, target_function) = (tag.get("name"), tag.get("target"));
                    map.entries.push(Entry { dll, function, target, target_function });
                }
                _ => {}
            }
        }
        map
    }

    /// A map of one entry: of a function, or without one of a whole library.
    pub(crate) fn of_entry(
        library: &str,
        function: Option<String>,
        target: Option<String>,
        target_function: Option<String>,
    ) -> DllMap {
        DllMap { entries: vec![Entry { dll: library.to_owned(), function, target, target_function }] }
    }

    /// Which library and function stand for these; the last mapping that names them counts.
    pub fn look_up(&self, library: &str, function: &str) -> Mapped {
        let mut mapped = Mapped { library: library.to_string(), function: function.to_string(), found: false };
        for entry in self.entries.iter().rev().filter(|e| e.names(library)) {
            if let Some(target) = entry.target.as_ref().filter(|_| !mapped.found) {
                mapped.library.clone_from(target);
                mapped.found = true;
            }
            if entry.function.as_deref() == Some(function) {
                if let Some(target) = &entry.target {
                    mapped.library.clone_from(target);
                }
                if let Some(target_function) = &entry.target_function {
                    mapped.function.clone_from(target_function);
                }
                mapped.found = true;
                break;
            }
        }
        mapped
    }
}

/// The folder of Mono's configuration, `mono/config` and `mono/4.5/machine.config`: what the options name; or, for class libraries in
/// PREFIX/lib/mono, PREFIX/etc if it has one; or /etc.
pub fn configuration_directory() -> PathBuf {
    if let Some(named) = &options().configuration.folder {
        return named.clone();
    }
    configuration_beside(universe().binder().paths().framework_root.as_path()).unwrap_or_else(|| PathBuf::from("/etc"))
}

fn configuration_beside(framework_root: &Path) -> Option<PathBuf> {
    let directory = framework_root.parent()?.parent()?.join("etc");
    directory.join("mono/config").is_file().then_some(directory)
}

/// The machine-wide configuration files, in the order in which they are asked: only the file that the options name, if there is one, else
/// the distribution's and the user's.
pub fn global_config_paths() -> Vec<PathBuf> {
    let ConfigurationFiles { file, user_file, .. } = &options().configuration;
    if let Some(file) = file {
        return vec![file.clone()];
    }
    std::iter::once(configuration_directory().join("mono/config")).chain(user_file.clone()).collect()
}

/// A start tag.
struct Tag<'a> {
    name: &'a str,
    attributes: &'a str,
}

impl Tag<'_> {
    fn get(&self, name: &str) -> Option<String> {
        let mut rest = self.attributes;
        while let Some(equals) = rest.find('=') {
            let key = rest[..equals].trim();
            let value = rest[equals + 1..].trim_start();
            let quote = value.chars().next().filter(|c| *c == '"' || *c == '\'')?;
            let end = value[1..].find(quote)? + 1;
            if key == name {
                return Some(unescape(&value[1..end]));
            }
            rest = &value[end + 1..];
        }
        None
    }

    fn applies(&self) -> bool {
        matches_list(self.get("os"), OS)
            && matches_list(self.get("cpu"), CPU)
            && matches_list(self.get("wordsize"), WORD_SIZE)
    }
}

/// A comma-separated list; a leading '!' negates it.
fn matches_list(list: Option<String>, ours: &str) -> bool {
    let Some(list) = list else { return true };
    match list.strip_prefix('!') {
        Some(excluded) => !excluded.split(',').any(|item| item.trim() == ours),
        None => list.split(',').any(|item| item.trim() == ours),
    }
}

fn unescape(text: &str) -> String {
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'");
    plain.replace("&amp;", "&")
}

/// The start tags of an XML text, without comments, declarations and end tags.
fn tags(text: &str) -> Vec<Tag<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        rest = &rest[open + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let Some(close) = rest.find('>') else { break };
        let body = rest[..close].trim_end_matches('/');
        rest = &rest[close + 1..];
        if body.starts_with(['/', '?', '!']) {
            continue;
        }
        let (name, attributes) = body.split_once(char::is_whitespace).unwrap_or((body, ""));
        found.push(Tag { name, attributes });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{DllMap, Mapped};

    fn check(map: &DllMap, library: &str, function: &str, expect: (&str, &str)) {
        let Mapped { library, function, .. } = map.look_up(library, function);
        assert_eq!((library.as_str(), function.as_str()), expect);
    }

    #[test]
    fn maps_libraries_and_functions() {
        let map = DllMap::parse(
            r#"<?xml version="1.0"?>
            <configuration>
                <!-- <dllmap dll="libc" target="wrong"/> -->
                <dllmap dll="libc" target="libc.so.6" os="!windows"/>
                <dllmap dll="gone" target="x.dll" os="windows,osx" />
                <dllmap dll="i:KERNEL32.dll">
                    <dllentry dll="__Internal" name="CopyMemory" target="copy_memory"/>
                </dllmap>
                <dllmap dll='System.Native' target='$mono_libdir/libmono-native.so' wordsize="64" />
                <dllmap dll="both" target="a"/><dllmap dll="both" target="b"/>
            </configuration>"#,
        );
        check(&map, "libc", "getpid", ("libc.so.6", "getpid"));
        check(&map, "gone", "f", ("gone", "f"));
        check(&map, "kernel32.dll", "CopyMemory", ("__Internal", "copy_memory"));
        check(&map, "kernel32.dll", "Other", ("__Internal", "Other"));
        check(&map, "System.Native", "f", ("/usr/lib/libmono-native.so", "f"));
        check(&map, "both", "f", ("b", "f"));
        assert!(!map.look_up("nothing", "f").found);
    }

    #[test]
    fn survives_bad_input() {
        for text in [
            "<",
            "<dllmap",
            "<dllmap dll=",
            "<dllmap dll=\"a",
            "<dllmap dll='a' target>",
            "<!--",
            "<dllentry name='x'/>",
        ] {
            DllMap::parse(text);
        }
    }
}
