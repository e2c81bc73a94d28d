//! Properties and events of exact types. ECMA-335 §II.22.13, §II.22.34.

use rustc_hash::FxHashMap;
use saki_base::locks::{RwLock, rank};
use saki_metadata::{Rid, TableId, Token};
use saki_types::collectible;
use saki_types::{GenericContext, Image, LoadResult, Method, Ty};

/// A property of an exact type. Equality is identity.
pub struct Property {
    pub owner: Ty,
    pub image: &'static Image,
    pub rid: Rid,
    pub name: &'static str,
    /// `PropertyAttributes`.
    pub flags: u16,
    pub getter: Option<&'static Method>,
    pub setter: Option<&'static Method>,
}

/// An event of an exact type. Equality is identity.
pub struct EventDefinition {
    pub owner: Ty,
    pub image: &'static Image,
    pub rid: Rid,
    pub name: &'static str,
    /// `EventAttributes`.
    pub flags: u16,
    pub add: Option<&'static Method>,
    pub remove: Option<&'static Method>,
    pub raise: Option<&'static Method>,
    pub others: Vec<&'static Method>,
}

/// `MethodSemanticsAttributes`, §II.23.1.12.
mod semantics {
    /// The accessor that sets a property.
    pub const SETTER: u16 = 1;
    /// The accessor that gets a property.
    pub const GETTER: u16 = 2;
    /// Another method of a property or event.
    pub const OTHER: u16 = 4;
    /// The method that adds a handler to an event.
    pub const ADD: u16 = 8;
    /// The method that removes a handler from an event.
    pub const REMOVE: u16 = 0x10;
    /// The method that raises an event.
    pub const FIRE: u16 = 0x20;
}

impl Property {
    /// Type of the value, as the accessors have it.
    ///
    /// # Errors
    /// `BadImageFormat`, `TypeLoad`.
    pub fn value_type(&self) -> LoadResult<Option<Ty>> {
        if let Some(getter) = self.getter {
            return Ok(Some(getter.sig()?.ret));
        }
        match self.setter {
            Some(setter) => Ok(setter.sig()?.params.last().copied()),
            None => Ok(None),
        }
    }

    /// The property's row in its image.
    pub fn token(&self) -> Token {
        Token::new(TableId::Property, self.rid)
    }
}

impl EventDefinition {
    /// The event's row in its image.
    pub fn token(&self) -> Token {
        Token::new(TableId::Event, self.rid)
    }

    /// The delegate type.
    ///
    /// # Errors
    /// `BadImageFormat`, `TypeLoad`.
    pub fn handler_type(&self) -> LoadResult<Ty> {
        let row = self.image.meta.event(self.rid)?;
        self.image.resolve_type(row.event_type, &GenericContext { class_args: self.owner.args, method_args: &[] })
    }
}

type Table<R, T> = RwLock<R, Option<FxHashMap<Ty, &'static [&'static T]>>>;

static PROPERTIES: Table<rank::Properties, Property> = RwLock::new(None);
static EVENTS: Table<rank::Events, EventDefinition> = RwLock::new(None);

fn cached<R: rank::Rank, T: 'static>(
    table: &Table<R, T>,
    ty: Ty,
    make: impl FnOnce(Ty) -> LoadResult<Vec<&'static T>>,
) -> LoadResult<&'static [&'static T]> {
    if ty.def().is_none() {
        return Ok(&[]);
    }
    if let Some(found) = table.read().as_ref().and_then(|table| table.get(&ty)) {
        return Ok(found);
    }
    let made = make(ty)?;
    let mut table = table.write();
    Ok(table
        .get_or_insert_default()
        .entry(ty)
        .or_insert_with(|| collectible::keep_slice_with(collectible::owner_of(ty), made)))
}

/// Drops the members of types of dead assemblies.
pub(crate) fn forget_dead() {
    fn forget<R: rank::Rank, T>(table: &Table<R, T>) {
        if let Some(table) = table.write().as_mut() {
            table.retain(|ty, _| !collectible::is_dead(std::ptr::from_ref(*ty).addr()));
        }
    }
    forget(&PROPERTIES);
    forget(&EVENTS);
}

/// (semantics, method) of each accessor.
fn accessors(ty: Ty, image: &'static Image, association: Token) -> LoadResult<Vec<(u16, &'static Method)>> {
    let mut out = Vec::new();
    for row in image.meta.method_semantics(association) {
        let row = row?;
        out.push((row.semantics, ty.method_by_rid(row.method)?));
    }
    Ok(out)
}

fn first(accessors: &[(u16, &'static Method)], semantics: u16) -> Option<&'static Method> {
    accessors.iter().find(|(which, _)| *which & semantics != 0).map(|(_, method)| *method)
}

/// Own properties in metadata order.
///
/// # Errors
/// `BadImageFormat`.
pub fn properties_of(ty: Ty) -> LoadResult<&'static [&'static Property]> {
    cached(&PROPERTIES, ty, |ty| {
        let Some(def) = ty.def() else { return Ok(Vec::new()) };
        let image = def.image;
        let mut out: Vec<&'static Property> = Vec::new();
        for rid in image.meta.properties(def.rid)? {
            let row = image.meta.property(rid)?;
            let accessors = accessors(ty, image, Token::new(TableId::Property, rid))?;
            let property = Property {
                owner: ty,
                image,
                rid,
                name: image.meta.string(row.name)?,
                flags: row.flags,
                getter: first(&accessors, semantics::GETTER),
                setter: first(&accessors, semantics::SETTER),
            };
            out.push(collectible::keep_beside(ty, property));
        }
        Ok(out)
    })
}

/// Own events in metadata order.
///
/// # Errors
/// `BadImageFormat`.
pub fn events_of(ty: Ty) -> LoadResult<&'static [&'static EventDefinition]> {
    cached(&EVENTS, ty, |ty| {
        let Some(def) = ty.def() else { return Ok(Vec::new()) };
        let image = def.image;
        let mut out: Vec<&'static EventDefinition> = Vec::new();
        for rid in image.meta.events(def.rid)? {
            let row = image.meta.event(rid)?;
            let accessors = accessors(ty, image, Token::new(TableId::Event, rid))?;
            let event = EventDefinition {
                owner: ty,
                image,
                rid,
                name: image.meta.string(row.name)?,
                flags: row.flags,
                add: first(&accessors, semantics::ADD),
                remove: first(&accessors, semantics::REMOVE),
                raise: first(&accessors, semantics::FIRE),
                others: accessors.iter().filter(|(s, _)| *s & semantics::OTHER != 0).map(|(_, m)| *m).collect(),
            };
            out.push(collectible::keep_beside(ty, event));
        }
        Ok(out)
    })
}

/// The property of this name in the type or the nearest ancestor that has one.
///
/// # Errors
/// `BadImageFormat`, `TypeLoad`.
pub fn find_property(ty: Ty, name: &str) -> LoadResult<Option<&'static Property>> {
    let mut at = Some(ty);
    while let Some(ty) = at {
        if let Some(found) = properties_of(ty)?.iter().copied().find(|p| p.name == name) {
            return Ok(Some(found));
        }
        at = ty.parent()?;
    }
    Ok(None)
}

/// The field of this name in the type or the nearest ancestor that has one.
///
/// # Errors
/// `BadImageFormat`, `TypeLoad`.
pub fn find_field(ty: Ty, name: &str) -> LoadResult<Option<&'static saki_types::Field>> {
    let mut at = Some(ty);
    while let Some(ty) = at {
        if let Some(found) = ty.find_field(name)? {
            return Ok(Some(found));
        }
        at = ty.parent()?;
    }
    Ok(None)
}
