//! The files that results go to: docs/benchmarks.md with a part for each suite, plots, figures.

use std::fs;
use std::path::Path;

use super::measurement::Row;
use super::options::{Options, Suite};
use super::peers::Runtime;
use super::report;

/// What begins a part of docs/benchmarks.md, in their order there. The kernels come first, without a mark.
const MARKS: [(Suite, &str); 10] = [
    (Suite::Threads, "<!-- suite: threads -->\n"),
    (Suite::Dynamic, "<!-- suite: dynamic -->\n"),
    (Suite::Operations, "<!-- suite: operations -->\n"),
    (Suite::Library, "<!-- suite: library -->\n"),
    (Suite::Green, "<!-- suite: green -->\n"),
    (Suite::Io, "<!-- suite: io -->\n"),
    (Suite::Simd, "<!-- suite: simd -->\n"),
    (Suite::Net, "<!-- suite: net -->\n"),
    (Suite::Web, "<!-- suite: web -->\n"),
    (Suite::Embedding, "<!-- suite: embedding -->\n"),
];

/// Writes one suite's part of the page and leaves the others'.
pub(super) fn write_section(path: &Path, suite: Suite, text: &str) -> Result<(), String> {
    let before = fs::read_to_string(path).unwrap_or_default();
    write(path, &with_section(&before, suite, text))
}

/// The page with this suite's part replaced.
fn with_section(page: &str, suite: Suite, text: &str) -> String {
    let mut parts = vec![(Suite::Kernels, "")];
    let mut rest = page;
    for (of, mark) in MARKS {
        if let Some((before, after)) = rest.split_once(mark) {
            parts.last_mut().expect("there is a first").1 = before;
            parts.push((of, ""));
            rest = after;
        }
    }
    parts.last_mut().expect("there is a first").1 = rest;
    let part = |of: Suite| match parts.iter().find(|(suite, _)| *suite == of) {
        _ if of == suite => text.trim(),
        Some((_, old)) => old.trim(),
        None => "",
    };
    let mut out = part(Suite::Kernels).to_owned();
    for (of, mark) in MARKS {
        if !part(of).is_empty() {
            out.push_str(&format!("\n\n{mark}{}", part(of)));
        }
    }
    out.push('\n');
    out.trim_start().to_owned()
}

/// Writes what the options ask for: the suite's part of docs/benchmarks.md, and the figures.
pub(super) fn publish(
    root: &Path,
    options: &Options,
    rows: &[Row],
    runtimes: &[Runtime],
    page: impl FnOnce() -> String,
) -> Result<(), String> {
    if options.markdown {
        write_section(&root.join("docs/benchmarks.md"), options.suite, &page())?;
    }
    if options.json {
        let name = report::utc_now().replace(':', "");
        let file = root.join(format!("bench/results/{name}.json"));
        write(&file, &report::json(rows, runtimes, options.runs()))?;
    }
    Ok(())
}

/// Writes the file, and says so.
pub(super) fn write(path: &Path, text: &str) -> Result<(), String> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|e| format!("{}: {e}", parent.display()))?;
    }
    fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_replaced_where_it_belongs() {
        let page = with_section("", Suite::Library, "L");
        let page = with_section(&page, Suite::Kernels, "K\n");
        let page = with_section(&page, Suite::Threads, "T");
        let page = with_section(&page, Suite::Dynamic, "old");
        let page = with_section(&page, Suite::Dynamic, "D");
        let page = with_section(&page, Suite::Green, "G");
        let mark = |of| MARKS.iter().find(|(suite, _)| *suite == of).map(|(_, mark)| *mark).expect("a mark");
        let page = with_section(&page, Suite::Simd, "S");
        let page = with_section(&page, Suite::Io, "I");
        assert_eq!(
            page,
            format!(
                "K\n\n{}T\n\n{}D\n\n{}L\n\n{}G\n\n{}I\n\n{}S\n",
                mark(Suite::Threads),
                mark(Suite::Dynamic),
                mark(Suite::Library),
                mark(Suite::Green),
                mark(Suite::Io),
                mark(Suite::Simd)
            )
        );
    }
}
