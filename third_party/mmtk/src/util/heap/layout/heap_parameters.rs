/**
 * log_2 of the maximum number of spaces a Plan can support.
 */
pub const LOG_MAX_SPACES: usize = 4;

/**
 * Maximum number of spaces a Plan can support.
 */
pub const MAX_SPACES: usize = 1 << LOG_MAX_SPACES;
