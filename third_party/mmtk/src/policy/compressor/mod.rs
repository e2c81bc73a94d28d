pub mod compressorspace;
pub mod forwarding;

pub use compressorspace::*;
