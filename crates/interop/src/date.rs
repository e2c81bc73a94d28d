//! The native form of DateTime: an OLE automation date, a double that counts days since 1899-12-30.
//!
//! Invariant: both directions work in whole milliseconds, as `DateTime.ToOADate` and `FromOADate` do, so that a date
//! that goes to native code and comes back is the same to the millisecond. For dates before the base day the integer
//! part is negative and the fraction still counts forwards, from midnight of the day.

/// The bits of `DateTime`'s data that hold the ticks, of 100 ns since year 1; the bits above hold the kind.
const TICKS_MASK: u64 = 0x3fff_ffff_ffff_ffff;
const TICKS_PER_MILLISECOND: i64 = 10_000;
const MILLISECONDS_PER_DAY: i64 = 86_400_000;
const TICKS_PER_DAY: i64 = MILLISECONDS_PER_DAY * TICKS_PER_MILLISECOND;
/// 1899-12-30.
const BASE_TICKS: i64 = 693_593 * TICKS_PER_DAY;
/// Exclusive limits: years 100 to 9999.
const MIN_DATE: f64 = -657_435.0;
const MAX_DATE: f64 = 2_958_466.0;

/// The date of a `DateTime`'s data. A time without a day belongs to the base day, as in .NET.
pub fn to_ole(data: u64) -> f64 {
    let ticks = (data & TICKS_MASK) as i64;
    if ticks == 0 {
        return 0.0;
    }
    let since_base = if ticks < TICKS_PER_DAY { ticks } else { ticks - BASE_TICKS };
    let mut milliseconds = since_base / TICKS_PER_MILLISECOND;
    let fraction = milliseconds % MILLISECONDS_PER_DAY;
    if fraction < 0 {
        milliseconds -= (MILLISECONDS_PER_DAY + fraction) * 2;
    }
    milliseconds as f64 / MILLISECONDS_PER_DAY as f64
}

/// A `DateTime`'s data, of unspecified kind; None for a date beyond the limits.
pub fn from_ole(date: f64) -> Option<u64> {
    if !(date > MIN_DATE && date < MAX_DATE) {
        return None;
    }
    let rounding = if date >= 0.0 { 0.5 } else { -0.5 };
    let mut milliseconds = (date * MILLISECONDS_PER_DAY as f64 + rounding) as i64;
    if milliseconds < 0 {
        milliseconds -= (milliseconds % MILLISECONDS_PER_DAY) * 2;
    }
    u64::try_from(milliseconds * TICKS_PER_MILLISECOND + BASE_TICKS).ok()
}

#[cfg(test)]
mod tests {
    use super::{BASE_TICKS, TICKS_PER_DAY, from_ole, to_ole};

    #[test]
    fn noon_before_and_after_the_base_day() {
        for (days, date) in [(0, 0.5), (1, 1.5), (-1, -1.5), (-2, -2.5)] {
            let data = (BASE_TICKS + days * TICKS_PER_DAY + TICKS_PER_DAY / 2) as u64;
            assert_eq!(to_ole(data), date);
            assert_eq!(from_ole(date), Some(data));
        }
        assert_eq!(from_ole(f64::NAN), None);
        assert_eq!(to_ole(0), 0.0);
    }
}
