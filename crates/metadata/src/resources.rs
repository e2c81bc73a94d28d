//! Embedded manifest resources. ECMA-335 §II.22.24, §II.24.2.
//!
//! Left out: the format inside a resource, and resources in other files.

use crate::bytes::ByteCursor;
use crate::error::BadImage;
use crate::image::Image;
use crate::token::{Rid, TableId};

impl Image {
    /// The ManifestResource row of this name, if any. Errors: a row or a name is invalid.
    pub fn find_manifest_resource(&self, name: &str) -> Result<Option<Rid>, BadImage> {
        for rid in 1..=self.row_count(TableId::ManifestResource) {
            if self.string_bytes(self.manifest_resource(rid)?.name)? == name.as_bytes() {
                return Ok(Some(rid));
            }
        }
        Ok(None)
    }

    /// The bytes of an embedded resource.
    ///
    /// Errors: the resource is in another file or assembly; its bytes are out of range.
    pub fn embedded_resource(&self, resource_rid: Rid) -> Result<&[u8], BadImage> {
        let row = self.manifest_resource(resource_rid)?;
        if !row.implementation.is_nil() {
            let what = format!("resource {resource_rid:#x} is in {}", row.implementation);
            return Err(self.bad_image(0, what));
        }
        let directory = self.resources_dir();
        let area = self.rva_to_tail(directory.rva)?;
        let area = area.get(..directory.size_bytes as usize).unwrap_or(area);
        let mut cursor = ByteCursor::at(area, row.offset as usize);
        cursor.u32().and_then(|len| cursor.take(len as usize)).ok_or_else(|| {
            let what = format!("resource {resource_rid:#x} lies outside the resource area");
            self.bad_image(self.rva_to_offset(directory.rva).unwrap_or(0), what)
        })
    }

    /// The bytes of the embedded resource of this name; `None` when no row has the name.
    ///
    /// Errors: as `embedded_resource`.
    pub fn embedded_resource_by_name(&self, name: &str) -> Result<Option<&[u8]>, BadImage> {
        match self.find_manifest_resource(name)? {
            Some(rid) => self.embedded_resource(rid).map(Some),
            None => Ok(None),
        }
    }
}
