mod accounting;
#[macro_use]
pub(crate) mod layout;
pub(crate) mod blockpageresource;
pub(crate) mod chunk_map;
pub(crate) mod externalpageresource;
pub(crate) mod freelistpageresource;
pub(crate) mod gc_trigger;
mod heap_meta;
pub(crate) mod monotonepageresource;
pub(crate) mod pageresource;
pub(crate) mod regionpageresource;
pub(crate) mod space_descriptor;
mod vmrequest;

pub(crate) use self::accounting::PageAccounting;
pub(crate) use self::blockpageresource::BlockPageResource;
pub(crate) use self::freelistpageresource::FreeListPageResource;
pub use self::gc_trigger::GCTriggerPolicy;
pub use self::gc_trigger::SpaceStats;
pub(crate) use self::heap_meta::HeapMeta;
pub use self::layout::vm_layout;
pub(crate) use self::monotonepageresource::MonotonePageResource;
pub(crate) use self::pageresource::PageResource;
pub(crate) use self::regionpageresource::RegionPageResource;
pub(crate) use self::vmrequest::VMRequest;
