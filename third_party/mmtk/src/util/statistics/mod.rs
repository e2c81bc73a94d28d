pub use self::counter::Timer;

pub mod counter;
pub mod stats;
