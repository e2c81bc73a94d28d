//! A flame graph as a picture: callers above callees, as in the page; widths in proportion; names and shares appear
//! under the pointer.

use crate::call_tree::CallTree;
use crate::model::{FunctionKind, Profile};
use crate::names;
use std::fmt::Write;

const WIDTH: f64 = 1200.0;
const ROW: f64 = 17.0;
/// Narrower boxes are left out.
const MIN_WIDTH: f64 = 0.3;
/// The approximate width of a character.
const CHARACTER: f64 = 6.6;

/// Whose share grew and whose shrank: by function, −1 to 1.
pub type Change<'a> = &'a [f64];

/// One below the other.
pub fn write(profiles: &[Profile]) -> String {
    picture(&profiles.iter().map(|profile| Graph::of(profile, None)).collect::<Vec<_>>())
}

/// Boxes are red where a function's change is above 0 and blue below.
pub fn draw_changes(profiles: &[(&Profile, Change<'_>)]) -> String {
    picture(&profiles.iter().map(|(profile, change)| Graph::of(profile, Some(*change))).collect::<Vec<_>>())
}

struct Box {
    function: u32,
    depth: usize,
    x: f64,
    width: f64,
    value: u64,
}

/// A profile's boxes, and the height that they take.
struct Graph<'a> {
    profile: &'a Profile,
    total: f64,
    boxes: Vec<Box>,
    height: f64,
    change: Option<Change<'a>>,
}

impl<'a> Graph<'a> {
    fn of(profile: &'a Profile, change: Option<Change<'a>>) -> Graph<'a> {
        let tree = CallTree::of(profile, |_| true);
        let total = tree.total().max(1) as f64;
        let mut boxes = Vec::new();
        let mut deepest = 0;
        tree.visit(|call, depth, before| {
            let (x, width) = (before as f64 / total * WIDTH, call.total as f64 / total * WIDTH);
            if width >= MIN_WIDTH {
                deepest = deepest.max(depth);
                boxes.push(Box { function: call.function, depth, x, width, value: call.total });
            }
        });
        Graph { profile, total, boxes, height: (deepest as f64 + 1.0) * ROW + 8.0, change }
    }

    fn draw(&self, out: &mut String, top: f64) {
        for Box { function, depth, x, width, value } in &self.boxes {
            let function_of = self.profile.functions.get(*function as usize);
            let name = escape(function_of.map_or("all", |f| &f.name));
            let fill = match (self.change, function_of) {
                (Some(change), Some(_)) => change_colour(change.get(*function as usize).copied().unwrap_or(0.0)),
                (_, function) => colour(&name, function.map_or(FunctionKind::Note, |f| f.kind)),
            };
            let y = top + *depth as f64 * ROW + 4.0;
            let percent = 100.0 * *value as f64 / self.total;
            let _ = write!(
                out,
                "<g><title>{name}: {}, {percent:.1} %</title><rect x=\"{x:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"{}\" fill=\"{fill}\" rx=\"1\"/>",
                self.profile.show(*value),
                ROW - 1.0,
            );
            let room = ((width - 6.0) / CHARACTER) as usize;
            if room >= 3 {
                let (name, kind) = function_of.map_or(("all", FunctionKind::Note), |f| (&*f.name, f.kind));
                let text = escape(&names::fitting(name, kind, room));
                let _ = write!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{text}</text>", x + 3.0, y + 12.0);
            }
            out.push_str("</g>\n");
        }
    }
}

fn picture(graphs: &[Graph<'_>]) -> String {
    let heading = if graphs.len() > 1 { ROW } else { 0.0 };
    let height: f64 = graphs.iter().map(|graph| graph.height + heading).sum();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let mut top = 0.0;
    for graph in graphs {
        if graphs.len() > 1 {
            let kind = escape(&graph.profile.kind);
            let _ = writeln!(out, "<text x=\"3\" y=\"{}\" font-weight=\"bold\">{kind}</text>", top + 12.0);
        }
        graph.draw(&mut out, top + heading);
        top += heading + graph.height;
    }
    out.push_str("</svg>\n");
    out
}

fn colour(name: &str, kind: FunctionKind) -> String {
    let hash = name.bytes().fold(0_u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    match kind {
        FunctionKind::Managed => format!("hsl({},80%,{}%)", 22 + hash % 30, 62 + hash % 12),
        FunctionKind::Native => format!("hsl({},30%,{}%)", 205 + hash % 25, 62 + hash % 14),
        FunctionKind::Note => format!("hsl(0,0%,{}%)", 70 + hash % 10),
    }
}

fn change_colour(change: f64) -> String {
    let lightness = 95.0 - 40.0 * change.abs().min(1.0);
    format!("hsl({},80%,{lightness:.0}%)", if change > 0.0 { 0 } else { 215 })
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            // No XML may hold them.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::sample_profile;

    #[test]
    fn boxes_are_as_wide_as_their_shares() {
        let text = write(&[sample_profile(&[("main;a<int>", 3), ("main;b", 1)])]);
        assert!(
            text.contains("<title>a&lt;int&gt;: 0.0 ms, 75.0 %</title><rect x=\"0.0\" y=\"38\" width=\"900.0\""),
            "{text}"
        );
        assert!(text.contains("<title>b: 0.0 ms, 25.0 %</title><rect x=\"900.0\" y=\"38\" width=\"300.0\""), "{text}");
    }

    #[test]
    fn graphs_of_several_kinds_stand_below_each_other() {
        let text = write(&[sample_profile(&[("a", 1)]), Profile { kind: "<x>".into(), ..sample_profile(&[("b", 1)]) }]);
        assert!(
            text.contains(">cpu</text>") && text.contains("y=\"71\" font-weight=\"bold\">&lt;x&gt;</text>"),
            "{text}"
        );
        assert!(text.contains("<title>a: 0.0 ms, 100.0 %</title><rect x=\"0.0\" y=\"38\""), "{text}");
        assert!(text.contains("<title>b: 0.0 ms, 100.0 %</title><rect x=\"0.0\" y=\"97\""), "{text}");
    }
}
