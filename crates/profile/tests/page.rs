//! The HTML page in headless Chromium: it loads without errors, and search, zoom, threads, kinds and tables do what
//! they say.
//!
//! A script after the page's own acts like a user (clicks on the canvas, keys, text in the search) and then writes the
//! text on the screen into the document, which Chromium prints. Needs `chromium`, or the program that CHROMIUM names;
//! without it the tests say so and pass.

mod browser;

use browser::browse;
use saki_profile::diff::Changes;
use saki_profile::{
    Format, Frame, Function, FunctionKind, Profile, ProfileBuilder, Sample, ThreadInfo, Unit, Wait, write,
};
/// Frames are names with a line after a colon, outermost first; `[x]` is the subject of a sample. (stack, thread,
/// milliseconds, value)
type Row<'a> = (&'a str, u64, u64, u64);

fn profile(kind: &str, unit: Unit, period: u64, rows: &[Row<'_>]) -> Profile {
    let title = "app.exe <b>&amp;\"'".into();
    let mut builder = ProfileBuilder::new(Profile { kind: kind.into(), unit, period, title, ..Profile::default() });
    for (names, thread, time_ms, value) in rows {
        let mut stack = 0;
        for name in names.split(';') {
            let is_line = |text: &str| text.parse::<u32>().is_ok();
            let (name, line) = name.rsplit_once(':').filter(|(_, line)| is_line(line)).unwrap_or((name, "0"));
            let kind = if name.starts_with('[') { FunctionKind::Note } else { FunctionKind::Managed };
            let function = builder.function(Function { name: name.into(), file: String::new(), kind });
            let frame = builder.frame(Frame { function, line: line.parse().expect("a line") });
            stack = builder.stack(stack, frame);
        }
        let thread = builder.thread(*thread, || ThreadInfo { id: *thread, name: format!("Thread {thread}") });
        builder.add(Sample { stack, thread, time_ns: time_ms * 1_000_000, count: 1, value: *value, wait: 0 });
    }
    builder.finish(1_000_000_000)
}

/// The script's results, for a page without faults.
fn told(name: &str, profiles: &[Profile], fragment: &str, script: &str) -> Option<serde_json::Value> {
    let page = String::from_utf8(write(profiles, Format::Html)).expect("text");
    let told = browser::told(name, &page, fragment, script)?;
    assert_eq!(told["fault"], serde_json::Value::Null, "{told}");
    Some(told)
}

fn cpu() -> Profile {
    let ms = 1_000_000;
    let rows = [
        ("Main;Alpha:10", 1, 100, 600 * ms),
        ("Main;Alpha:12;Gamma<T>", 1, 500, 200 * ms),
        ("Main;Beta", 2, 900, 200 * ms),
    ];
    profile("cpu", Unit::Nanoseconds, ms, &rows)
}

/// Steps that scripts have in common.
const STEPS: &str = r#"
    const text = s => q(s).textContent, rows = () => [...document.querySelectorAll('#panel tbody tr')].map(r => r.textContent);
    const view = key => q(`#views [data-key=${key}]`).click();
    const type = word => { q('#search').value = word; q('#search').dispatchEvent(new Event('input')); };
    // At a part of the flame graph's width, in a row.
    const click = (part, row) => { const c = q('#graph'), r = c.getBoundingClientRect();
      c.dispatchEvent(new MouseEvent('click', { clientX: r.left + part * r.width, clientY: r.top + row * 18 + 9, bubbles: true })); };
    const key = (name, on) => (on || q('#graph')).dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true }));
"#;

#[test]
fn search_marks_functions_and_tells_their_share() {
    let script = format!(
        "{STEPS} told.title = text('#title'); told.summary = text('#summary');
         type('alpha'); told.found = text('#found'); told.graph = q('#graph').getAttribute('aria-label');
         type('gamma<'); told.inner = text('#found');
         view('functions'); told.functions = rows(); type('nobody'); told.none = [text('#found'), rows().length];"
    );
    let Some(told) = told("search", &[cpu()], "", &script) else { return };
    assert_eq!(told["title"], "app.exe <b>&amp;\"'");
    assert!(told["summary"].as_str().expect("text").starts_with("cpu profile, 1.00 s, 2 threads"), "{told}");
    assert_eq!((&told["found"], &told["inner"]), (&"80.0 % in 1 function".into(), &"20.0 % in 1 function".into()));
    assert!(told["graph"].as_str().expect("text").contains("5 boxes, 1 found"), "{told}");
    assert_eq!(told["functions"], serde_json::json!(["200.0 ms20.0 %200.0 ms20.0 %Gamma<T>"]));
    assert_eq!(told["none"], serde_json::json!(["0.0 % in 0 functions", 0]));
}

#[test]
fn clicks_and_keys_zoom_and_show_details() {
    let script = format!(
        "{STEPS} click(0.9, 2); told.zoomed = q('#graph').getAttribute('aria-label'); told.hash = location.hash; told.details = text('#details');
         q('#graph').focus(); key('Escape'); told.all = q('#graph').getAttribute('aria-label');
         key('ArrowDown'); key('ArrowDown'); told.spoken = text('#found'); key('Enter'); told.widest = q('#graph').getAttribute('aria-label');
         q('#reset').click(); told.reset = [q('#graph').getAttribute('aria-label'), q('#details').hidden];"
    );
    let Some(told) = told("zoom", &[cpu()], "", &script) else { return };
    let has = |key: &str, part: &str| assert!(told[key].as_str().expect("text").contains(part), "{key}: {told}");
    has("zoomed", "3 boxes, 0 found, widest Beta");
    has("hash", "function=Beta");
    has("details", "Called by200.0 ms100.0 %Main");
    has("all", "5 boxes, 0 found, widest all");
    has("spoken", "Alpha: 800.0 ms, 80.0 %; own 600.0 ms");
    has("widest", "widest Alpha");
    assert!(told["reset"][0].as_str().expect("text").contains("widest all") && told["reset"][1] == true, "{told}");
}

#[test]
fn threads_and_spans_of_time_are_left_out_of_the_other_views() {
    let script = format!(
        "{STEPS} view('threads'); const boxes = () => document.querySelectorAll('.lane input');
         told.lanes = boxes().length; boxes()[0].click(); told.limits = text('#limits');
         view('functions'); told.functions = rows(); view('threads'); boxes()[0].click();
         const lane = q('.lane canvas'), r = lane.getBoundingClientRect();
         const at = (kind, part) => lane.dispatchEvent(new PointerEvent(kind, {{ clientX: r.left + part * r.width, bubbles: true }}));
         at('pointerdown', 0.4); at('pointerup', 0.7); told.span = text('#limits');
         view('functions'); told.inSpan = rows();"
    );
    let Some(told) = told("threads", &[cpu()], "", &script) else { return };
    assert_eq!((&told["lanes"], &told["limits"]), (&2.into(), &"Shown: 200.0 ms; 1 thread left out".into()));
    assert_eq!(
        told["functions"],
        serde_json::json!(["200.0 ms100.0 %200.0 ms100.0 %Beta", "0.0 µs0.0 %200.0 ms100.0 %Main"])
    );
    assert!(told["span"].as_str().expect("text").starts_with("Shown: 200.0 ms; from 0.4"), "{told}");
    assert_eq!(told["inSpan"][0], "200.0 ms100.0 %200.0 ms100.0 %Gamma<T>");
}

#[test]
fn kinds_are_tabs_with_their_own_views() {
    let alloc = [("Main;Alpha;[string]", 1, 10, 3000), ("Main;Beta;[int[]]", 2, 20, 1000)];
    let gc = [("Main;[nursery]", 1, 10, 2_000_000), ("Main;[full]", 1, 500, 30_000_000)];
    let profiles = [cpu(), profile("alloc", Unit::Bytes, 512, &alloc), profile("gc", Unit::Nanoseconds, 1, &gc)];
    let script = format!(
        "{STEPS} const keys = () => [...document.querySelectorAll('#views button')].map(b => b.textContent);
         told.first = text('#summary'); told.kinds = [...document.querySelectorAll('#kinds button')].map(b => b.textContent);
         told.views = keys(); view('subjects'); told.types = rows();
         q('#panel .name').click(); told.where = text('#details');
         key('ArrowRight', q('#kinds [aria-selected=true]')); told.gc = [text('#summary'), ...keys()];
         view('events'); told.pauses = rows(); told.chart = q('#events').getAttribute('aria-label'); told.hash = location.hash;"
    );
    let Some(told) = told("kinds", &profiles, "#kind=alloc", &script) else { return };
    assert_eq!(told["kinds"], serde_json::json!(["cpu", "alloc", "gc"]));
    assert!(told["first"].as_str().expect("text").starts_with("alloc profile, 3.9 KiB, 2 threads"), "{told}");
    let views = ["Flame graph", "Bottom-up graph", "Types", "Functions", "Call tree", "Threads"];
    assert_eq!(told["views"], serde_json::json!(views));
    assert_eq!(told["types"], serde_json::json!(["2.9 KiB75.0 %1[string]", "1.0 KiB25.0 %1[int[]]"]));
    assert!(told["where"].as_str().expect("text").contains("Called by2.9 KiB100.0 %Alpha"), "{told}");
    assert!(told["gc"][0].as_str().expect("text").starts_with("gc profile, 32.0 ms"), "{told}");
    assert_eq!((&told["gc"][3], &told["gc"][4]), (&"Phases".into(), &"Pauses".into()));
    assert_eq!(told["pauses"][0], "0.500 s30.0 msThread 1[full] ← Main");
    assert_eq!(told["chart"], "2 events over 1.000 s, the longest 30.0 ms");
    assert!(told["hash"].as_str().expect("text").contains("kind=gc&view=events"), "{told}");
}

#[test]
fn pauses_have_phases_and_waits_have_owners() {
    let ms = 1_000_000;
    let gc = [
        ("[full];[marking]", 1, 500, 20 * ms),
        ("[full];[freeing]", 1, 500, 10 * ms),
        ("[nursery];[marking]", 1, 700, 2 * ms),
    ];
    let locks = [("Main;Alpha;[lock]", 1, 100, 7 * ms), ("Main;Beta;[lock]", 1, 200, 3 * ms)];
    let mut locks = profile("lock", Unit::Nanoseconds, 1, &locks);
    locks.threads.push(ThreadInfo { id: 9, name: "Holder".into() });
    locks.waits = vec![Wait { owner: Some(1), waiters: 4 }];
    locks.samples[0].wait = 1;
    let script = format!(
        "{STEPS} view('events'); told.pauses = rows(); told.phases = text('#phases'); told.chart = q('#events').getAttribute('aria-label');
         key('ArrowRight', q('#kinds [aria-selected=true]')); view('events'); told.waits = rows();"
    );
    let Some(told) = told("phases", &[profile("gc", Unit::Nanoseconds, 1, &gc), locks], "", &script) else { return };
    let pauses = [
        "0.500 s30.0 msThread 1[full]: [marking] 20.0 ms, [freeing] 10.0 ms",
        "0.700 s2.0 msThread 1[marking] ← [nursery]",
    ];
    assert_eq!(told["pauses"], serde_json::json!(pauses));
    assert_eq!(told["chart"], "2 events over 1.000 s, the longest 30.0 ms");
    assert!(
        told["phases"].as_str().is_some_and(|text| text.contains("[marking]") && text.contains("[freeing]")),
        "{told}"
    );
    let waits = [
        "7.0 ms70.0 %Holder",
        "3.0 ms30.0 %(not known)",
        "0.100 s7.0 msThread 1Holder4[lock] ← Alpha ← Main",
        "0.200 s3.0 msThread 1[lock] ← Beta ← Main",
    ];
    assert_eq!(told["waits"], serde_json::json!(waits));
}

#[test]
fn searches_are_regular_expressions_where_no_name_has_the_text() {
    let rows = [
        ("Main;Alpha (int[]);Gamma", 1, 1, 600_000_000),
        ("Main;Alpine (string);Delta", 1, 2, 300_000_000),
        ("Main;Beta;[waiting for a lock]", 1, 3, 100_000_000),
    ];
    let script = format!(
        "{STEPS} const find = word => {{ type(word); return [text('#found'), text('#search-error'), q('#search').getAttribute('aria-invalid')]; }};
         told.all = ['^al(pha|pine)', 'gamma|delta', '[wait', 'alpha (int[])', 'a(', '^$|'].map(find); told.hash = location.hash;
         told.cleared = find('');"
    );
    let Some(told) = told("regular", &[profile("cpu", Unit::Nanoseconds, 1_000_000, &rows)], "", &script) else {
        return;
    };
    let found = |index: usize| told["all"][index].clone();
    assert_eq!(found(0), serde_json::json!(["90.0 % in 2 functions", "", "false"]));
    assert_eq!(found(1)[0], "90.0 % in 2 functions");
    assert_eq!((found(2)[0].clone(), found(2)[2].clone()), ("10.0 % in 1 function".into(), "false".into()));
    assert_eq!(found(3)[0], "60.0 % in 1 function", "the text of a name is no expression");
    assert_eq!((found(4)[0].clone(), found(4)[2].clone()), ("".into(), "true".into()));
    assert!(found(4)[1].as_str().is_some_and(|text| text.starts_with("No regular expression: ")), "{told}");
    assert!(found(5)[0].as_str().is_some_and(|text| text.starts_with("100.0 %")), "{told}");
    assert_eq!(told["cleared"], serde_json::json!(["", "", "false"]));
}

#[test]
fn a_graph_shows_the_callers_of_what_took_the_time() {
    let ms = 1_000_000;
    let rows =
        [("Main;Alpha;Inner", 1, 1, 500 * ms), ("Main;Beta;Inner", 1, 2, 300 * ms), ("Main;Beta", 1, 3, 200 * ms)];
    let script = format!(
        "{STEPS} view('callers'); told.all = q('#graph').getAttribute('aria-label'); told.words = text('#legend');
         q('#graph').focus(); key('ArrowDown'); told.widest = text('#found'); key('ArrowDown'); told.caller = text('#found');
         key('Enter'); told.zoomed = q('#graph').getAttribute('aria-label'); told.hash = location.hash;
         view('flame'); told.down = q('#graph').getAttribute('aria-label'); view('callers'); told.again = q('#graph').getAttribute('aria-label');
         key('Escape'); told.out = q('#graph').getAttribute('aria-label');"
    );
    let profiles = [profile("cpu", Unit::Nanoseconds, ms, &rows)];
    let Some(told) = told("callers", &profiles, "", &script) else { return };
    let has = |key: &str, part: &str| assert!(told[key].as_str().expect("text").contains(part), "{key}: {told}");
    // Inner and Beta; Alpha and Beta, and Main; Main twice.
    has("all", "Graph of callers of cpu: 8 boxes, 0 found, widest all");
    has("words", "who called it");
    has("widest", "Inner: 800.0 ms, 80.0 %");
    has("caller", "Alpha: 500.0 ms, 50.0 %");
    has("zoomed", "4 boxes, 0 found, widest Alpha");
    has("hash", "view=callers&up=");
    has("down", "Flame graph of cpu: 6 boxes");
    has("again", "4 boxes, 0 found, widest Alpha");
    has("out", "8 boxes, 0 found, widest all");
    let fragment = told["hash"].as_str().expect("text").to_owned();
    let Some(kept) =
        self::told("callers-kept", &profiles, &fragment, "told.graph = q('#graph').getAttribute('aria-label');")
    else {
        return;
    };
    assert!(kept["graph"].as_str().expect("text").contains("4 boxes, 0 found, widest Alpha"), "{kept}");
}

#[test]
fn threads_that_wait_have_another_colour_than_those_that_run() {
    let ms = 1_000_000;
    let rows = [
        ("Main;Work", 1, 100, 600 * ms),
        ("Main;Lock;[waiting for a lock]", 1, 600, 200 * ms),
        ("Pool;[sleeping]", 2, 100, 900 * ms),
        ("Pool;Read;[in native code]", 2, 900, 100 * ms),
    ];
    let script = format!(
        "{STEPS} told.legend = text('#legend');
         view('threads'); told.lanes = [...document.querySelectorAll('.lane canvas')].map(c => c.getAttribute('aria-label')); told.doing = text('#doing');
         const colours = c => {{ const pixels = c.getContext('2d').getImageData(0, 12, c.width, 1).data, seen = new Set();
           for (let i = 0; i < pixels.length; i += 4) if (pixels[i + 3] === 255) seen.add([pixels[i], pixels[i + 1], pixels[i + 2]].join()); return [...seen]; }};
         told.colours = [...document.querySelectorAll('.lane canvas')].map(colours);
         told.axis = [...document.querySelectorAll('.axis span')].map(m => m.textContent + ' ' + m.style.left);"
    );
    let Some(told) = told("waiting", &[profile("wall", Unit::Nanoseconds, 10 * ms, &rows)], "", &script) else {
        return;
    };
    assert!(told["legend"].as_str().is_some_and(|text| text.contains("mostly waiting")), "{told}");
    let lanes = [
        "Thread 2 over time: in native code, running or waiting 10.0 %; waiting 90.0 %",
        "Thread 1 over time: running 75.0 %; waiting 25.0 %",
    ];
    assert_eq!(told["lanes"], serde_json::json!(lanes));
    let doing = told["doing"].as_str().expect("text");
    assert!(["running", "in native code", "waiting"].iter().all(|word| doing.contains(word)), "{doing}");
    let (first, second) =
        (told["colours"][0].as_array().expect("a list"), told["colours"][1].as_array().expect("a list"));
    assert_eq!((first.len(), second.len()), (2, 2), "{told}");
    assert_eq!(first.iter().filter(|colour| second.contains(colour)).count(), 1, "both wait: {told}");
    let axis = told["axis"].as_array().expect("a list");
    assert!(
        axis.len() >= 5
            && axis[0] == "0 ms 0%"
            && axis.iter().any(|mark| mark == "200 ms 19.95%"
                || mark.as_str().is_some_and(|mark| mark.starts_with("200 ms 19.9") || mark.starts_with("200 ms 20"))),
        "{told}"
    );
}

#[test]
fn native_code_that_has_called_the_system_to_wait_waits() {
    let rows = [
        ("Main;[n]poll_stub;[n]StopWords::wait_until_resumed;[n]syscall", 1, 100, 100_000_000),
        ("Main;[n]await_nothing;[n]syscall", 1, 200, 100_000_000),
        ("Main;[n]spin_wait", 1, 300, 100_000_000),
    ];
    let of = |kind: &str| {
        let mut profile = profile(kind, Unit::Nanoseconds, 10_000_000, &rows);
        for function in profile.functions.iter_mut().filter(|function| function.name.starts_with("[n]")) {
            (function.name, function.kind) = (function.name[3..].to_owned(), FunctionKind::Native);
        }
        profile
    };
    let script = format!(
        "{STEPS} view('threads'); const lane = () => q('.lane canvas').getAttribute('aria-label'); told.wall = lane();
         key('ArrowRight', q('#kinds [aria-selected=true]')); told.cpu = lane();"
    );
    let Some(told) = told("native-waits", &[of("wall"), of("cpu")], "", &script) else { return };
    assert_eq!(told["wall"], "Thread 1 over time: running 66.7 %; waiting 33.3 %");
    assert_eq!(told["cpu"], "Thread 1 over time: running 100.0 %");
}

#[test]
fn narrow_boxes_name_the_method_and_not_the_namespace() {
    let long = "Mono.CSharp.Long.Expression:Resolve (Mono.CSharp.ResolveContext)";
    let rows =
        [(long, 1, 1, 1_000_000), ("System.Collections.Generic.Dictionary`2[System.Int32,A.B]:.ctor", 1, 2, 1_000_000)];
    // What is drawn is seen by whoever draws it.
    let script = format!(
        "{STEPS} const drawn = width => {{ const words = [], fill = CanvasRenderingContext2D.prototype.fillText;
           CanvasRenderingContext2D.prototype.fillText = function (word) {{ words.push(word); }};
           q('#panel').style.flex = 'none'; q('#panel').style.width = width + 'px'; key('Escape');
           CanvasRenderingContext2D.prototype.fillText = fill; return words.slice(1); }};
         told.words = [1100, 500, 260, 130, 80].map(drawn);"
    );
    let Some(told) = told("names", &[profile("cpu", Unit::Nanoseconds, 1, &rows)], "", &script) else { return };
    let words = |index: usize| told["words"][index].as_array().expect("a list").clone();
    assert!(words(0).contains(&long.into()), "{told}");
    assert!(words(1).contains(&"Mono.CSharp.Long.Expression:Resolve".into()), "{told}");
    assert!(words(2).contains(&"Expression:Resolve".into()) && words(2).contains(&"Dictionary:.ctor".into()), "{told}");
    assert!(words(3).contains(&"Resolve".into()), "{told}");
    assert!(
        words(4).iter().any(|word| word.as_str().is_some_and(|word| word.starts_with('R') && word.ends_with('…'))),
        "{told}"
    );
}

#[test]
fn two_runs_are_compared_in_a_page_of_the_same_look() {
    let ms = 1_000_000;
    let of = |rows: &[Row<'_>]| profile("cpu", Unit::Nanoseconds, ms, rows);
    let before = of(&[("Main;Alpha", 1, 1, 100 * ms), ("Main;Beta", 1, 1, 100 * ms)]);
    let after = of(&[("Main;Alpha", 1, 1, 900 * ms), ("Main;Gamma", 1, 1, 300 * ms)]);
    let changes = Changes::between_files(vec![before], vec![after]).expect("the same kind");
    let script = format!(
        "{STEPS} told.summary = text('#summary'); told.legend = text('#legend'); told.views = [...document.querySelectorAll('#views button')].map(b => b.textContent);
         q('#graph').focus(); key('ArrowDown'); key('ArrowDown'); told.spoken = text('#found');
         view('functions'); told.rows = rows(); q('#panel [data-k=\"5\"] button').click(); told.after = rows()[0]; told.hash = location.hash;"
    );
    let Some(told) = browser::told("compared", &Changes::page(&changes), "", &script) else { return };
    assert_eq!(told["fault"], serde_json::Value::Null, "{told}");
    let has = |key: &str, part: &str| assert!(told[key].as_str().expect("text").contains(part), "{key}: {told}");
    has("summary", "cpu profiles compared by shares of the whole, 200.0 ms before, 1.20 s after");
    has("legend", "a larger share than before");
    has("spoken", "own share 50.0 % before, 75.0 % after");
    assert_eq!(told["views"], serde_json::json!(["Flame graph", "Bottom-up graph", "Functions", "Call tree"]));
    let rows = ["50.0 %0.0 %−50.0 %0.0 %Beta", "50.0 %75.0 %+25.0 %75.0 %Alpha", "0.0 %25.0 %+25.0 %25.0 %Gamma"];
    assert_eq!(told["rows"], serde_json::json!(rows));
    assert_eq!(told["after"], rows[1]);
    has("hash", "view=functions&sort=5");
}

#[test]
fn lines_have_shares_and_the_call_tree_opens() {
    let script = format!(
        "{STEPS} told.lines = [...document.querySelectorAll('#details .source tr')].map(r => r.textContent);
         told.marked = text('#found'); told.graph = q('#graph').getAttribute('aria-label');
         view('tree'); told.tree = rows(); q('#panel .twist').click(); told.closed = rows();
         q('#panel .twist').click(); told.opened = rows().length;"
    );
    let Some(told) = told("lines", &[cpu()], "#function=Alpha&search=beta&zoom=Alpha", &script) else { return };
    assert_eq!(told["lines"], serde_json::json!(["ownwith calleesline", "600.0 ms600.0 ms10", "⋯", "200.0 ms12"]));
    assert_eq!(told["marked"], "20.0 % in 1 function");
    assert!(told["graph"].as_str().expect("text").contains("widest Alpha"), "{told}");
    assert_eq!(told["tree"][1], "800.0 ms80.0 %600.0 ms▸Alpha".replace('▸', "▾"));
    assert_eq!(told["closed"], serde_json::json!(["1.00 s100.0 %0.0 µs▸Main"]));
    assert_eq!(told["opened"], 4);
}

#[test]
fn a_hundred_thousand_stacks_are_drawn_at_once() {
    let mut builder = ProfileBuilder::new(Profile { kind: "cpu".into(), period: 1_000_000, ..Profile::default() });
    let functions: Vec<u32> = (0..2000)
        .map(|n| builder.function(Function { name: format!("Namespace.Type{n}:Method"), ..Function::default() }))
        .collect();
    let thread = builder.thread(1, || ThreadInfo { id: 1, name: "Main".into() });
    // A generator of numbers, the same in each run; each stack hangs below an earlier one.
    let mut random = 1_u64;
    let mut stacks = vec![0];
    while stacks.len() < 100_000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let frame = builder.frame(Frame { function: functions[(random >> 33) as usize % functions.len()], line: 0 });
        let parent = stacks[(random >> 40) as usize % stacks.len()];
        let stack = builder.stack(parent, frame);
        stacks.push(stack);
        builder.add(Sample { stack, thread, time_ns: random >> 34, count: 1, value: 1_000_000, wait: 0 });
    }
    let script = format!(
        "{STEPS} const timed = step => {{ const start = performance.now(); step(); return performance.now() - start; }};
         told.calls = rows().length; told.search = timed(() => type('type77')); told.zoom = timed(() => click(0.1, 1));
         told.functions = timed(() => view('functions')); told.tree = timed(() => view('tree')); told.threads = timed(() => view('threads'));"
    );
    let Some(told) = told("large", &[builder.finish(1 << 30)], "", &script) else { return };
    eprintln!("milliseconds: {told}");
    for step in ["search", "zoom", "functions", "tree", "threads"] {
        // It takes a few tens of milliseconds on an idle machine.
        assert!(told[step].as_f64().expect("a time") < 1500.0, "{step}: {told}");
    }
}

#[test]
fn odd_names_are_shown_as_they_are() {
    let long = "long".repeat(10_000);
    let names = ["</script><b>x</b>", "<!--", "\"'\\", "$&__STYLE__", "\u{2028}", "\u{fffd}", &long];
    let rows: Vec<String> = names.iter().map(|name| format!("Main;{name}")).collect();
    let rows: Vec<Row<'_>> = rows.iter().map(|row| (&**row, 1, 1, 1_000_000)).collect();
    let profiles = [profile("cpu", Unit::Nanoseconds, 1_000_000, &rows)];
    let picture = String::from_utf8(write(&profiles, Format::Svg)).expect("text");
    // Inserted into the document in the same way as the profile's data.
    let picture = serde_json::to_string(&picture).expect("a string").replace('<', "\\u003c");
    let script = format!(
        "{STEPS} view('functions'); told.names = [...document.querySelectorAll('#panel tbody .name')].map(n => n.textContent); told.elements = document.querySelectorAll('#panel b').length;
         const picture = new DOMParser().parseFromString({picture}, 'image/svg+xml'); told.picture = picture.documentElement.nodeName;
         told.boxes = picture.querySelectorAll('g').length; told.wrong = picture.querySelectorAll('parsererror').length;"
    );
    let Some(told) = told("odd", &profiles, "", &script) else { return };
    let shown: Vec<&str> = told["names"].as_array().into_iter().flatten().filter_map(|name| name.as_str()).collect();
    for name in names {
        assert!(shown.contains(&name), "{name}: {shown:?}");
    }
    let found = ["elements", "picture", "boxes", "wrong"].map(|key| told[key].to_string());
    assert_eq!(found, ["0", "\"svg\"", "9", "0"]);
}

/// When the page has a fault, the other tests see it.
#[test]
fn faults_are_seen() {
    let page = String::from_utf8(write(&[cpu()], Format::Html)).expect("text");
    let broken = page.replace("const MAX_LANES = 300", "nothing.like.this(); const MAX_LANES = 300");
    assert_ne!(page, broken);
    let Some((document, console)) = browse("faults", &broken, "", "") else { return };
    assert!(console.iter().any(|line| line.contains("nothing is not defined")), "{console:?}");
    assert!(document.contains("This page has a fault: Uncaught ReferenceError"), "{document}");
}
