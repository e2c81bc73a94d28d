//! Targets of conversions, which compiled code names by number where it calls a helper.
//!
//! Invariant: `jit` sends `ConvTarget::number`, and the helper reads it with `ConvTarget::from_number`; no other code
//! knows the numbers.

/// Targets of `conv.*`. I1…U4 leave an I32 on the stack (sign- or zero-extended), the others their own type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ConvTarget {
    I1,
    U1,
    I2,
    U2,
    I4,
    U4,
    I8,
    U8,
    I,
    U,
    R4,
    R8,
    /// `conv.r.un`: unsigned integer to F64.
    RUn,
}

impl ConvTarget {
    const ALL: [ConvTarget; 13] = {
        use ConvTarget as C;
        [C::I1, C::U1, C::I2, C::U2, C::I4, C::U4, C::I8, C::U8, C::I, C::U, C::R4, C::R8, C::RUn]
    };

    /// Width in bits and signedness of an integer target; None for floating-point numbers.
    pub const fn integer(self) -> Option<(u32, bool)> {
        Some(match self {
            ConvTarget::I1 => (8, true),
            ConvTarget::U1 => (8, false),
            ConvTarget::I2 => (16, true),
            ConvTarget::U2 => (16, false),
            ConvTarget::I4 => (32, true),
            ConvTarget::U4 => (32, false),
            ConvTarget::I8 | ConvTarget::I => (64, true),
            ConvTarget::U8 | ConvTarget::U => (64, false),
            ConvTarget::R4 | ConvTarget::R8 | ConvTarget::RUn => return None,
        })
    }

    pub const fn number(self) -> i32 {
        self as i32
    }

    /// The target that has this number.
    pub fn from_number(number: i32) -> Option<ConvTarget> {
        usize::try_from(number).ok().and_then(|number| ConvTarget::ALL.get(number)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_means_the_target_that_gave_it() {
        for target in ConvTarget::ALL {
            assert_eq!(ConvTarget::from_number(target.number()), Some(target));
        }
        assert_eq!(ConvTarget::from_number(ConvTarget::RUn.number() + 1), None);
        assert_eq!(ConvTarget::from_number(-1), None);
    }
}
