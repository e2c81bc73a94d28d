//! Look-ups by key column, list ranges and owners. ECMA-335 §II.22.
//!
//! Invariant: a look-up gives the same rows, in table order, whether or not the table is sorted. A table
//! that its producer marks sorted is searched in place; any other key column is examined on first use and
//! either found sorted or given a permutation that sorts it. Left out: `Ptr` tables whose entries
//! are not consecutive within one list; such a list is a `BadImage`.

use std::ops::Range;
use std::sync::OnceLock;

use crate::error::BadImage;
use crate::image::Image;
use crate::rows::{
    ClassLayoutRow, ConstantRow, CustomAttributeRow, DeclSecurityRow, FieldMarshalRow, GenericParamConstraintRow,
    ImplMapRow, InterfaceImplRow, MethodImplRow, MethodSemanticsRow, TableRow,
};
use crate::token::{CodedKind, Rid, TableId, Token};

/// A table and the column by which it is searched.
#[derive(Clone, Copy)]
pub(crate) struct SearchColumn {
    slot: usize,
    table: TableId,
    column: usize,
    /// The column is the one by which §II.22 requires the table to be sorted.
    is_primary: bool,
}

macro_rules! keys {
    ($($name:ident = $slot:literal: $table:ident[$column:literal] $primary:literal;)*) => {
        $(const $name: SearchColumn =
            SearchColumn { slot: $slot, table: TableId::$table, column: $column, is_primary: $primary };)*
        const KEY_COUNT: usize = [$($slot),*].len();
    };
}

keys! {
    CLASS_LAYOUT = 0: ClassLayout[2] true;
    FIELD_LAYOUT = 1: FieldLayout[1] true;
    FIELD_RVA = 2: FieldRva[1] true;
    FIELD_MARSHAL = 3: FieldMarshal[0] true;
    CONSTANT = 4: Constant[1] true;
    NESTED_BY_NESTED = 5: NestedClass[0] true;
    NESTED_BY_ENCLOSING = 6: NestedClass[1] false;
    IMPL_MAP = 7: ImplMap[1] true;
    CUSTOM_ATTRIBUTE = 8: CustomAttribute[0] true;
    GENERIC_PARAM = 9: GenericParam[2] true;
    GENERIC_PARAM_CONSTRAINT = 10: GenericParamConstraint[0] true;
    INTERFACE_IMPL = 11: InterfaceImpl[0] true;
    METHOD_IMPL = 12: MethodImpl[0] true;
    PROPERTY_MAP = 13: PropertyMap[0] false;
    EVENT_MAP = 14: EventMap[0] false;
    SEMANTICS_BY_ASSOCIATION = 15: MethodSemantics[2] true;
    SEMANTICS_BY_METHOD = 16: MethodSemantics[1] false;
    DECL_SECURITY = 17: DeclSecurity[1] true;
    FIELD_PTR = 18: FieldPtr[0] false;
    METHOD_PTR = 19: MethodPtr[0] false;
    PARAM_PTR = 20: ParamPtr[0] false;
    EVENT_PTR = 21: EventPtr[0] false;
    PROPERTY_PTR = 22: PropertyPtr[0] false;
    TYPE_DEF_FIELDS = 23: TypeDef[4] false;
    TYPE_DEF_METHODS = 24: TypeDef[5] false;
    METHOD_DEF_PARAMS = 25: MethodDef[5] false;
    PROPERTY_MAP_LIST = 26: PropertyMap[1] false;
    EVENT_MAP_LIST = 27: EventMap[1] false;
}

/// Row order of a table by one key column.
enum Order {
    /// The rows are already in order.
    InPlace,
    /// `rids[i]` is the i-th row by key; equal keys stay in table order.
    Permuted(Box<[Rid]>),
}

/// One lazily found `Order` per key.
#[derive(Default)]
pub(crate) struct LookupIndexes {
    orders: [OnceLock<Order>; KEY_COUNT],
}

/// The rids of the rows with one key value, in table order.
#[derive(Clone)]
pub struct MatchedRids<'a> {
    positions: Range<u32>,
    permutation: Option<&'a [Rid]>,
}

impl Iterator for MatchedRids<'_> {
    type Item = Rid;

    fn next(&mut self) -> Option<Rid> {
        let position = self.positions.next()?;
        match self.permutation {
            None => Some(position + 1),
            Some(rids) => rids.get(position as usize).copied(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.positions.size_hint()
    }
}

impl ExactSizeIterator for MatchedRids<'_> {}

/// The rows with one key value, in table order.
#[derive(Clone)]
pub struct MatchedRows<'a, R> {
    image: &'a Image,
    rids: MatchedRids<'a>,
    row: std::marker::PhantomData<fn() -> R>,
}

impl<'a, R> MatchedRows<'a, R> {
    /// The row numbers, without reading the rows.
    pub fn rids(&self) -> MatchedRids<'a> {
        self.rids.clone()
    }
}

impl<R: TableRow> Iterator for MatchedRows<'_, R> {
    type Item = Result<R, BadImage>;

    fn next(&mut self) -> Option<Self::Item> {
        let rid = self.rids.next()?;
        Some(R::read(self.image, rid))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rids.size_hint()
    }
}

impl<R: TableRow> ExactSizeIterator for MatchedRows<'_, R> {}

impl Image {
    #[inline]
    fn cell(&self, key: SearchColumn, rid: Rid) -> u32 {
        self.table_info(key.table).and_then(|info| info.cell(self.bytes(), rid, key.column)).unwrap_or(0)
    }

    fn permutation(&self, key: SearchColumn) -> Option<&[Rid]> {
        if key.is_primary && self.is_marked_sorted(key.table) {
            return None;
        }
        let order = self.lookups.orders.get(key.slot)?.get_or_init(|| {
            let row_count = self.row_count(key.table);
            let is_sorted = (1..row_count).all(|rid| self.cell(key, rid) <= self.cell(key, rid + 1));
            if is_sorted {
                return Order::InPlace;
            }
            let mut rids: Vec<Rid> = (1..=row_count).collect();
            rids.sort_by_key(|&rid| self.cell(key, rid));
            Order::Permuted(rids.into_boxed_slice())
        });
        match order {
            Order::InPlace => None,
            Order::Permuted(rids) => Some(rids),
        }
    }

    /// First position in key order whose key is not below `value`.
    fn lower_bound(&self, key: SearchColumn, permutation: Option<&[Rid]>, value: u32) -> u32 {
        let (mut low, mut high) = (0, self.row_count(key.table));
        while low < high {
            let middle = low + (high - low) / 2;
            let rid = match permutation {
                None => middle + 1,
                Some(rids) => rids.get(middle as usize).copied().unwrap_or(0),
            };
            if self.cell(key, rid) < value {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    fn matching(&self, key: SearchColumn, value: Option<u32>) -> MatchedRids<'_> {
        let Some(value) = value else {
            return MatchedRids { positions: 0..0, permutation: None };
        };
        let permutation = self.permutation(key);
        let start = self.lower_bound(key, permutation, value);
        let mut rids = MatchedRids { positions: start..self.row_count(key.table), permutation };
        let matched = rids.clone().take_while(|&rid| self.cell(key, rid) == value).count();
        rids.positions.end = start + matched as u32;
        rids
    }

    fn matching_rows<R>(&self, key: SearchColumn, value: Option<u32>) -> MatchedRows<'_, R> {
        MatchedRows { image: self, rids: self.matching(key, value), row: std::marker::PhantomData }
    }

    fn first<R: TableRow>(&self, key: SearchColumn, value: Option<u32>) -> Result<Option<R>, BadImage> {
        self.matching_rows(key, value).next().transpose()
    }

    /// Size and packing of a type. Errors: `BadImage` when the row is invalid; also below.
    pub fn class_layout(&self, type_rid: Rid) -> Result<Option<ClassLayoutRow>, BadImage> {
        self.first(CLASS_LAYOUT, Some(type_rid))
    }

    /// Explicit offset of a field in bytes.
    pub fn field_layout(&self, field_rid: Rid) -> Result<Option<u32>, BadImage> {
        match self.matching(FIELD_LAYOUT, Some(field_rid)).next() {
            Some(rid) => self.field_layout_row(rid).map(|row| Some(row.offset)),
            None => Ok(None),
        }
    }

    /// RVA of the initial bytes of a static field.
    pub fn field_rva(&self, field_rid: Rid) -> Result<Option<u32>, BadImage> {
        match self.matching(FIELD_RVA, Some(field_rid)).next() {
            Some(rid) => self.field_rva_row(rid).map(|row| Some(row.rva)),
            None => Ok(None),
        }
    }

    /// Marshalling of a Field or Param.
    pub fn field_marshal(&self, parent: Token) -> Result<Option<FieldMarshalRow>, BadImage> {
        self.first(FIELD_MARSHAL, CodedKind::HasFieldMarshal.encode(parent))
    }

    /// Constant of a Field, Param or Property.
    pub fn constant(&self, parent: Token) -> Result<Option<ConstantRow>, BadImage> {
        self.first(CONSTANT, CodedKind::HasConstant.encode(parent))
    }

    /// The enclosing type of a nested type.
    pub fn enclosing_class(&self, type_rid: Rid) -> Option<Rid> {
        let rid = self.matching(NESTED_BY_NESTED, Some(type_rid)).next()?;
        self.nested_class(rid).ok().map(|row| row.enclosing_class)
    }

    /// The types nested directly in a type, in table order.
    pub fn nested_classes(&self, type_rid: Rid) -> impl Iterator<Item = Rid> {
        self.matching(NESTED_BY_ENCLOSING, Some(type_rid))
            .filter_map(|rid| self.nested_class(rid).ok())
            .map(|row| row.nested_class)
    }

    /// P/Invoke target of a MethodDef (or Field).
    pub fn impl_map(&self, member: Token) -> Result<Option<ImplMapRow>, BadImage> {
        self.first(IMPL_MAP, CodedKind::MemberForwarded.encode(member))
    }

    /// Custom attributes of the row `parent`, which may be of any table that can have them.
    pub fn custom_attributes(&self, parent: Token) -> MatchedRows<'_, CustomAttributeRow> {
        self.matching_rows(CUSTOM_ATTRIBUTE, CodedKind::HasCustomAttribute.encode(parent))
    }

    /// Generic parameters of a TypeDef or MethodDef, in order of their numbers.
    ///
    /// Errors: the rows of `owner` are not consecutive.
    pub fn generic_params(&self, owner: Token) -> Result<Range<Rid>, BadImage> {
        let mut rids = self.matching(GENERIC_PARAM, CodedKind::TypeOrMethodDef.encode(owner));
        let Some(first) = rids.next() else { return Ok(1..1) };
        let mut end = first + 1;
        for rid in rids {
            if rid != end {
                return Err(self.no_contiguous_list(TableId::GenericParam, rid));
            }
            end += 1;
        }
        Ok(first..end)
    }

    /// Constraints of a generic parameter: TypeDef, TypeRef or TypeSpec.
    pub fn generic_param_constraints(&self, generic_param_rid: Rid) -> impl Iterator<Item = Result<Token, BadImage>> {
        self.generic_param_constraint_rows(generic_param_rid).map(|row| row.map(|row| row.constraint))
    }

    /// Constraint rows of a generic parameter.
    pub fn generic_param_constraint_rows(&self, generic_param_rid: Rid) -> MatchedRows<'_, GenericParamConstraintRow> {
        self.matching_rows(GENERIC_PARAM_CONSTRAINT, Some(generic_param_rid))
    }

    /// Interfaces a type declares: TypeDef, TypeRef or TypeSpec.
    pub fn interface_impls(&self, type_rid: Rid) -> impl Iterator<Item = Result<Token, BadImage>> {
        self.interface_impl_rows(type_rid).map(|row| row.map(|row| row.interface))
    }

    /// InterfaceImpl rows of a type.
    pub fn interface_impl_rows(&self, type_rid: Rid) -> MatchedRows<'_, InterfaceImplRow> {
        self.matching_rows(INTERFACE_IMPL, Some(type_rid))
    }

    /// Explicit overrides of a type.
    pub fn method_impls(&self, type_rid: Rid) -> MatchedRows<'_, MethodImplRow> {
        self.matching_rows(METHOD_IMPL, Some(type_rid))
    }

    /// Accessors of a Property or Event.
    pub fn method_semantics(&self, association: Token) -> MatchedRows<'_, MethodSemanticsRow> {
        self.matching_rows(SEMANTICS_BY_ASSOCIATION, CodedKind::HasSemantics.encode(association))
    }

    /// The properties and events of which a method is an accessor.
    pub fn method_semantics_of_method(&self, method_rid: Rid) -> MatchedRows<'_, MethodSemanticsRow> {
        self.matching_rows(SEMANTICS_BY_METHOD, Some(method_rid))
    }

    /// Declarative security of a TypeDef, MethodDef or Assembly.
    pub fn decl_security(&self, parent: Token) -> MatchedRows<'_, DeclSecurityRow> {
        self.matching_rows(DECL_SECURITY, CodedKind::HasDeclSecurity.encode(parent))
    }

    /// Fields of a type. Errors: the type does not exist, or its list is out of range.
    pub fn type_def_fields(&self, type_rid: Rid) -> Result<Range<Rid>, BadImage> {
        self.list(TYPE_DEF_FIELDS, type_rid, FIELD_PTR, TableId::Field)
    }

    /// Methods of a type. Errors: as `type_def_fields`.
    pub fn type_def_methods(&self, type_rid: Rid) -> Result<Range<Rid>, BadImage> {
        self.list(TYPE_DEF_METHODS, type_rid, METHOD_PTR, TableId::MethodDef)
    }

    /// Parameter rows of a method (they may skip parameters; see `ParamRow::sequence`).
    /// Errors: as `type_def_fields`.
    pub fn method_params(&self, method_rid: Rid) -> Result<Range<Rid>, BadImage> {
        self.list(METHOD_DEF_PARAMS, method_rid, PARAM_PTR, TableId::Param)
    }

    /// Properties of a type; empty when it has none. Errors: its list is out of range.
    pub fn properties(&self, type_rid: Rid) -> Result<Range<Rid>, BadImage> {
        match self.matching(PROPERTY_MAP, Some(type_rid)).next() {
            Some(map_rid) => self.list(PROPERTY_MAP_LIST, map_rid, PROPERTY_PTR, TableId::Property),
            None => Ok(1..1),
        }
    }

    /// Events of a type; empty when it has none. Errors: its list is out of range.
    pub fn events(&self, type_rid: Rid) -> Result<Range<Rid>, BadImage> {
        match self.matching(EVENT_MAP, Some(type_rid)).next() {
            Some(map_rid) => self.list(EVENT_MAP_LIST, map_rid, EVENT_PTR, TableId::Event),
            None => Ok(1..1),
        }
    }

    /// The list that begins at `list[owner_rid]` and ends where the next row's list begins.
    fn list(
        &self,
        list: SearchColumn,
        owner_rid: Rid,
        ptr: SearchColumn,
        target: TableId,
    ) -> Result<Range<Rid>, BadImage> {
        let owner_count = self.row_count(list.table);
        if owner_rid == 0 || owner_rid > owner_count {
            return Err(self.no_such_row(list.table, owner_rid));
        }
        let has_ptr = self.row_count(ptr.table) != 0;
        let entry_count = self.row_count(if has_ptr { ptr.table } else { target });
        let start = self.cell(list, owner_rid);
        let end = if owner_rid == owner_count { entry_count + 1 } else { self.cell(list, owner_rid + 1) };
        if start == end {
            return Ok(1..1);
        }
        // A producer may write 0 or one past the end for an empty list at the end.
        let end = end.min(entry_count + 1);
        if start == 0 && end <= 1 || start == entry_count + 1 {
            return Ok(1..1);
        }
        if start == 0 || start > end {
            let what = format!("{:?}[{owner_rid:#x}] has list {start:#x}..{end:#x}", list.table);
            return Err(self.bad_image(0, what));
        }
        if !has_ptr {
            return Ok(start..end);
        }
        let first = self.cell(ptr, start);
        for entry in start..end {
            let rid = self.cell(ptr, entry);
            if rid == 0 || rid > self.row_count(target) {
                return Err(self.no_such_row(target, rid));
            }
            if rid - first.min(rid) != entry - start {
                return Err(self.no_contiguous_list(ptr.table, entry));
            }
        }
        Ok(first..first + (end - start))
    }

    #[cold]
    fn no_contiguous_list(&self, table: TableId, rid: Rid) -> BadImage {
        self.bad_image(0, format!("{table:?}[{rid:#x}] does not continue its list"))
    }

    /// The row of `list.table` whose list holds `rid`.
    fn list_owner(&self, list: SearchColumn, rid: Rid, ptr: SearchColumn, target: TableId) -> Option<Rid> {
        if rid == 0 || rid > self.row_count(target) {
            return None;
        }
        let entry = match self.row_count(ptr.table) {
            0 => rid,
            _ => self.matching(ptr, Some(rid)).next()?,
        };
        let permutation = self.permutation(list);
        let above = self.lower_bound(list, permutation, entry + 1);
        let owner = match permutation {
            None => above,
            Some(rids) => rids.get(above.checked_sub(1)? as usize).copied()?,
        };
        (owner != 0).then_some(owner)
    }

    /// The type a method belongs to. Errors: no type's list holds it.
    pub fn type_of_method(&self, method_rid: Rid) -> Result<Rid, BadImage> {
        self.list_owner(TYPE_DEF_METHODS, method_rid, METHOD_PTR, TableId::MethodDef)
            .ok_or_else(|| self.no_owner(TableId::MethodDef, method_rid))
    }

    /// The type a field belongs to. Errors: no type's list holds it.
    pub fn type_of_field(&self, field_rid: Rid) -> Result<Rid, BadImage> {
        self.list_owner(TYPE_DEF_FIELDS, field_rid, FIELD_PTR, TableId::Field)
            .ok_or_else(|| self.no_owner(TableId::Field, field_rid))
    }

    /// The method a Param row belongs to. Errors: no method's list holds it.
    pub fn method_of_param(&self, param_rid: Rid) -> Result<Rid, BadImage> {
        self.list_owner(METHOD_DEF_PARAMS, param_rid, PARAM_PTR, TableId::Param)
            .ok_or_else(|| self.no_owner(TableId::Param, param_rid))
    }

    /// The type a property belongs to. Errors: no type's list holds it.
    pub fn type_of_property(&self, property_rid: Rid) -> Result<Rid, BadImage> {
        self.list_owner(PROPERTY_MAP_LIST, property_rid, PROPERTY_PTR, TableId::Property)
            .and_then(|map_rid| self.property_map(map_rid).ok())
            .map(|row| row.parent)
            .ok_or_else(|| self.no_owner(TableId::Property, property_rid))
    }

    /// The type an event belongs to. Errors: no type's list holds it.
    pub fn type_of_event(&self, event_rid: Rid) -> Result<Rid, BadImage> {
        self.list_owner(EVENT_MAP_LIST, event_rid, EVENT_PTR, TableId::Event)
            .and_then(|map_rid| self.event_map(map_rid).ok())
            .map(|row| row.parent)
            .ok_or_else(|| self.no_owner(TableId::Event, event_rid))
    }

    #[cold]
    fn no_owner(&self, table: TableId, rid: Rid) -> BadImage {
        self.bad_image(0, format!("{table:?}[{rid:#x}] belongs to no row"))
    }
}
