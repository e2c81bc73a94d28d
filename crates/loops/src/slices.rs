//! Going through much memory in slices, with a rest between them.

/// Bytes that are worked on without a rest, which takes some ten microseconds.
pub const SLICE_BYTES: usize = 1 << 18;

/// The direction of a search.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Forward,
    Backward,
}

/// Calls `work` on slices, `(first, number)`, of `count` elements of that size, in either direction, until it returns a
/// result. Calls `rest` between two slices.
#[inline]
pub fn slices<R>(
    way: Way,
    count: usize,
    element_size_bytes: usize,
    mut rest: impl FnMut(),
    mut work: impl FnMut(usize, usize) -> Option<R>,
) -> Option<R> {
    let most = SLICE_BYTES / element_size_bytes;
    let (mut from, mut to) = (0, count);
    loop {
        let number = most.min(to - from);
        let first = if way == Way::Forward { from } else { to - number };
        if let Some(result) = work(first, number) {
            return Some(result);
        }
        match way {
            Way::Forward => from += number,
            Way::Backward => to -= number,
        }
        if from == to {
            return None;
        }
        rest();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_cover_all_elements_once_with_rests_between_them() {
        let check = |way, count: usize, expected_rests: usize| {
            let (mut rests, mut ranges) = (0, Vec::new());
            let end = slices(
                way,
                count,
                8,
                || rests += 1,
                |first, number| {
                    ranges.push(first..first + number);
                    None::<()>
                },
            );
            assert!(end.is_none());
            assert_eq!(rests, expected_rests, "{count}");
            if way == Way::Backward {
                ranges.reverse();
            }
            assert_eq!(ranges.first().map(|range| range.start), Some(0));
            assert!(ranges.windows(2).all(|two| two[0].end == two[1].start));
            assert_eq!(ranges.last().map(|range| range.end), Some(count));
        };
        for way in [Way::Forward, Way::Backward] {
            check(way, 0, 0);
            check(way, SLICE_BYTES / 8, 0);
            check(way, SLICE_BYTES / 8 + 1, 1);
            check(way, 3 * SLICE_BYTES / 8, 2);
        }
        assert_eq!(slices(Way::Forward, 10, 1, || (), |first, number| Some((first, number))), Some((0, 10)));
    }
}
