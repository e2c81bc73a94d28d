//! Checks the output of each format by an outside authority (speedscope's published schema, the tables that the Firefox
//! Profiler documents, Go's own `pprof`), and by reading it again, for any profile and any names.
//!
//! `speedscope/file-format-schema.json` is the schema that <https://www.speedscope.app> publishes, under the MIT
//! licence beside it. The Firefox Profiler publishes no schema; its columns are those of `src/types/profile.ts` for the
//! version that is written. One test needs `go`; without it the test says so and passes.

use proptest::prelude::*;
use saki_profile::{
    Format, Frame, Function, FunctionKind, Profile, ProfileBuilder, Sample, ThreadInfo, Unit, read, write,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// Names that end strings, elements, lines or scripts where they are not written with care. An unpaired surrogate is
/// U+FFFD by the time that it is a string here.
fn odd_names() -> Vec<String> {
    let mut names: Vec<String> = [
        "",
        " ",
        "\"",
        "'",
        "\\",
        "a\"b\\c",
        "</script><script>alert(1)</script>",
        "<!--",
        "]]>",
        "&amp;",
        "%s%n",
        "two\nlines",
        "\r\n",
        "\0",
        "\u{1b}[31m",
        "\u{7f}",
        "\u{85}",
        "\u{2028}",
        "\u{fffd}",
        "\u{fffe}",
        "\u{202e}rtl",
        "😀",
        "e\u{301}",
        "a;b;c",
        ";",
        "1 2 3",
        "name 17",
        "_[n]",
        "__PROFILE__",
        "$&",
        "[kind]",
    ]
    .map(str::to_owned)
    .into();
    names.push("long".repeat(25_000));
    names
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![proptest::sample::select(odd_names()), any::<String>(), "[A-Z][a-z]{1,8}(:[a-z]{1,8})?"]
}

/// Some functions and threads, stacks of them with lines, and samples.
fn any_profile(kind: &'static str, unit: Unit) -> impl Strategy<Value = Profile> {
    let functions = proptest::collection::vec((any_name(), any_name(), 0..3_u8), 1..12);
    let threads = proptest::collection::vec(any_name(), 1..4);
    let stack = proptest::collection::vec((any::<prop::sample::Index>(), 0..2000_u32), 0..9);
    let value = prop_oneof![0..5_u64, 0..1_u64 << 30, Just(1_u64 << 40)];
    let sample = (stack, any::<prop::sample::Index>(), 0..10_000_000_000_u64, 1..4_u64, value);
    (functions, threads, proptest::collection::vec(sample, 0..30)).prop_map(move |(functions, threads, samples)| {
        let start = Profile { kind: kind.into(), unit, title: functions[0].0.clone(), ..Profile::default() };
        let mut builder = ProfileBuilder::new(start);
        for (stack, thread, time_ns, count, value) in samples {
            let mut at = 0;
            for (function, line) in stack {
                let (name, file, kind) = function.get(&functions).clone();
                let kind = [FunctionKind::Managed, FunctionKind::Native, FunctionKind::Note][usize::from(kind)];
                let function = builder.function(Function { name, file, kind });
                let frame = builder.frame(Frame { function, line });
                at = builder.stack(at, frame);
            }
            let key = thread.index(threads.len());
            let name = threads[key].clone();
            let thread = builder.thread(key as u64, || ThreadInfo { id: key as u64 + 1, name });
            builder.add(Sample { stack: at, thread, time_ns, count, value, wait: 0 });
        }
        builder.finish(10_000_000_000)
    })
}

/// The sum of the values by stack, as names and lines outermost first. Stacks with a sum of 0 are missing in some
/// formats.
fn sums(profile: &Profile) -> BTreeMap<Vec<(String, u32)>, u64> {
    let mut sums = BTreeMap::new();
    for sample in profile.samples.iter().filter(|sample| sample.value > 0) {
        let frames = profile.frames_of(sample.stack);
        let mut stack: Vec<_> = frames.map(|frame| (profile.function(frame).name.clone(), frame.line)).collect();
        stack.reverse();
        *sums.entry(stack).or_default() += sample.value;
    }
    sums
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(
        cpu in any_profile("cpu", Unit::Nanoseconds),
        alloc in any_profile("alloc", Unit::Bytes),
    ) {
        let profiles = [cpu, alloc];
        for format in [Format::Pprof, Format::Speedscope, Format::Firefox] {
            let found = read(&write(&profiles, format)).expect("what was written");
            for profile in &profiles {
                let expected = sums(profile);
                let same = found.iter().find(|found| found.kind == profile.kind);
                let Some(same) = same else {
                    prop_assert!(expected.is_empty(), "{}: no {}", format.name(), profile.kind);
                    continue;
                };
                prop_assert_eq!(same.unit, profile.unit, "{}", format.name());
                prop_assert_eq!(sums(same), expected, "{} in {}", profile.kind, format.name());
            }
        }
        for profile in &profiles {
            let written = write(std::slice::from_ref(profile), Format::Folded);
            let found = read(&written).expect("what was written");
            prop_assert_eq!(found[0].total(), profile.total());
        }
    }

    #[test]
    fn speedscope_and_firefox_find_what_they_expect(
        cpu in any_profile("cpu", Unit::Nanoseconds),
        exceptions in any_profile("exceptions", Unit::Count),
    ) {
        let profiles = [cpu, exceptions];
        check_speedscope(&json(&profiles, Format::Speedscope));
        check_firefox(&json(&profiles, Format::Firefox));
    }
}

fn json(profiles: &[Profile], format: Format) -> Value {
    serde_json::from_slice(&write(profiles, format)).expect("JSON")
}

fn check_speedscope(file: &Value) {
    let schema: Value = serde_json::from_str(include_str!("speedscope/file-format-schema.json")).expect("the schema");
    assert_eq!(violations(&schema, &schema, file, "$"), [""; 0]);
    let frames = file["shared"]["frames"].as_array().map_or(0, Vec::len) as u64;
    for lane in file["profiles"].as_array().expect("profiles") {
        let (samples, weights) = (lane["samples"].as_array(), lane["weights"].as_array());
        assert_eq!(samples.map(Vec::len), weights.map(Vec::len));
        let indices = samples.into_iter().flatten().flat_map(|sample| sample.as_array().into_iter().flatten());
        assert!(indices.into_iter().all(|index| index.as_u64().is_some_and(|index| index < frames)));
        let sum: u64 = weights.into_iter().flatten().filter_map(Value::as_u64).sum();
        assert_eq!(lane["endValue"], sum);
    }
}

/// The violations of a schema (JSON Schema draft 6) by `value`, for the keywords that speedscope's schema uses; any
/// other keyword counts as a violation, too.
fn violations(root: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (keyword, rule) in schema.as_object().expect("a schema") {
        match &**keyword {
            "$schema" | "definitions" | "title" => {}
            "$ref" => {
                let name = rule.as_str().and_then(|name| name.strip_prefix('#')).expect("a reference");
                found.extend(violations(root, root.pointer(name).expect("a definition"), value, place));
            }
            "type" => {
                let is_met = match rule.as_str() {
                    Some("object") => value.is_object(),
                    Some("array") => value.is_array(),
                    Some("string") => value.is_string(),
                    Some("number") => value.is_number(),
                    _ => false,
                };
                found.extend((!is_met).then(|| format!("{place}: not of type {rule}")));
            }
            "const" => found.extend((rule != value).then(|| format!("{place}: not {rule}"))),
            "enum" => {
                let is_met = rule.as_array().is_some_and(|list| list.contains(value));
                found.extend((!is_met).then(|| format!("{place}: none of {rule}")));
            }
            "required" => {
                let names = rule.as_array().into_iter().flatten().filter_map(Value::as_str);
                found.extend(names.filter(|name| value.get(name).is_none()).map(|name| format!("{place}: no {name}")));
            }
            "properties" => {
                for (name, rule) in rule.as_object().into_iter().flatten() {
                    let inner = value.get(name).map(|inner| violations(root, rule, inner, &format!("{place}.{name}")));
                    found.extend(inner.into_iter().flatten());
                }
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(violations(root, rule, item, &format!("{place}[{index}]")));
                }
            }
            "anyOf" => {
                let options = rule.as_array().expect("a list");
                let tried: Vec<_> = options.iter().map(|option| violations(root, option, value, place)).collect();
                if tried.iter().all(|violations| !violations.is_empty()) {
                    found.extend(tried.into_iter().flatten());
                }
            }
            _ => found.push(format!("{place}: the schema has a keyword {keyword}, which this check does not know")),
        }
    }
    found
}

#[test]
fn the_check_of_schemas_finds_what_is_wrong() {
    let schema: Value = serde_json::from_str(include_str!("speedscope/file-format-schema.json")).expect("the schema");
    let good = json(&[odd_profile()], Format::Speedscope);
    let broken = |change: &dyn Fn(&mut Value)| {
        let mut file = good.clone();
        change(&mut file);
        violations(&schema, &schema, &file, "$")
    };
    assert_eq!(broken(&|_| {}), [""; 0]);
    assert_eq!(
        broken(&|file| file["shared"]["frames"][0]["line"] = "x".into()),
        ["$.shared.frames[0].line: not of type \"number\""]
    );
    assert!(!broken(&|file| file["profiles"][0]["unit"] = "hours".into()).is_empty());
    assert!(!broken(&|file| _ = file["profiles"][0].as_object_mut().map(|lane| lane.remove("weights"))).is_empty());
}

/// The columns of a table of this version, and what their cells may be: an index into a table of this length, or
/// anything of a type.
fn check_table(place: &str, table: &Value, columns: &[(&str, Cell)]) {
    let length = table["length"].as_u64().unwrap_or_else(|| panic!("{place} has no length")) as usize;
    let written: Vec<&String> = table.as_object().expect("a table").keys().filter(|key| *key != "length").collect();
    let mut expected: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    expected.sort_unstable();
    let texts = ["weightType"];
    assert_eq!(written.into_iter().filter(|key| !texts.contains(&&***key)).collect::<Vec<_>>(), expected, "{place}");
    for (name, cell) in columns {
        let column = table[name].as_array().unwrap_or_else(|| panic!("{place}.{name} is no list"));
        assert_eq!(column.len(), length, "{place}.{name}");
        for (index, value) in column.iter().enumerate() {
            let is_fit = match cell {
                Cell::Index(len) => value.as_u64().is_some_and(|index| index < *len),
                Cell::IndexOrNull(len) => value.is_null() || value.as_u64().is_some_and(|index| index < *len),
                Cell::Earlier => value.is_null() || value.as_u64().is_some_and(|earlier| earlier < index as u64),
                Cell::NumberOrNull => value.is_null() || value.is_number(),
                Cell::Number => value.is_number(),
                Cell::Bool => value.is_boolean(),
                Cell::Null => value.is_null(),
                Cell::Any => true,
            };
            assert!(is_fit, "{place}.{name}[{index}]: {value}");
        }
    }
}

enum Cell {
    Index(u64),
    IndexOrNull(u64),
    /// An earlier row of the same table.
    Earlier,
    Number,
    NumberOrNull,
    Bool,
    Null,
    Any,
}

fn check_firefox(file: &Value) {
    use Cell::{Any, Bool, Earlier, Index, IndexOrNull, Null, Number, NumberOrNull};
    let meta = &file["meta"];
    for key in ["interval", "startTime", "processType", "stackwalk", "version"] {
        assert!(meta[key].is_number(), "meta.{key}");
    }
    assert!(meta["product"].is_string() && meta["markerSchema"].is_array());
    assert_eq!(meta["preprocessedProfileVersion"], 61);
    let categories = meta["categories"].as_array().expect("categories");
    for category in categories {
        assert!(category["name"].is_string() && category["subcategories"][0] == "Other", "{category}");
    }
    assert!(categories.iter().any(|category| category["color"] == "grey"), "the default one");
    let shared = &file["shared"];
    let length = |table: &str| shared[table]["length"].as_u64().expect("a length");
    let strings = shared["stringArray"].as_array().expect("strings");
    assert!(strings.iter().all(Value::is_string));
    let strings = strings.len() as u64;
    check_table("stackTable", &shared["stackTable"], &[("frame", Index(length("frameTable"))), ("prefix", Earlier)]);
    let frames = [
        ("address", Number),
        ("category", Index(categories.len() as u64)),
        ("column", NumberOrNull),
        ("func", Index(length("funcTable"))),
        ("inlineDepth", Number),
        ("innerWindowID", Null),
        ("line", NumberOrNull),
        ("nativeSymbol", IndexOrNull(length("nativeSymbols"))),
        ("subcategory", Index(1)),
    ];
    check_table("frameTable", &shared["frameTable"], &frames);
    let functions = [
        ("columnNumber", NumberOrNull),
        ("isJS", Bool),
        ("lineNumber", NumberOrNull),
        ("name", Index(strings)),
        ("relevantForJS", Bool),
        ("resource", Number),
        ("source", IndexOrNull(length("sources"))),
    ];
    check_table("funcTable", &shared["funcTable"], &functions);
    let sources = [
        ("filename", Index(strings)),
        ("id", Null),
        ("sourceMapURL", Null),
        ("startColumn", Number),
        ("startLine", Number),
    ];
    check_table("sources", &shared["sources"], &sources);
    check_table("resourceTable", &shared["resourceTable"], &["host", "lib", "name", "type"].map(|name| (name, Any)));
    let symbols = ["address", "functionSize", "libIndex", "name"].map(|name| (name, Any));
    check_table("nativeSymbols", &shared["nativeSymbols"], &symbols);
    let mut names = std::collections::BTreeSet::new();
    for thread in file["threads"].as_array().expect("threads") {
        for key in ["name", "processName", "processType", "pid", "tid"] {
            assert!(thread[key].is_string(), "{key}");
        }
        assert!(thread["isMainThread"].is_boolean() && thread["pausedRanges"].is_array());
        for key in ["registerTime", "processStartupTime"] {
            assert!(thread[key].is_number(), "{key}");
        }
        assert!(names.insert(thread["tid"].to_string()), "two threads with one id");
        let samples = &thread["samples"];
        assert!(["samples", "tracing-ms", "bytes"].map(Value::from).contains(&samples["weightType"]), "{samples}");
        let columns = [("stack", IndexOrNull(length("stackTable"))), ("time", Number), ("weight", Number)];
        check_table("samples", samples, &columns);
        let times: Vec<f64> = samples["time"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
        assert!(times.is_sorted());
        let markers = ["category", "data", "endTime", "name", "phase", "startTime"].map(|name| (name, Any));
        check_table("markers", &thread["markers"], &markers);
    }
}

/// A function of each odd name, called by a main function, and a thread of that name.
fn odd_profile() -> Profile {
    let mut builder =
        ProfileBuilder::new(Profile { kind: "cpu".into(), title: "odd \"names\"".into(), ..Profile::default() });
    for (index, name) in (0_u64..).zip(odd_names()) {
        let mut stack = 0;
        for name in ["Main", &*name] {
            let function = Function { name: name.into(), file: name.into(), kind: FunctionKind::Managed };
            let function = builder.function(function);
            let frame = builder.frame(Frame { function, line: 7 });
            stack = builder.stack(stack, frame);
        }
        let thread = builder.thread(index, || ThreadInfo { id: index, name: name.clone() });
        builder.add(Sample { stack, thread, time_ns: index, count: 1, value: 1_000_000, wait: 0 });
    }
    builder.finish(100)
}

#[test]
fn odd_names_break_no_format() {
    let profile = odd_profile();
    check_speedscope(&json(std::slice::from_ref(&profile), Format::Speedscope));
    check_firefox(&json(std::slice::from_ref(&profile), Format::Firefox));
    let written = |format| String::from_utf8(write(std::slice::from_ref(&profile), format)).expect("text");
    // A line for each stack; those that differ only by what may not be in a line are one.
    assert!(written(Format::Folded).lines().all(|line| line.rsplit_once(' ').is_some()));
    let page = written(Format::Html);
    assert_eq!(page.matches("</script>").count(), 2, "the page's own");
    let picture = written(Format::Svg);
    let tags = picture.matches('<').count();
    let own = ["<svg", "</svg", "<rect", "<g>", "</g>", "<title>", "</title>", "<text", "</text"];
    assert_eq!(tags, own.iter().map(|tag| picture.matches(tag).count()).sum::<usize>(), "{picture}");
    assert!(!picture.contains(|c: char| c.is_control() && c != '\n' || c == '\u{fffe}'));
    assert!(!write(&[profile], Format::Mlpd).is_empty());
}

#[test]
fn go_reads_pprof() {
    let ms = 1_000_000;
    let of = |kind: &str, unit, stacks: &[(&str, u64)]| {
        let mut builder = ProfileBuilder::new(Profile {
            kind: kind.into(),
            unit,
            period: ms,
            title: "app.exe argument".into(),
            start_unix_ns: 1_700_000_000_000_000_000,
            ..Profile::default()
        });
        for (names, value) in stacks {
            let mut stack = 0;
            for name in names.split(';') {
                let file = format!("/src/{name}.cs");
                let function = builder.function(Function { name: name.into(), file, kind: FunctionKind::Managed });
                let frame = builder.frame(Frame { function, line: 7 });
                stack = builder.stack(stack, frame);
            }
            let thread = builder.thread(1, || ThreadInfo { id: 1, name: "Main \"1\"".into() });
            builder.add(Sample { stack, thread, time_ns: 0, count: 1, value: *value, wait: 0 });
        }
        builder.finish(2_000 * ms)
    };
    let cpu = of("cpu", Unit::Nanoseconds, &[("Main;Alpha", 600 * ms), ("Main;Beta<int>", 400 * ms)]);
    let alloc = of("alloc", Unit::Bytes, &[("Main;Alpha;string", 3 << 20)]);
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let pprof = |name: &str, profiles: &[Profile], options: &[&str]| {
        let file = folder.join(name);
        std::fs::write(&file, write(profiles, Format::Pprof)).expect("a file");
        let run = Command::new("go").args(["tool", "pprof"]).args(options).arg(file).output();
        let run = run.inspect_err(|error| eprintln!("skipped: go tool pprof: {error}")).ok()?;
        let text = String::from_utf8_lossy(&[run.stdout, run.stderr].concat()).into_owned();
        assert!(run.status.success(), "{text}");
        // Columns are padded.
        Some(
            text.lines()
                .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
                .collect::<Vec<_>>()
                .join("\n"),
        )
    };
    let one = [cpu.clone()];
    let Some(top) = pprof("one.pb.gz", &one, &["-top"]) else { return };
    assert!(top.contains("Type: cpu") && top.contains("Duration: 2s, Total samples = 1000ms (50.00%)"), "{top}");
    assert!(
        top.contains("\n600ms 60.00% 60.00% 600ms 60.00% Alpha\n400ms 40.00% 100% 400ms 40.00% Beta<int>\n"),
        "{top}"
    );
    let traces = pprof("one.pb.gz", &one, &["-traces"]).unwrap_or_default();
    assert!(traces.contains("thread: Main \"1\"\n600ms Alpha\nMain"), "{traces}");
    let raw = pprof("one.pb.gz", &one, &["-raw"]).unwrap_or_default();
    assert!(raw.contains("Samples:\nsamples/count cpu/nanoseconds[dflt]\n"), "{raw}");
    assert!(raw.contains("Alpha /src/Alpha.cs:7"), "{raw}");
    let both = pprof("both.pb.gz", &[cpu, alloc], &["-sample_index=alloc", "-top"]).unwrap_or_default();
    assert!(both.contains("Type: alloc") && both.contains("3MB 100% 100% 3MB 100% string"), "{both}");
    let odd = pprof("odd.pb.gz", &[odd_profile()], &["-raw"]).unwrap_or_default();
    assert!(odd.contains("alert(1)"), "{odd}");
}
