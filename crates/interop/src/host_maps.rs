//! Maps of native libraries that an embedding host adds; they come before those in files, the last ones first.

use crate::dllmap::{DllMap, Mapped};
use saki_base::locks::{Mutex, rank};
use saki_types::Image;

/// A host's map, and the image that it is for; None: all.
type HostMap = (Option<usize>, DllMap);

static MAPS: Mutex<rank::HostMaps, Vec<HostMap>> = Mutex::new(Vec::new());

/// Adds a mapping: of a function, or without one of a whole library.
pub fn add(
    image: Option<&'static Image>,
    library: &str,
    function: Option<String>,
    target: Option<String>,
    target_function: Option<String>,
) {
    let image = image.map(|image| std::ptr::from_ref(image).addr());
    MAPS.lock().push((image, DllMap::of_entry(library, function, target, target_function)));
}

/// Adds the maps in a text: for one image, or without one for all.
pub fn add_text(image: Option<&'static Image>, text: &str) {
    MAPS.lock().push((image.map(|image| std::ptr::from_ref(image).addr()), DllMap::parse(text)));
}

/// What a host's map has for the names; None if no map names the library.
pub(crate) fn look_up(image: &'static Image, library: &str, function: &str) -> Option<Mapped> {
    let image = std::ptr::from_ref(image).addr();
    let maps = MAPS.lock();
    let fitting = maps.iter().rev().filter(|(of, _)| of.is_none_or(|of| of == image));
    fitting.map(|(_, map)| map.look_up(library, function)).find(|mapped| mapped.found)
}
