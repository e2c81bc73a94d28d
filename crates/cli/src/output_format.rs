//! The formats of `saki profile --format`: files that are written at the end, and the jitdump, which is written while
//! the program runs.

use saki_profile::Format;
use std::path::{Path, PathBuf};

/// A word of the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputFormat {
    File(Format),
    /// `jit-PID.dump` for `perf inject --jit`, as by `--perf jitdump`.
    Jitdump,
}

impl std::str::FromStr for OutputFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<OutputFormat, String> {
        match name {
            "jitdump" => Ok(OutputFormat::Jitdump),
            name => name.parse().map(OutputFormat::File).map_err(|error| format!("{error}, jitdump")),
        }
    }
}

/// The formats of files, and the folder of the jitdump if there is to be one: that of the profile.
pub fn separate(formats: &[OutputFormat], output: Option<&Path>) -> (Vec<Format>, Option<PathBuf>) {
    let files = formats.iter().filter_map(|format| match format {
        OutputFormat::File(format) => Some(*format),
        OutputFormat::Jitdump => None,
    });
    let folder = output.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).to_owned();
    (files.collect(), formats.contains(&OutputFormat::Jitdump).then_some(folder))
}

/// The message at the end about a jitdump in `folder`.
pub fn about_jitdump(folder: &Path) -> String {
    let file = folder.join(format!("jit-{}.dump", std::process::id()));
    format!(
        "jitdump: {}; perf finds the code in it after 'perf record -k mono -g saki profile ...' and 'perf inject --jit -i perf.data -o jit.data'\n",
        file.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitdumps_lie_beside_the_profile() {
        let check = |list: &str, output: Option<&str>, files: &[Format], folder: Option<&str>| {
            let formats: Result<Vec<OutputFormat>, String> = list.split(',').map(str::parse).collect();
            let found = separate(&formats.expect("formats"), output.map(Path::new));
            assert_eq!(found, (files.to_vec(), folder.map(PathBuf::from)), "{list}");
        };
        check("html,pprof", None, &[Format::Html, Format::Pprof], None);
        check("jitdump", None, &[], Some("."));
        check("jitdump,folded", Some("x"), &[Format::Folded], Some("."));
        check("jitdump", Some("/var/x/y"), &[], Some("/var/x"));
        let refused = "flame".parse::<OutputFormat>().unwrap_err();
        assert!(refused.ends_with("firefox, mlpd, jitdump"), "{refused}");
    }
}
