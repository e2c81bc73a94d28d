//! The tools that the user asks for: `--perf LIST`, or SAKI_PERF.

use std::path::PathBuf;

/// Where perf looks for maps, and where dump files go unless a directory is named.
pub(crate) const DEFAULT_DIRECTORY: &str = "/tmp";

/// The tools to which code is described.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolsRequest {
    /// `perf-PID.map` in the directory for temporary files.
    pub perf_map: bool,
    /// Directory of `jit-PID.dump`.
    pub jitdump: Option<PathBuf>,
    /// gdb's JIT interface.
    pub gdb: bool,
}

/// A word that names no tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRequest(String);

impl std::fmt::Display for BadRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "'{}' is not one of map, jitdump, jitdump:DIR, both (map and jitdump), gdb", self.0)
    }
}

impl std::error::Error for BadRequest {}

impl ToolsRequest {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == ToolsRequest::default()
    }
}

impl std::str::FromStr for ToolsRequest {
    type Err = BadRequest;

    /// Words with commas between them.
    fn from_str(list: &str) -> Result<ToolsRequest, BadRequest> {
        let mut request = ToolsRequest::default();
        for word in list.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word.split_once(':') {
                None if word == "map" => request.perf_map = true,
                None if word == "jitdump" => request.jitdump = Some(DEFAULT_DIRECTORY.into()),
                None if word == "both" => {
                    request.perf_map = true;
                    request.jitdump = Some(DEFAULT_DIRECTORY.into());
                }
                None if word == "gdb" => request.gdb = true,
                Some(("jitdump", directory)) if !directory.is_empty() => request.jitdump = Some(directory.into()),
                _ => return Err(BadRequest(word.to_owned())),
            }
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        let check = |list: &str, map, dump: Option<&str>, gdb| {
            let expect = ToolsRequest { perf_map: map, jitdump: dump.map(PathBuf::from), gdb };
            assert_eq!(list.parse(), Ok(expect), "{list}");
        };
        check("", false, None, false);
        check("map", true, None, false);
        check("both", true, Some("/tmp"), false);
        check("gdb, jitdump:/var/x", false, Some("/var/x"), true);
        assert_eq!("map,vtune".parse::<ToolsRequest>(), Err(BadRequest("vtune".into())));
        assert_eq!("jitdump:".parse::<ToolsRequest>(), Err(BadRequest("jitdump:".into())));
    }
}
