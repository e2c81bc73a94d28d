//! Charts as SVG files: one group of bars a figure, each bar a runtime's time relative to a reference; and histograms.
//!
//! The scale of the bars is logarithmic, because the ratios span three orders of magnitude; the line at 1 is the
//! reference. Left out: everything that a chart library has and this page does not need.

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
/// Colours that are told apart by the colour-blind as well (Okabe and Ito).
const COLOURS: [&str; 8] = ["#0072b2", "#999999", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#f0e442"];

/// The axis of ratios: what lies outside the range is drawn at its end.
pub struct Scale {
    pub min: f64,
    pub max: f64,
    pub ticks: &'static [f64],
}

/// For runtimes that are within a hundred times of each other.
pub const NEAR: Scale = Scale { min: 0.01, max: 10.0, ticks: &[0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 10.0] };

impl Scale {
    fn x(&self, ratio: f64) -> f64 {
        let share = (ratio.clamp(self.min, self.max) / self.min).ln() / (self.max / self.min).ln();
        LABEL_WIDTH + share * PLOT_WIDTH
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The opening of a chart of this height.
fn begin(title: &str, height: f64) -> String {
    let width = LABEL_WIDTH + PLOT_WIDTH + 60.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"10\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"10\" y=\"18\" \
         font-size=\"13\">{}</text>\n",
        escaped(title)
    )
}

/// The chart. `series` are the names in the order of `Bar::series`, at most as many as there are colours.
pub fn bar_chart(title: &str, scale: &Scale, series: &[&str], groups: &[Group]) -> String {
    let group_height = |group: &Group| group.bars.len() as f64 * BAR_HEIGHT + GROUP_GAP;
    let bottom = TOP + groups.iter().map(group_height).sum::<f64>();
    let mut out = begin(title, bottom + 24.0);
    for (index, name) in series.iter().enumerate() {
        let at = LABEL_WIDTH + index as f64 * (PLOT_WIDTH / series.len() as f64).min(110.0);
        out.push_str(&format!(
            "<rect x=\"{at}\" y=\"28\" width=\"10\" height=\"10\" fill=\"{}\"/><text x=\"{}\" y=\"37\">{}</text>\n",
            COLOURS[index % COLOURS.len()],
            at + 14.0,
            escaped(name)
        ));
    }
    for &tick in scale.ticks {
        let (at, colour) = (scale.x(tick), if tick == 1.0 { "#000" } else { "#ddd" });
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
                (scale.x(bar.ratio) - LABEL_WIDTH).max(0.5),
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

/// Counts by upper bounds that are powers of two.
pub struct Histogram {
    pub label: String,
    /// (upper bound in µs, how many).
    pub buckets: Vec<(u64, u64)>,
}

/// Columns for the bounds 1 to 2^19 µs; what is longer stands in the last.
const HISTOGRAM_COLUMNS: u32 = 20;
const COLUMN_WIDTH: f64 = PLOT_WIDTH / HISTOGRAM_COLUMNS as f64;
const HISTOGRAM_HEIGHT: f64 = 44.0;

/// One histogram below the other, each scaled to its total.
pub fn histogram_chart(title: &str, histograms: &[Histogram]) -> String {
    let bottom = TOP + histograms.len() as f64 * (HISTOGRAM_HEIGHT + GROUP_GAP);
    let mut out = begin(title, bottom + 24.0);
    for (row, histogram) in histograms.iter().enumerate() {
        let base = TOP + row as f64 * (HISTOGRAM_HEIGHT + GROUP_GAP) + HISTOGRAM_HEIGHT;
        let total: u64 = histogram.buckets.iter().map(|(_, count)| count).sum();
        out.push_str(&format!(
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{} ({total})</text>\n<line x1=\"{LABEL_WIDTH}\" x2=\"{}\" \
             y1=\"{base:.1}\" y2=\"{base:.1}\" stroke=\"#bbb\"/>\n",
            LABEL_WIDTH - 6.0,
            base - HISTOGRAM_HEIGHT / 2.0,
            escaped(&histogram.label),
            LABEL_WIDTH + PLOT_WIDTH
        ));
        for (bound, count) in &histogram.buckets {
            let column = bound.max(&1).ilog2().min(HISTOGRAM_COLUMNS - 1);
            let height = (*count as f64 / total.max(1) as f64 * HISTOGRAM_HEIGHT).max(1.0);
            out.push_str(&format!(
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\" fill=\"{}\"><title>below {bound} µs: \
                 {count}</title></rect>\n",
                LABEL_WIDTH + f64::from(column) * COLUMN_WIDTH + 1.0,
                base - height,
                COLUMN_WIDTH - 2.0,
                COLOURS[row % 2 * 2]
            ));
        }
    }
    for column in (0..HISTOGRAM_COLUMNS).step_by(2) {
        out.push_str(&format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            LABEL_WIDTH + (f64::from(column) + 0.5) * COLUMN_WIDTH,
            bottom + 12.0,
            1u64 << column
        ));
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
        let chart = bar_chart("t", &NEAR, &["saki"], &[group]);
        assert!(chart.contains(&format!("width=\"{:.1}\"", NEAR.x(1.0) - LABEL_WIDTH)));
        assert!(chart.contains("a&lt;b") && chart.ends_with("</svg>\n"));
        assert_eq!((NEAR.x(0.0), NEAR.x(1e9)), (LABEL_WIDTH, LABEL_WIDTH + PLOT_WIDTH));
    }

    #[test]
    fn columns_are_scaled_to_their_histogram() {
        let histogram = Histogram { label: "p".to_owned(), buckets: vec![(1, 3), (1 << 30, 1)] };
        let chart = histogram_chart("t", &[histogram]);
        assert!(chart.contains("p (4)"));
        assert!(chart.contains(&format!("height=\"{:.1}\"", HISTOGRAM_HEIGHT * 0.75)));
    }
}
