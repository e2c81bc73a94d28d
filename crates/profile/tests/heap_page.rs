//! The page of a heap snapshot in headless Chromium: types in the order of a column, search, reasons that open and close, roots.
//!
//! Needs `chromium`, or the program that CHROMIUM names; without it the tests say so and pass.

mod browser;

use saki_profile::heap::{Analysis, GraphBuilder, HeapGraph, HeapType, Slots, html};

/// A table with `sessions` sessions of 96 bytes, kept by a static field; and a large array on a stack.
fn graph(sessions: u64, session: &str) -> HeapGraph {
    const TABLE: u64 = 0x1000;
    const LARGE: u64 = 0x2000;
    let address = |index: u64| 0x10_0000 + 128 * index;
    let mut builder = GraphBuilder::default();
    [TABLE, LARGE].into_iter().chain((0..sessions).map(address)).for_each(|at| builder.note(at));
    builder.number().expect("small");
    builder.for_each_address(|builder, at| {
        match at {
            TABLE => {
                builder.begin_object(0, 24);
                (0..sessions).for_each(|index| builder.add_reference(address(index)));
            }
            LARGE => builder.begin_object(2, 1000),
            _ => builder.begin_object(1, 96),
        }
        builder.end_object();
    });
    let ty = |name: &str, slots| HeapType { name: name.into(), slots };
    let types = vec![
        ty("Table", Slots::Elements(vec![String::new()])),
        ty(session, Slots::Fields(Vec::new())),
        ty("System.Byte[]", Slots::Elements(Vec::new())),
    ];
    let sources = vec!["static field Server.<sessions>".into(), "stack of thread 1 (main)".into()];
    let number = |at| builder.number_of(at).expect("noted");
    let roots = vec![(0, number(TABLE)), (1, number(LARGE))];
    let mut graph = builder.finish(types, sources, 1, roots).expect("small");
    graph.title = "app.exe <b>".into();
    graph
}

const STEPS: &str = r#"
    const rows = id => [...document.querySelectorAll(`#${id} tbody tr`)].map(r => [...r.cells].map(c => c.textContent).join('|'));
    const find = word => { q('#search').value = word; q('#search').dispatchEvent(new Event('input')); };
"#;

#[test]
fn types_are_sorted_found_and_explained() {
    let graph = graph(30, "Shop.Session<T>");
    let page = html::write(&graph, &Analysis::of(&graph));
    let script = format!(
        "{STEPS} told.title = [q('#title').textContent, document.querySelectorAll('b').length]; told.sum = q('#sum').textContent;
         told.types = rows('types'); told.roots = rows('roots');
         q('#types th[data-k=\"1\"]').click(); told.byNumber = rows('types')[0]; q('#types th[data-k=\"0\"]').click(); told.byName = rows('types')[0];
         find('SESSION<'); told.found = rows('types').length; q('#types tbody tr').click(); told.why = q('#types pre').textContent;
         q('#types tbody tr').click(); told.closed = rows('types').length; find('nobody'); told.none = rows('types').length;"
    );
    let Some(told) = browser::told("heap", &page, "", &script) else { return };
    assert_eq!(told["title"], serde_json::json!(["app.exe <b>", 0]));
    assert!(told["sum"].as_str().is_some_and(|text| text.starts_with("32 objects, 3,904 bytes, ")), "{told}");
    let types = ["2,904|24|1|Table", "2,880|2,880|30|Shop.Session<T>", "1,000|1,000|1|System.Byte[]"];
    assert_eq!(told["types"], serde_json::json!(types));
    assert_eq!(
        told["roots"],
        serde_json::json!(["2,904|static field Server.<sessions>", "1,000|stack of thread 1 (main)"])
    );
    assert_eq!((&told["byNumber"], &told["byName"]), (&types[1].into(), &types[1].into()));
    let why = "30 objects (2,880 bytes):\n    static field Server.<sessions>\n    -> Table [i]\n    -> Shop.Session<T>";
    assert_eq!((&told["found"], &told["why"]), (&1.into(), &why.into()));
    assert_eq!((&told["closed"], &told["none"]), (&1.into(), &0.into()));
}

#[test]
fn odd_names_are_shown_as_they_are() {
    let name = "</script><b>\"'\\__HEAP__\u{2028}";
    let graph = graph(2, name);
    let page = html::write(&graph, &Analysis::of(&graph));
    let script =
        format!("{STEPS} told.types = rows('types'); told.elements = document.querySelectorAll('table b').length;");
    let Some(told) = browser::told("heap-odd", &page, "", &script) else { return };
    assert!(told["types"].as_array().is_some_and(|rows| rows.contains(&format!("192|192|2|{name}").into())), "{told}");
    assert_eq!(told["elements"], 0);
}
