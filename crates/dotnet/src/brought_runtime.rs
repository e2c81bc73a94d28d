//! The two descriptions of a program that brings its runtime along, changed for one that uses an installed runtime.
//!
//! In `runtimeconfig.json` such a program has `includedFrameworks` in place of `frameworks`. In `deps.json` the
//! runtime's files are those of libraries whose names begin with `runtimepack.`.
//!
//! Invariant: all else that the descriptions say stays, and a description without a runtime is not changed. Left out:
//! which version of a framework is taken; .NET's host decides, and any of the same major version serves.

use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Why a description is not understood.
pub type DescriptionError = serde_json::Error;

/// The dependencies of a program without those that are the runtime's.
#[derive(Debug, PartialEq, Eq)]
pub struct Dependencies {
    /// For `deps.json`.
    pub text: Vec<u8>,
    /// The names of the runtime's files.
    pub runtime_files: BTreeSet<String>,
}

/// The configuration for an installed runtime of the same major version; None if the program does not bring its own.
///
/// # Errors
/// It is no JSON.
pub fn configuration(text: &[u8]) -> Result<Option<Vec<u8>>, DescriptionError> {
    let mut configuration: Value = serde_json::from_slice(without_mark(text))?;
    let Some(options) = configuration.get_mut("runtimeOptions").and_then(Value::as_object_mut) else {
        return Ok(None);
    };
    let Some(Value::Array(included)) = options.remove("includedFrameworks") else { return Ok(None) };
    let frameworks = included.iter().map(|framework| {
        let version = framework["version"].as_str().unwrap_or_default();
        let major = version.split('.').next().unwrap_or_default();
        json!({ "name": framework["name"], "version": format!("{major}.0.0") })
    });
    options.insert("frameworks".to_owned(), frameworks.collect());
    serde_json::to_vec_pretty(&configuration).map(Some)
}

/// The dependencies that are not the runtime's; None if none are.
///
/// # Errors
/// It is no JSON.
pub fn dependencies(text: &[u8]) -> Result<Option<Dependencies>, DescriptionError> {
    let mut whole: Value = serde_json::from_slice(without_mark(text))?;
    let mut runtime_files = BTreeSet::new();
    let mut has_runtime = false;
    for target in objects(whole.get_mut("targets")) {
        for library in objects(Some(&mut *target)) {
            if let Some(Value::Object(dependencies)) = library.get_mut("dependencies") {
                dependencies.retain(|name, _| !is_runtime(name));
            }
        }
        let Value::Object(libraries) = target else { continue };
        libraries.retain(|name, library| {
            if is_runtime(name) {
                let files = ["runtime", "native"].iter().filter_map(|kind| library.get(*kind)?.as_object());
                runtime_files.extend(files.flat_map(Map::keys).cloned());
                has_runtime = true;
            }
            !is_runtime(name)
        });
    }
    if let Some(Value::Object(libraries)) = whole.get_mut("libraries") {
        libraries.retain(|name, _| !is_runtime(name));
    }
    has_runtime.then(|| Ok(Dependencies { text: serde_json::to_vec_pretty(&whole)?, runtime_files })).transpose()
}

fn is_runtime(library: &str) -> bool {
    library.starts_with("runtimepack.")
}

/// The values of an object; none of anything else.
fn objects(value: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    value.and_then(Value::as_object_mut).into_iter().flat_map(|object| object.iter_mut()).map(|(_, value)| value)
}

/// Without the mark of UTF-8 that editors write.
fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &[u8]) -> Value {
        serde_json::from_slice(text).expect("JSON")
    }

    #[test]
    fn included_frameworks_become_frameworks_of_the_major_version() {
        let text = br#"{"runtimeOptions": {"tfm": "net9.0", "includedFrameworks": [
            {"name": "Microsoft.NETCore.App", "version": "9.0.5"}, {"name": "Microsoft.AspNetCore.App", "version": "9.0.5"}],
            "configProperties": {"System.GC.Server": true}}}"#;
        let marked = [b"\xef\xbb\xbf", &text[..]].concat();
        let changed = configuration(&marked).expect("JSON").expect("changed");
        let expect = json!({"runtimeOptions": {"tfm": "net9.0", "frameworks": [
            {"name": "Microsoft.NETCore.App", "version": "9.0.0"}, {"name": "Microsoft.AspNetCore.App", "version": "9.0.0"}],
            "configProperties": {"System.GC.Server": true}}});
        assert_eq!(value(&changed), expect);
        assert_eq!(configuration(&changed).expect("JSON"), None, "it brings none");
        assert_eq!(configuration(b"{}").expect("JSON"), None);
        assert!(configuration(b"{").is_err());
    }

    #[test]
    fn dependencies_lose_the_runtime_alone() {
        let text = br#"{"runtimeTarget": {"name": "T/linux-x64"}, "targets": {"T": {}, "T/linux-x64": {
            "app/1.0.0": {"dependencies": {"lib": "1.0.0", "runtimepack.R": "9.0.5"}, "runtime": {"app.dll": {}}},
            "runtimepack.R/9.0.5": {"runtime": {"System.Runtime.dll": {}}, "native": {"libclrjit.so": {}}},
            "lib/1.0.0": {"runtime": {"lib/net9.0/lib.dll": {}}}}},
            "libraries": {"app/1.0.0": {"type": "project"}, "runtimepack.R/9.0.5": {"type": "runtimepack"},
            "lib/1.0.0": {"type": "package"}}}"#;
        let changed = dependencies(text).expect("JSON").expect("changed");
        let expect = json!({"runtimeTarget": {"name": "T/linux-x64"}, "targets": {"T": {}, "T/linux-x64": {
            "app/1.0.0": {"dependencies": {"lib": "1.0.0"}, "runtime": {"app.dll": {}}},
            "lib/1.0.0": {"runtime": {"lib/net9.0/lib.dll": {}}}}},
            "libraries": {"app/1.0.0": {"type": "project"}, "lib/1.0.0": {"type": "package"}}});
        assert_eq!(value(&changed.text), expect);
        assert_eq!(changed.runtime_files.iter().collect::<Vec<_>>(), ["System.Runtime.dll", "libclrjit.so"]);
        assert_eq!(dependencies(&changed.text).expect("JSON"), None);
        assert!(dependencies(b"[").is_err());
    }
}
