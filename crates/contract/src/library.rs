//! What the machine's code names in the class libraries, as data: types, fields and methods by their roles, and
//! profiles, which say how one class library differs.
//!
//! The tables (`types`, `fields`, `methods`) are written for Mono's class libraries. A `LibraryProfile` has the name of
//! the core assembly and the differences from the tables: what is called otherwise and what is absent. So a class
//! library without remoting, or with other names, is a profile, and no other code names its members by texts.
//! Invariants: names are unique in a profile; only what is marked `optional` may be absent. Left out: finding the
//! members (`types::library`), and what signatures do not express.

mod fields;
mod methods;
mod net;
mod types;

use crate::Version;
pub use fields::{FIELDS, FieldsOf, has_field};
pub use methods::LibraryMethod;
pub use types::{LibraryAssembly, LibraryType, TypeName};

/// Types of an assembly beside the core assembly whose methods the machine may replace. Programs bring copies of some
/// of these assemblies, so that the assembly's name decides, not its path.
pub struct Companion {
    pub assembly: &'static str,
    pub namespace: &'static str,
    /// Without the namespace; empty = all types.
    pub types: &'static [&'static str],
}

/// The vector types that class libraries have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VectorLibrary {
    /// Those of Mono's `System.Numerics` and of `Mono.Simd`.
    NumericsAndSimd,
    /// .NET's `Vector128<T>`, and `Vector<T>` of the same size.
    Intrinsics,
}

/// A kind of class libraries: see the module header.
pub struct LibraryProfile {
    /// For messages.
    pub name: &'static str,
    /// The assembly that defines Object.
    pub core_assembly: &'static str,
    /// The versions that this profile describes: they differ in the contract's lines, not in roles.
    pub versions: &'static [Version],
    /// Types that these class libraries lack.
    pub absent_types: &'static [LibraryType],
    /// Types with other names than the table's.
    pub renamed_types: &'static [(LibraryType, TypeName)],
    /// Fields that another class has than the table says: the table's owner, the table's name, the class here.
    pub moved_fields: &'static [(LibraryType, &'static str, LibraryType)],
    /// Fields with other names than the table's: owner here, the table's name, the name here.
    pub renamed_fields: &'static [(LibraryType, &'static str, &'static str)],
    /// Fields that later releases of these class libraries rename again: owner, name before, name after.
    pub later_fields: &'static [(LibraryType, &'static str, &'static str)],
    /// Properties of static classes that say whether the processor has some instructions, by the beginning of the
    /// classes' namespace: their getters call themselves, so that the compiler has to supply the answer.
    pub processor_facts: &'static [(&'static str, &'static str)],
    /// The methods of String, with the parameters of its constructors, that make what `newobj` of a string gives.
    pub string_factory: &'static str,
    /// Whether managed code looks at types through `abi::method_table::MethodTable`, and type handles are their
    /// addresses.
    pub reads_method_tables: bool,
    /// Whether a stack overflow ends the process: no exception is thrown for it.
    pub overflow_ends_process: bool,
    /// Whether arrays without ByValArray, VARIANT_BOOL and null objects in native structs are refused, structs by
    /// pointer (`LPStruct`) other than Guid and Decimal, arrays of StringBuilder, and `Marshal.StructureToPtr` of
    /// SafeHandle fields; and whether a buffer of ANSI characters is the struct that the compiler made for it.
    pub refuses_more_native_fields: bool,
    /// Whether messages of load errors have Mono's words, and the file's name of mscorlib is taken for its name.
    pub has_mono_texts: bool,
    /// Whether a method that calls a vararg method is refused.
    pub refuses_varargs: bool,
    /// Whether IntPtr[] is long[], a pointer's type is assignable to no other, and a boxed enumeration unboxes to a
    /// Nullable of its integer type.
    pub casts_as_mono: bool,
    /// Whether a type is refused in which a reference shares its word with a native number.
    pub refuses_shared_references: bool,
    /// Whether the explicit offsets of a class count from the end of its parent's fields; otherwise from the first
    /// field of the root class, so that derived classes may overlay inherited fields.
    pub offsets_follow_parent: bool,
    /// Whether unchecked conversions of floats that do not fit give the nearest integer, and 0 for NaN, as since .NET
    /// 9; otherwise what x64's instructions give.
    pub saturates_conversions: bool,
    /// The message of a NullReferenceException for an access through null; None = that of the exception's constructor
    /// without arguments.
    pub null_reference_text: Option<&'static str>,
    /// The parameter that the ArgumentNullException for a lock on null names.
    pub lock_parameter: Option<&'static str>,
    /// Whether the TypeLoadException for a class without an implementation of a method names the method.
    pub names_unimplemented_methods: bool,
    /// Words that objects of a class have for the machine, behind the class's own fields, and their names in the table
    /// of fields: what the class library has no field for.
    pub own_words: &'static [(LibraryType, &'static [&'static str])],
    /// Methods that are not treated specially here, although there may be methods of the name.
    pub absent_methods: &'static [LibraryMethod],
    /// Methods with other names than the table's.
    pub renamed_methods: &'static [(LibraryMethod, &'static str)],
    /// Which rows of vector operations (`il::import::vectors`) hold: what a method does with NaN, amounts of shifts or
    /// the least integer differs between Mono's vector types and those of .NET.
    pub vectors: VectorLibrary,
    /// Types outside the core assembly of which rows of vector operations and library loops name methods.
    pub companions: &'static [Companion],
}

/// The companions of Mono's class libraries. Only System.Memory's copy of SpanHelpers is as mscorlib's; its other types
/// have other layouts.
const MONO_COMPANIONS: &[Companion] = &[
    Companion { assembly: "Mono.Simd", namespace: "Mono.Simd", types: &[] },
    Companion { assembly: "System", namespace: "System.Diagnostics", types: &["Process"] },
    Companion { assembly: "System", namespace: "System.Net.Sockets", types: &["Socket"] },
    Companion { assembly: "System.Memory", namespace: "System", types: &["SpanHelpers"] },
    Companion { assembly: "System.Numerics", namespace: "System.Numerics", types: &[] },
    Companion { assembly: "System.Numerics.Vectors", namespace: "System.Numerics", types: &[] },
    Companion { assembly: "System.Private.CoreLib", namespace: "System.Numerics", types: &[] },
];

/// The companions of .NET's core assembly.
const NET_COMPANIONS: &[Companion] =
    &[Companion { assembly: "System.Diagnostics.Process", namespace: "System.Diagnostics", types: &["ProcessModule"] }];

/// Types that only .NET's class libraries have.
const MONO_ABSENT_TYPES: &[LibraryType] = &[
    LibraryType::DynamicResolver,
    LibraryType::Int128,
    LibraryType::RuntimeFieldInfoStub,
    LibraryType::RuntimeMethodInfoStub,
    LibraryType::SZArrayHelper,
    LibraryType::UInt128,
    LibraryType::MethodTable,
    LibraryType::RawArrayData,
    LibraryType::Vector128Of,
    LibraryType::Vector256Of,
    LibraryType::Vector512Of,
    LibraryType::AssemblyLoadContext,
    LibraryType::PortableThreadPool,
    LibraryType::RtFieldInfo,
    LibraryType::RuntimeExceptionHandlingClause,
    LibraryType::RuntimeLocalVariableInfo,
    LibraryType::RuntimeMethodBody,
    LibraryType::Signature,
];

impl LibraryProfile {
    /// The class libraries of Mono, for which the tables are written.
    pub const MONO: LibraryProfile = LibraryProfile {
        name: "Mono",
        core_assembly: "mscorlib",
        versions: &Version::MONO,
        absent_types: MONO_ABSENT_TYPES,
        renamed_types: &[],
        moved_fields: &[],
        renamed_fields: &[],
        later_fields: &[],
        processor_facts: &[],
        string_factory: "CreateString",
        reads_method_tables: false,
        overflow_ends_process: false,
        refuses_more_native_fields: false,
        has_mono_texts: true,
        refuses_varargs: false,
        casts_as_mono: true,
        refuses_shared_references: false,
        offsets_follow_parent: false,
        saturates_conversions: false,
        null_reference_text: Some("Object reference not set to an instance of an object"),
        lock_parameter: Some("obj"),
        names_unimplemented_methods: false,
        own_words: &[],
        absent_methods: &[],
        renamed_methods: &[],
        vectors: VectorLibrary::NumericsAndSimd,
        companions: MONO_COMPANIONS,
    };

    /// The class libraries of .NET, on System.Private.CoreLib.
    pub const NET: LibraryProfile = LibraryProfile {
        name: ".NET",
        core_assembly: "System.Private.CoreLib",
        versions: &Version::NET,
        absent_types: net::ABSENT_TYPES,
        renamed_types: net::RENAMED_TYPES,
        moved_fields: net::MOVED_FIELDS,
        renamed_fields: net::RENAMED_FIELDS,
        later_fields: net::LATER_FIELDS,
        processor_facts: net::PROCESSOR_FACTS,
        string_factory: "Ctor",
        reads_method_tables: true,
        overflow_ends_process: true,
        refuses_more_native_fields: true,
        has_mono_texts: false,
        refuses_varargs: true,
        casts_as_mono: false,
        refuses_shared_references: true,
        offsets_follow_parent: true,
        saturates_conversions: true,
        null_reference_text: None,
        lock_parameter: None,
        names_unimplemented_methods: true,
        own_words: net::OWN_WORDS,
        absent_methods: net::ABSENT_METHODS,
        renamed_methods: net::RENAMED_METHODS,
        vectors: VectorLibrary::Intrinsics,
        companions: NET_COMPANIONS,
    };

    /// All profiles: the machine takes the first whose core assembly it finds.
    pub const ALL: &'static [&'static LibraryProfile] = &[&LibraryProfile::MONO, &LibraryProfile::NET];

    /// The name of the type in these class libraries; None if they lack it.
    pub fn type_name(&self, role: LibraryType) -> Option<TypeName> {
        if self.absent_types.contains(&role) {
            return None;
        }
        let renamed = self.renamed_types.iter().find(|(renamed, _)| *renamed == role);
        Some(renamed.map_or_else(|| role.name(), |(_, name)| *name))
    }

    /// The class that has a field of the table in these class libraries.
    pub fn field_owner(&self, owner: LibraryType, name: &str) -> LibraryType {
        let moved = self.moved_fields.iter().find(|(of, field, _)| *of == owner && *field == name);
        moved.map_or(owner, |(_, _, to)| *to)
    }

    /// The name of a field of the table in these class libraries.
    pub fn field_name(&self, owner: LibraryType, name: &'static str) -> &'static str {
        let owner = self.field_owner(owner, name);
        let renamed = self.renamed_fields.iter().find(|(of, from, _)| *of == owner && *from == name);
        renamed.map_or(name, |(_, _, to)| to)
    }

    /// The name of the field in later releases, if it is another.
    pub fn later_field_name(&self, owner: LibraryType, name: &'static str) -> Option<&'static str> {
        let renamed = self.later_fields.iter().find(|(of, from, _)| *of == owner && *from == name);
        renamed.map(|(_, _, to)| *to)
    }

    /// The words of the machine in objects of a class: see `own_words`.
    pub fn own_words_of(&self, owner: LibraryType) -> &'static [&'static str] {
        self.own_words.iter().find(|(of, _)| *of == owner).map_or(&[], |(_, names)| names)
    }

    /// Whether a getter without parameters of a class in this namespace asks for a fact of the processor.
    pub fn is_processor_fact(&self, namespace: &str, getter: &str) -> bool {
        let is_fact = |(start, name): &(&str, &str)| *name == getter && namespace.starts_with(start);
        self.processor_facts.iter().any(is_fact)
    }

    /// Whether the classes of this namespace stand for instructions of a processor: their methods call themselves, so
    /// that the compiler has to supply the instruction. The namespaces lie below those of `processor_facts`.
    pub fn is_of_instructions(&self, namespace: &str) -> bool {
        let is_below = |start: &str| namespace.strip_prefix(start).is_some_and(|rest| rest.starts_with('.'));
        self.processor_facts.iter().any(|(start, _)| is_below(start))
    }

    /// Whether rows of vector operations and library loops may mean this type of an assembly beside the core assembly.
    pub fn has_companion(&self, assembly: &str, namespace: &str, name: &str) -> bool {
        self.companions.iter().any(|companion| {
            companion.namespace == namespace
                && companion.assembly == assembly
                && (companion.types.is_empty() || companion.types.contains(&name))
        })
    }

    /// The role of a method, by its owner's role, its name and the number of its parameters, which is asked for only if
    /// overloads differ in it.
    ///
    /// # Errors
    /// What `params` returns.
    pub fn method_role<E>(
        &self,
        owner: LibraryType,
        name: &str,
        params: impl FnOnce() -> Result<usize, E>,
    ) -> Result<Option<LibraryMethod>, E> {
        let rows = LibraryMethod::of_owner(owner).filter(|row| self.method_name(*row) == Some(name));
        methods::choose(rows, params)
    }

    /// The name of the method in these class libraries; None if none is treated so.
    pub fn method_name(&self, role: LibraryMethod) -> Option<&'static str> {
        if self.absent_methods.contains(&role) {
            return None;
        }
        let renamed = self.renamed_methods.iter().find(|(renamed, _)| *renamed == role);
        Some(renamed.map_or_else(|| role.name(), |(_, name)| name))
    }
}

#[cfg(test)]
mod tests {
    use super::fields::NET_FIELDS;
    use super::*;
    use crate::{Contract, LineKind};
    use std::collections::BTreeSet;

    /// "assembly:Namespace.Type::field" of each row of the tables; of the fields that both class libraries have, those
    /// of .NET's which have other names there.
    fn rows_of_fields() -> BTreeSet<String> {
        let rows = FIELDS.iter().flat_map(|row| row.names.iter().map(|name| (row.owner.name(), *name)));
        let of_net = NET_FIELDS.iter().flat_map(|row| row.names.iter().map(|name| (row.owner, *name)));
        let renamed = net::RENAMED_FIELDS.iter().chain(net::LATER_FIELDS);
        let of_net = of_net.chain(renamed.map(|(owner, _, name)| (*owner, *name)));
        let of_net = of_net.map(|(owner, name)| {
            let owner = LibraryProfile::NET.type_name(owner).unwrap_or_else(|| owner.name());
            format!("{}:{}.{}::{name}", LibraryProfile::NET.core_assembly, owner.namespace, owner.name)
        });
        rows.map(|(owner, name)| {
            let assembly = match owner.assembly {
                LibraryAssembly::Core => LibraryProfile::MONO.core_assembly,
                LibraryAssembly::Named(assembly) => assembly,
            };
            format!("{assembly}:{}.{}::{name}", owner.namespace, owner.name.replace('/', "+"))
        })
        .chain(of_net)
        .collect()
    }

    #[test]
    fn table_of_fields_is_that_of_the_contract() {
        let contract = Contract::own();
        let fields = contract.sections.iter().flat_map(|section| {
            let lines = section.lines.iter().filter(|line| line.kind == LineKind::Field);
            lines.map(|line| format!("{}:{}::{}", section.assembly, line.member().0, line.member().1))
        });
        // `corlib_mark` reads this one from the metadata, before there are types.
        let listed: BTreeSet<String> =
            fields.filter(|field| field != "mscorlib:System.Environment::mono_corlib_version").collect();
        let rows = rows_of_fields();
        assert_eq!(rows.difference(&listed).collect::<Vec<_>>(), Vec::<&String>::new(), "not in contract.txt");
        assert_eq!(listed.difference(&rows).collect::<Vec<_>>(), Vec::<&String>::new(), "not in the table");
    }

    #[test]
    fn names_of_types_are_unique() {
        let mut names = BTreeSet::new();
        for role in LibraryType::ALL {
            let name = role.name();
            assert!(names.insert((name.assembly, name.namespace, name.name)), "{role:?}");
        }
    }

    #[test]
    fn methods_of_an_owner_lie_together_and_differ() {
        let params = |count: usize| move || Ok::<usize, ()>(count);
        let role = |owner, name, count| LibraryProfile::MONO.method_role(owner, name, params(count)).unwrap();
        let flag = LibraryMethod::InterlockedCompareExchangeFlag;
        assert_eq!(
            role(LibraryType::Interlocked, "CompareExchange", 3),
            Some(LibraryMethod::InterlockedCompareExchange)
        );
        assert_eq!(role(LibraryType::Interlocked, "CompareExchange", 4), Some(flag));
        assert_eq!(role(LibraryType::Interlocked, "CompareExchange", 2), None);
        assert_eq!(role(LibraryType::GCHandle, "Alloc", 7), Some(LibraryMethod::GCHandleAlloc));
        assert_eq!(role(LibraryType::Decimal, "Add", 2), None);
        for method in LibraryMethod::ALL {
            let found = LibraryMethod::of_owner(method.owner()).filter(|other| other == method).count();
            assert_eq!(found, 1, "{method:?}: the rows of an owner lie together");
        }
    }

    #[test]
    fn profiles_rename_and_lack() {
        let other = LibraryProfile {
            absent_types: &[LibraryType::MarshalByRefObject],
            renamed_fields: &[(LibraryType::Delegate, "m_target", "_target")],
            absent_methods: &[LibraryMethod::ArrayUnsafeMov],
            renamed_methods: &[(LibraryMethod::StringAllocate, "Allocate")],
            ..LibraryProfile::MONO
        };
        assert_eq!(other.type_name(LibraryType::MarshalByRefObject), None);
        assert_eq!(other.type_name(LibraryType::Delegate), Some(LibraryType::Delegate.name()));
        assert_eq!(other.field_name(LibraryType::Delegate, "m_target"), "_target");
        assert_eq!(other.field_name(LibraryType::Delegate, "method"), "method");
        let role = |owner, name| other.method_role(owner, name, || Ok::<usize, ()>(1)).unwrap();
        assert_eq!(role(LibraryType::Array, "UnsafeMov"), None);
        assert_eq!(role(LibraryType::String, "Allocate"), Some(LibraryMethod::StringAllocate));
        assert_eq!(role(LibraryType::String, "FastAllocateString"), None);
    }

    #[test]
    fn profiles_agree_with_the_tables() {
        for profile in LibraryProfile::ALL {
            let absent = profile.absent_types.iter().find(|role| !role.is_optional());
            assert_eq!(absent, None, "{}: only optional types may be absent", profile.name);
            let is_moved = |owner, name: &str| {
                profile
                    .moved_fields
                    .iter()
                    .any(|(from, field, to)| *to == owner && *field == name && has_field(*from, name))
            };
            let unknown = profile
                .renamed_fields
                .iter()
                .find(|(owner, name, _)| !has_field(*owner, name) && !is_moved(*owner, name));
            assert_eq!(unknown, None, "{}: no such row", profile.name);
        }
        assert!(LibraryType::MarshalByRefObject.is_optional() && !LibraryType::Object.is_optional());
        assert!(has_field(LibraryType::Delegate, "method_ptr") && !has_field(LibraryType::Delegate, "method_pt"));
        for version in Version::ALL {
            let of_version = LibraryProfile::ALL.iter().filter(|profile| profile.versions.contains(&version));
            assert_eq!(of_version.count(), 1, "{version:?}");
        }
    }
}
