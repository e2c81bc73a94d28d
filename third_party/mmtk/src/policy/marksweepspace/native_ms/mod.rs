mod block;
mod block_list;
mod global;

pub use block::*;
pub use block_list::*;
pub use global::*;
