//! What is measured beside the kernels: the C# compiler under the profiler, each allocation told, bytes of files for
//! each sample, and snapshots of a large heap.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::columns::{Column, named, print_row, run_once, shortest, slope_and_constant, strings, words};
use super::work;
use crate::bench::options::Options;
use crate::bench::peers::Runtime;

const COMPILER: &str = "/usr/lib/mono/4.5/mcs.exe";
/// Classes of the source that is compiled: some one and a half seconds.
const CLASSES: usize = 600;
/// Rounds of a million objects, each of which is told; of Saki also a longer run, where the start no longer counts.
const TOLD_ROUNDS: u32 = 1;
const MANY_TOLD_ROUNDS: u32 = 21;
/// Rounds of 32,767 objects with many stacks.
const TOLD_TREES: u32 = 30;
const MANY_TOLD_TREES: u32 = 600;
const HEAP_OBJECTS: &str = "10000000";
/// What a snapshot of so many may take.
const SNAPSHOT_LIMIT_SECONDS: f64 = 3.0;
/// Formats of profiles whose sizes are told.
const FORMATS: [&str; 6] = ["html", "pprof", "speedscope", "firefox", "mlpd", "folded"];

pub fn run(
    options: &Options,
    runtimes: &[Runtime],
    folder: &Path,
    root: &Path,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<(), String> {
    let program = |name: &str| work::compile(&root.join("bench/profile").join(name), folder);
    if is_wanted("mcs") && Path::new(COMPILER).exists() {
        compiler(options, runtimes, folder)?;
    }
    if is_wanted("exact") {
        exact_allocations(options, runtimes, folder, &program("work.cs")?)?;
    }
    let Some(saki) = named(runtimes, "saki") else { return Ok(()) };
    if is_wanted("size") {
        sizes(saki, folder, &program("work.cs")?)?;
    }
    if is_wanted("heap") {
        snapshot(saki, folder, &program("objects.cs")?)?;
    }
    Ok(())
}

/// Columns of both runtimes: without a profiler, and with these words in front of the program.
fn columns(runtimes: &[Runtime], saki: &[(&'static str, &[&str])], mono: &[(&'static str, &[&str])]) -> Vec<Column> {
    let mut columns = Vec::new();
    for (runtime, off, kinds) in [("saki", "off", saki), ("mono", "mono, off", mono)] {
        if let Some(runtime) = named(runtimes, runtime) {
            columns.push(Column::new(off, runtime.argv.clone()));
            let column =
                |(name, kind): &(&'static str, &[&str])| Column::new(name, words(&[&runtime.argv, &strings(kind)]));
            columns.extend(kinds.iter().map(column));
        }
    }
    columns
}

/// Measures and prints multiples of the time without a profiler.
fn multiples(
    name: &str,
    columns: &[Column],
    arguments: &[String],
    folder: &Path,
    options: &Options,
) -> Result<(), String> {
    print_row("", columns.iter().map(|column| column.name.to_owned()));
    let times = shortest(columns, &|_| arguments.to_vec(), folder, options)?;
    let mut off = 0.0;
    print_row(
        name,
        columns.iter().zip(times).map(|(column, seconds)| {
            if column.is_off {
                off = seconds;
                return format!("{seconds:.2} s");
            }
            format!("{:.3} ×", seconds / off)
        }),
    );
    Ok(())
}

/// A source with classes of all sorts of members, the same in each run.
fn large_source() -> String {
    let mut text = String::from("using System;\nusing System.Collections.Generic;\nusing System.Linq;\n");
    for class in 0..CLASSES {
        let _ = write!(
            text,
            "class C{class} {{\n  readonly Dictionary<string, List<int>> table = new Dictionary<string, List<int>>();\n  \
             public int this[string key] {{ get {{ return table[key].Where(x => x % 2 == {class} % 2).Sum(); }} }}\n  \
             public void Add(string key, int value) {{\n    List<int> list;\n    \
             if (!table.TryGetValue(key, out list)) table[key] = list = new List<int> {{ {class}, value }};\n    \
             for (int i = 0; i < value; i++) list.Add(i * {class} + (value > 7 ? i : -i));\n  }}\n  \
             public IEnumerable<T> Each<T>(IEnumerable<T> items, Func<T, bool> isWanted) {{\n    \
             foreach (T item in items) if (isWanted(item)) yield return item;\n  }}\n  \
             public override string ToString() {{ return \"C{class}: \" + string.Join(\", \", table.Keys.ToArray()); }}\n}}\n"
        );
    }
    text.push_str("static class P { static void Main() { Console.WriteLine(new C0()); } }\n");
    text
}

fn compiler(options: &Options, runtimes: &[Runtime], folder: &Path) -> Result<(), String> {
    let source = folder.join("large.cs");
    fs::write(&source, large_source()).map_err(|e| format!("{}: {e}", source.display()))?;
    let saki: [(&'static str, &[&str]); 3] = [
        ("cpu, 1 kHz", &["profile", "cpu", "--format=folded", "--output=/dev/null"]),
        ("cpu, 10 kHz", &["profile", "cpu", "--hz=10000", "--format=folded", "--output=/dev/null"]),
        ("alloc, 512 KiB", &["profile", "alloc", "--format=folded", "--output=/dev/null"]),
    ];
    let mono: [(&'static str, &[&str]); 1] =
        [("mono, sample=1000", &["--profile=log:nodefaults,sample=1000,output=/dev/null"])];
    let columns = columns(runtimes, &saki, &mono);
    let out = folder.join("large.exe");
    let arguments =
        [COMPILER.to_owned(), "-nologo".into(), format!("-out:{}", out.display()), source.display().to_string()];
    println!("\nmcs compiles {CLASSES} classes: time as a multiple of that without a profiler");
    multiples("mcs", &columns, &arguments, folder, options)
}

fn exact_allocations(options: &Options, runtimes: &[Runtime], folder: &Path, program: &str) -> Result<(), String> {
    let saki: [(&'static str, &[&str]); 2] = [
        ("alloc --exact", &["profile", "alloc", "--exact", "--format=folded", "--output=/dev/null"]),
        ("log:alloc", &["--profile=log:nodefaults,alloc,output=/dev/null"]),
    ];
    let mono: [(&'static str, &[&str]); 1] =
        [("mono, log:alloc", &["--profile=log:nodefaults,alloc,output=/dev/null"])];
    let columns = columns(runtimes, &saki, &mono);
    println!("\na million objects, each of which is told with its stack");
    multiples("exact", &columns, &[program.to_owned(), "alloc".into(), TOLD_ROUNDS.to_string()], folder, options)?;
    let of_saki: Vec<Column> = columns.into_iter().take(1 + saki.len()).collect();
    println!("\nthe same of Saki: time for each second without a profiler, and milliseconds once");
    for (mode, few, many) in [("alloc", TOLD_ROUNDS, MANY_TOLD_ROUNDS), ("trees", TOLD_TREES, MANY_TOLD_TREES)] {
        let times = |rounds: u32| {
            let arguments = |_: &Column| vec![program.to_owned(), mode.to_owned(), rounds.to_string()];
            shortest(&of_saki, &arguments, folder, options)
        };
        let (few, many) = (times(few)?, times(many)?);
        let (off, on) = ([few[0], many[0]], few.iter().zip(&many).skip(1));
        let told = on.map(|(&few, &many)| {
            let (slope, constant) = slope_and_constant(off, [few, many]);
            format!("{slope:.2} × {:+.0} ms", 1e3 * constant)
        });
        print_row(mode, std::iter::once(format!("{:.2} s", many[0])).chain(told));
    }
    Ok(())
}

/// Bytes of each format for each sample, of a run of some seconds.
fn sizes(saki: &Runtime, folder: &Path, program: &str) -> Result<(), String> {
    let base = folder.join("sizes").display().to_string();
    let profile = strings(&["profile", "cpu", &format!("--format={}", FORMATS.join(",")), "--output", &base, program]);
    let finished = run_once(&words(&[&saki.argv, &profile, &strings(&["trees", "4500"])]), &saki.environment, folder)?;
    let said = String::from_utf8_lossy(&finished.stderr).into_owned();
    let samples: f64 = said
        .split(" samples\n")
        .next()
        .and_then(|text| text.split(' ').next_back()?.parse().ok())
        .ok_or_else(|| format!("no number of samples: {said}"))?;
    println!("\nbytes of files, {samples} samples");
    // In the order in which they are written, which is that of the list.
    let paths = said.lines().filter_map(|line| line.strip_prefix("profile: "));
    for (format, path) in FORMATS.iter().zip(paths) {
        let len_bytes = fs::metadata(folder.join(path)).map_err(|e| format!("{path}: {e}"))?.len();
        print_row(format, [len_bytes.to_string(), format!("{:.1} each", len_bytes as f64 / samples)]);
    }
    Ok(())
}

/// How long the program stands still for a snapshot, and what it takes in all.
fn snapshot(saki: &Runtime, folder: &Path, program: &str) -> Result<(), String> {
    let file = folder.join("large.heap").display().to_string();
    let arguments = strings(&[program, HEAP_OBJECTS]);
    let off = run_once(&words(&[&saki.argv, &arguments]), &saki.environment, folder)?;
    let command = strings(&["profile", "heap", "--output", &file]);
    let on = run_once(&words(&[&saki.argv, &command, &arguments]), &saki.environment, folder)?;
    let said = String::from_utf8_lossy(&on.stderr);
    let stood = said.lines().find_map(|line| line.strip_prefix("the program stood still for "));
    let stood = stood.ok_or_else(|| format!("no snapshot: {said}"))?;
    let seconds = seconds_of(stood).ok_or_else(|| format!("no time: {stood}"))?;
    println!("\nsnapshot of {HEAP_OBJECTS} objects (at most {SNAPSHOT_LIMIT_SECONDS} s)");
    print_row(
        "heap",
        [
            format!("{:.2} s without", off.wall.as_secs_f64()),
            format!("stopped {seconds:.2} s"),
            format!("{:.2} s in all", on.wall.as_secs_f64()),
            format!("{} MiB", on.max_rss_kib >> 10),
        ],
    );
    let _ = fs::remove_file(file);
    Ok(())
}

/// "5.0 ms", "1.20 s".
fn seconds_of(text: &str) -> Option<f64> {
    let (number, unit) = text.trim().split_once(' ')?;
    let number: f64 = number.parse().ok()?;
    match unit {
        "ms" => Some(number / 1e3),
        "s" => Some(number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_told() {
        assert_eq!([seconds_of("250.0 ms"), seconds_of("1.20 s"), seconds_of("x")], [Some(0.25), Some(1.2), None]);
    }
}
