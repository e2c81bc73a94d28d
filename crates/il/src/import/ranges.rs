//! Ranges of code, and which of them contain an offset: try blocks and handlers.
//!
//! Compilers make ranges that are disjoint or one in another. Then the innermost one at an offset is found by binary
//! search, and the others are its ancestors, so that a body with many clauses takes no longer for each of its blocks.
//! Of ranges that overlap otherwise (the body is not valid) each is looked at. ECMA-335 §I.12.4.2.7.

use std::cmp::Reverse;
use std::ops::Range;

/// See the module header. Ranges go by their number, and the smaller of two has the lower number.
#[derive(Default)]
pub(super) struct RangeIndex {
    ranges: Vec<Range<u32>>,
    /// By range: the smallest one that contains it.
    parents: Vec<Option<usize>>,
    /// Where the innermost range changes, in ascending order, and which it is from there on. None: not all ranges are
    /// disjoint or one in another.
    innermost: Option<Vec<(u32, Option<usize>)>>,
}

impl RangeIndex {
    /// `ranges`: smallest first.
    pub fn new(ranges: Vec<Range<u32>>) -> RangeIndex {
        debug_assert!(ranges.is_sorted_by_key(|range| range.end - range.start));
        if let Some((parents, innermost)) = nesting(&ranges) {
            return RangeIndex { ranges, parents, innermost: Some(innermost) };
        }
        let parent = |index: usize| {
            let inner = &ranges[index];
            let outer = ranges[index + 1..].iter().position(|r| r.start <= inner.start && inner.end <= r.end);
            outer.map(|distance| index + 1 + distance)
        };
        let parents = (0..ranges.len()).map(parent).collect();
        RangeIndex { ranges, parents, innermost: None }
    }

    /// The smallest range that contains this one.
    pub fn parent(&self, index: usize) -> Option<usize> {
        self.parents[index]
    }

    /// Whether each range that contains an offset contains the smaller ranges that contain it.
    pub fn is_nested(&self) -> bool {
        self.innermost.is_some()
    }

    /// The ranges that contain the offset, innermost first.
    pub fn at(&self, offset: u32) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.first(offset), move |&index| match self.innermost {
            Some(_) => self.parents[index],
            None => self.next(index + 1, offset),
        })
    }

    /// The ranges that contain the offset `from`, but not `to`, innermost first.
    pub fn left(&self, from: u32, to: u32) -> impl Iterator<Item = usize> + '_ {
        // The ancestors of a range that contains both contain both.
        let is_nested = self.is_nested();
        self.at(from)
            .take_while(move |&index| !is_nested || !self.ranges[index].contains(&to))
            .filter(move |&index| !self.ranges[index].contains(&to))
    }

    fn first(&self, offset: u32) -> Option<usize> {
        let Some(innermost) = &self.innermost else { return self.next(0, offset) };
        let behind = innermost.partition_point(|&(start, _)| start <= offset);
        innermost[..behind].last().and_then(|&(_, index)| index)
    }

    /// The first range from number `from` on that contains the offset.
    fn next(&self, from: usize, offset: u32) -> Option<usize> {
        self.ranges[from..].iter().position(|range| range.contains(&offset)).map(|distance| from + distance)
    }
}

type Nesting = (Vec<Option<usize>>, Vec<(u32, Option<usize>)>);

/// Parents and innermost ranges; None if some overlap otherwise than one in another.
fn nesting(ranges: &[Range<u32>]) -> Option<Nesting> {
    let mut order: Vec<usize> = (0..ranges.len()).collect();
    order.sort_unstable_by_key(|&index| (ranges[index].start, Reverse(ranges[index].end), Reverse(index)));
    let mut parents = vec![None; ranges.len()];
    let mut innermost: Vec<(u32, Option<usize>)> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut begin = |offset: u32, index: Option<usize>| match innermost.last_mut() {
        Some(last) if last.0 == offset => last.1 = index,
        _ => innermost.push((offset, index)),
    };
    let end_of = |index: usize| ranges[index].end;
    for index in order {
        let Range { start, end } = ranges[index];
        while let Some(ended) = open.pop_if(|last| end_of(*last) <= start) {
            begin(end_of(ended), open.last().copied());
        }
        if open.last().is_some_and(|&outer| end_of(outer) < end) {
            return None;
        }
        parents[index] = open.last().copied();
        if start < end {
            open.push(index);
            begin(start, Some(index));
        }
    }
    while let Some(ended) = open.pop() {
        begin(end_of(ended), open.last().copied());
    }
    Some((parents, innermost))
}

#[cfg(test)]
mod tests {
    use super::RangeIndex;
    use std::ops::Range;

    fn index(mut ranges: Vec<Range<u32>>) -> RangeIndex {
        ranges.sort_by_key(|r| (r.end - r.start, r.start));
        RangeIndex::new(ranges)
    }

    /// What the index says must be what looking at each range says.
    fn check(ranges: Vec<Range<u32>>, is_nested: bool) {
        let index = index(ranges);
        assert_eq!(index.is_nested(), is_nested, "{:?}", index.ranges);
        let ranges = &index.ranges;
        let containing = |at: u32| (0..ranges.len()).filter(move |i| ranges[*i].contains(&at));
        for from in 0..40 {
            assert_eq!(index.at(from).collect::<Vec<_>>(), containing(from).collect::<Vec<_>>(), "at {from}");
            for to in 0..40 {
                let left: Vec<usize> = containing(from).filter(|i| !ranges[*i].contains(&to)).collect();
                assert_eq!(index.left(from, to).collect::<Vec<_>>(), left, "{from} to {to}");
            }
        }
        for (number, inner) in index.ranges.iter().enumerate().filter(|(_, r)| !r.is_empty()) {
            let contains = |outer: &Range<u32>| outer.start <= inner.start && inner.end <= outer.end;
            let parent = (number + 1..index.ranges.len()).find(|outer| contains(&index.ranges[*outer]));
            assert_eq!(index.parent(number), parent, "parent of {number}");
        }
    }

    #[test]
    fn disjoint_and_adjacent_ranges() {
        check(vec![2..5, 5..9, 12..13, 20..39], true);
        check(vec![], true);
    }

    #[test]
    fn nested_ranges_that_share_their_ends() {
        check(vec![0..30, 0..10, 0..4, 10..30, 20..30, 29..30], true);
        check(vec![3..20, 3..20, 5..6, 5..6], true);
    }

    #[test]
    fn empty_ranges_contain_nothing() {
        check(vec![4..4, 0..10, 10..10, 12..20], true);
    }

    #[test]
    fn overlapping_ranges_are_all_looked_at() {
        check(vec![0..10, 5..15, 7..9, 20..30], false);
        check(vec![0..10, 5..15, 12..25, 24..30], false);
    }
}
