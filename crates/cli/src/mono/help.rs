//! The texts that `mono --help`, `mono --version` and similar options print.

use super::table::{Meaning, OPTIMIZATIONS, OPTIONS};
use crate::bundle::default_framework_root;
use crate::options::VERSION;
use saki_icall::mono::runtime::ARCHITECTURE;
use std::fmt::Write;

/// The release of the installed class libraries, which scripts compare.
pub fn mono_version() -> String {
    /// Where no class libraries are installed.
    const OLDEST: &str = "6.8.0.105";
    let corlib = default_framework_root().join(saki_types::binder::PROFILE).join("mscorlib.dll");
    let image = saki_metadata::Image::open(&corlib).ok();
    image.and_then(|image| saki_contract::release_of(&image)).unwrap_or_else(|| OLDEST.to_owned())
}

/// `--version`. Scripts take the word behind "version" of the first line, or look for "Mono"; human readers learn that
/// this is Saki.
pub fn version() -> String {
    format!(
        "Mono JIT compiler version {} (Saki {}, in place of Mono)\n\
         This is Saki, a virtual machine of its own, called by Mono's name. The class libraries are Mono's.\n\
         \tArchitecture:  {ARCHITECTURE}\n\
         \tGC:            mmtk (sticky immix)\n",
        mono_version(),
        VERSION.replace(['(', ')'], "")
    )
}

/// `--help`: the options that do something here.
pub fn usage() -> String {
    let mut text =
        String::from("Usage is: mono [options] program [program-options]\n\nThis is Saki, called by Mono's name.\n\n");
    for option in OPTIONS.iter().filter(|o| !matches!(o.meaning, Meaning::Accepted | Meaning::Refused(_))) {
        let note = option.note.replace('`', "");
        let _ = writeln!(text, "    {:<22} {note}", option.spelling);
    }
    text.push_str(
        "\nMono's other options are accepted, or refused with a reason; mono-options.md lists all of them.\n",
    );
    text
}

/// `--list-opt`.
pub fn optimizations() -> String {
    OPTIMIZATIONS.iter().map(|name| format!("    {name:<22} Accepted: code is always optimised\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_and_usage_suit_scripts_and_say_who_it_is() {
        let version = version();
        let first = version.lines().next().unwrap();
        // What autoconf scripts do: awk '{print $5}'.
        assert_eq!(first.split(' ').nth(4), Some(mono_version().as_str()));
        assert!(first.starts_with("Mono JIT compiler version ") && first.contains("Saki"));
        assert!(usage().starts_with("Usage is: mono [options] program [program-options]\n"));
        assert!(usage().contains("--config FILE"));
    }
}
