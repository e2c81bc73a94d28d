//! The page of a heap snapshot in headless Chromium: types in the order of a column, search, reasons that open and
//! close, roots.
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
    const rows = id => [...document.querySelectorAll(`#${id} tbody tr`)].map(r => [...r.cells].map(c => c.textContent.replace(/^[▸▾]/, '')).join('|'));
    const find = word => { q('#search').value = word; q('#search').dispatchEvent(new Event('input')); };
"#;

#[test]
fn types_are_sorted_found_and_explained() {
    let graph = graph(30, "Shop.Session<T>");
    let page = html::write(&graph, &Analysis::of(&graph));
    let script = format!(
        "{STEPS} told.title = [q('#title').textContent, document.querySelectorAll('b').length]; told.sum = q('#summary').textContent;
         told.types = rows('types'); told.roots = rows('roots');
         q('#types th[data-k=\"1\"]').click(); told.byNumber = rows('types')[0]; q('#types th[data-k=\"0\"]').click(); told.byName = rows('types')[0];
         find('SESSION<'); told.found = rows('types').length; q('#types tbody tr').click(); told.why = q('#types pre').textContent;
         q('#types tbody tr').click(); told.closed = rows('types').length; find('nobody'); told.none = rows('types').length;"
    );
    let Some(told) = browser::told("heap", &page, "", &script) else { return };
    assert_eq!(told["title"], serde_json::json!(["app.exe <b>", 0]));
    assert!(told["sum"].as_str().is_some_and(|text| text.starts_with("heap: 32 objects, 3,904 bytes")), "{told}");
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
fn the_address_keeps_the_view_and_the_keyboard_reaches_all() {
    let graph = graph(30, "Shop.Session");
    let page = html::write(&graph, &Analysis::of(&graph));
    let script = format!(
        "{STEPS} find('^shop'); [...document.querySelectorAll('#types .name')].find(n => n.textContent === 'Shop.Session').click(); told.open = q('#types pre') !== null;
         q('#types th[data-k=\"2\"]').click(); told.hash = location.hash; find('a('); told.error = q('#search-error').textContent; find('');
         const tab = q('#views [aria-selected=true]'); tab.dispatchEvent(new KeyboardEvent('keydown', {{ key: 'ArrowRight', bubbles: true }}));
         told.view = [q('#views [aria-selected=true]').textContent, q('#types').parentElement.hidden, q('#roots').parentElement.hidden];
         document.dispatchEvent(new KeyboardEvent('keydown', {{ key: '/' }})); told.focus = document.activeElement.id;"
    );
    let Some(told) = browser::told("heap-keys", &page, "", &script) else { return };
    let hash = told["hash"].as_str().expect("text");
    assert_eq!((&told["open"], hash), (&true.into(), "#view=types&search=%5Eshop&sort=2&open=Shop.Session"));
    assert!(told["error"].as_str().is_some_and(|text| text.starts_with("No regular expression")), "{told}");
    assert_eq!(told["view"], serde_json::json!(["Roots", true, false]));
    assert_eq!(told["focus"], "search");
    let script = format!(
        "{STEPS} told.types = rows('types').length; told.found = q('#found').textContent; told.text = q('#search').value;"
    );
    let Some(kept) = browser::told("heap-kept", &page, hash, &script) else { return };
    // The type and its ways.
    assert_eq!((&kept["types"], &kept["found"], &kept["text"]), (&2.into(), &"1 type".into(), &"^shop".into()));
}

#[test]
fn two_snapshots_are_compared_in_a_page_of_the_same_look() {
    let page = html::write_growth(&graph(10, "Shop.Session"), &graph(30, "Shop.Session"));
    let script = format!(
        "{STEPS} told.summary = q('#summary').textContent; told.types = rows('types'); told.heads = [...document.querySelectorAll('#types th[data-k]')].length;"
    );
    let Some(told) = browser::told("heap-grown", &page, "", &script) else { return };
    let summary = told["summary"].as_str().expect("text");
    assert!(summary.starts_with("heaps compared: +1,920 bytes in +20 objects; now 32 objects, 3,904 bytes"), "{told}");
    let types = ["+1,920|+20|2,880|30|Shop.Session", "+0|+0|24|1|Table", "+0|+0|1,000|1|System.Byte[]"];
    assert_eq!((&told["types"], &told["heads"]), (&serde_json::json!(types), &5.into()));
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
