//! A bar chart as an SVG file: one group of bars a figure, each bar a runtime's time relative to a reference.
//!
//! The scale is logarithmic, because the ratios span three orders of magnitude; the line at 1 is the reference. Left out:
//! everything that a chart library has and this page does not need.

/// One bar.
pub struct Bar {
    /// Index of the series.
    pub series: usize,
    /// Time over the reference's time.
    pub ratio: f64,
}

/// The bars of one figure.
pub struct Group {
    pub label: String,
    pub bars: Vec<Bar>,
}

const LABEL_WIDTH: f64 = 250.0;
const PLOT_WIDTH: f64 = 520.0;
const BAR_HEIGHT: f64 = 7.0;
const GROUP_GAP: f64 = 6.0;
const TOP: f64 = 54.0;
/// Bars and ticks lie within this range.
const MIN_RATIO: f64 = 0.01;
const MAX_RATIO: f64 = 10.0;
const TICKS: [f64; 7] = [0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 10.0];
/// Colours that are told apart by the colour-blind as well (Okabe and Ito).
const COLOURS: [&str; 3] = ["#0072b2", "#999999", "#e69f00"];

fn x(ratio: f64) -> f64 {
    let share = (ratio.clamp(MIN_RATIO, MAX_RATIO) / MIN_RATIO).ln() / (MAX_RATIO / MIN_RATIO).ln();
    LABEL_WIDTH + share * PLOT_WIDTH
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The chart. `series` are the names in the order of `Bar::series`, at most as many as there are colours.
pub fn bar_chart(title: &str, series: &[&str], groups: &[Group]) -> String {
    let group_height = |group: &Group| group.bars.len() as f64 * BAR_HEIGHT + GROUP_GAP;
    let bottom = TOP + groups.iter().map(group_height).sum::<f64>();
    let (width, height) = (LABEL_WIDTH + PLOT_WIDTH + 60.0, bottom + 24.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"10\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"10\" y=\"18\" \
         font-size=\"13\">{}</text>\n",
        escaped(title)
    );
    for (index, name) in series.iter().enumerate() {
        let at = LABEL_WIDTH + index as f64 * 110.0;
        out.push_str(&format!(
            "<rect x=\"{at}\" y=\"28\" width=\"10\" height=\"10\" fill=\"{}\"/><text x=\"{}\" y=\"37\">{}</text>\n",
            COLOURS[index % COLOURS.len()],
            at + 14.0,
            escaped(name)
        ));
    }
    for tick in TICKS {
        let (at, colour) = (x(tick), if tick == 1.0 { "#000" } else { "#ddd" });
        out.push_str(&format!(
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{}\" y2=\"{bottom:.1}\" stroke=\"{colour}\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>\n",
            TOP - 6.0,
            bottom + 14.0
        ));
    }
    let mut y = TOP;
    for group in groups {
        let middle = y + group.bars.len() as f64 * BAR_HEIGHT / 2.0 + 3.0;
        out.push_str(&format!(
            "<text x=\"{}\" y=\"{middle:.1}\" text-anchor=\"end\">{}</text>\n",
            LABEL_WIDTH - 6.0,
            escaped(&group.label)
        ));
        for bar in &group.bars {
            out.push_str(&format!(
                "<rect x=\"{LABEL_WIDTH}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{}\" fill=\"{}\"><title>{}: \
                 {:.2}</title></rect>\n",
                (x(bar.ratio) - LABEL_WIDTH).max(0.5),
                BAR_HEIGHT - 1.0,
                COLOURS[bar.series % COLOURS.len()],
                escaped(series.get(bar.series).unwrap_or(&"")),
                bar.ratio
            ));
            y += BAR_HEIGHT;
        }
        y += GROUP_GAP;
    }
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_at_the_reference_ends_at_its_line() {
        let group = Group { label: "a<b".to_owned(), bars: vec![Bar { series: 0, ratio: 1.0 }] };
        let chart = bar_chart("t", &["saki"], &[group]);
        assert!(chart.contains(&format!("width=\"{:.1}\"", x(1.0) - LABEL_WIDTH)));
        assert!(chart.contains("a&lt;b") && chart.ends_with("</svg>\n"));
        assert_eq!((x(0.0), x(1e9)), (LABEL_WIDTH, LABEL_WIDTH + PLOT_WIDTH));
    }
}
