//! The fields of the class libraries that the machine's code reads or writes by name, as data: by the role of the type
//! that has them.
//!
//! A field that no row names cannot be used: `ManagedField::new` does not compile. The names are those of Mono's class
//! libraries, which a profile may change (`LibraryProfile::field_name`). The rows are those of `contract.txt`, which
//! has the fields' types as well; a test compares the two. The fields of an optional type are optional with it.

use super::types::LibraryType;

/// The fields of one type.
pub struct FieldsOf {
    pub owner: LibraryType,
    pub names: &'static [&'static str],
}

macro_rules! library_fields {
    ($(#[$doc:meta])* $vis:vis $table:ident; $($owner:ident { $($name:literal)* })*) => {
        $(#[$doc])*
        $vis const $table: &[FieldsOf] = &[$(FieldsOf { owner: LibraryType::$owner, names: &[$($name,)*] },)*];
    };
}

library_fields! {
    /// The fields that only .NET's class libraries have, by owner.
    pub NET_FIELDS;
    AppContext { "FirstChanceException" "UnhandledException" }
    AssemblyLoadContext { "_nativeAssemblyLoadContext" }
    Delegate { "_methodPtrAux" }
    DynamicMethod { "_typeOwner" }
    DynamicResolver { "m_method" }
    MulticastDelegate { "_invocationCount" }
    PortableThreadPool { "ThreadPoolInstance" "_minThreads" }
    RtFieldInfo { "m_fieldHandle" }
    RuntimeConstructorInfo { "m_handle" }
    RuntimeExceptionHandlingClause {
        "_catchMetadataToken" "_filterOffset" "_flags" "_handlerLength" "_handlerOffset" "_methodBody" "_tryLength"
        "_tryOffset"
    }
    RuntimeFieldInfoStub { "m_fieldHandle" }
    RuntimeLocalVariableInfo { "_isPinned" "_localIndex" "_type" }
    RuntimeMethodBody {
        "_IL" "_exceptionHandlingClauses" "_initLocals" "_localSignatureMetadataToken" "_localVariables"
        "_maxStackSize"
    }
    RuntimeMethodInfo { "m_handle" }
    RuntimeMethodInfoStub { "m_keepalive" "m_value" }
    RuntimeModule { "m_runtimeType" }
    Signature {
        "m_arguments" "m_csig" "m_declaringType" "m_managedCallingConventionAndArgIteratorFlags" "m_pMethod"
        "m_returnTypeORfieldType" "m_sig"
    }
}

library_fields! {
    /// The fields of Mono's class libraries, by owner.
    pub FIELDS;
    AppDomain {
        "AssemblyLoad" "AssemblyResolve" "ProcessExit" "ReflectionOnlyAssemblyResolve" "TypeResolve"
        "UnhandledException" "_mono_app_domain"
    }
    AppDomainSetup {
        "application_base" "application_name" "cache_path" "configuration_bytes" "configuration_file"
        "disallow_appbase_probe" "disallow_binding_redirects" "disallow_code_downloads" "domain_initializer_args"
        "dynamic_base" "license_file" "loader_optimization" "path_changed" "private_bin_path" "private_bin_path_probe"
        "publisher_policy" "serialized_non_primitives" "shadow_copy_directories" "shadow_copy_files"
    }
    ArgIterator { "args" "next_arg" "num_args" "sig" }
    DBNull { "Value" }
    Delegate {
        "delegate_trampoline" "extra_arg" "invoke_impl" "m_target" "method" "method_info" "method_is_virtual"
        "method_ptr"
    }
    Exception { "_HResult" "_dynamicMethods" "_innerException" "_message" "_stackTrace" }
    MulticastDelegate { "delegates" }
    String { "Empty" }
    Type { "_impl" }
    TypedReference { "Type" "Value" "type" }
    TypeInitializationException { "_typeName" }
    TypeLoadException { "ClassName" }
    WeakReference { "gcHandle" }
    WeakReferenceOf { "handle" }
    StackFrame {
        "columnNumber" "fileName" "ilOffset" "internalMethodName" "lineNumber" "methodBase" "methodIndex"
        "nativeOffset"
    }
    CalendarData {
        "sMonthDay" "sNativeName" "saAbbrevDayNames" "saAbbrevMonthGenitiveNames" "saAbbrevMonthNames" "saDayNames"
        "saLongDates" "saMonthGenitiveNames" "saMonthNames" "saShortDates" "saSuperShortDayNames" "saYearMonths"
    }
    CultureData {
        "iFirstDayOfWeek" "iFirstWeekOfYear" "sAM1159" "sPM2359" "sTimeSeparator" "saLongTimes" "saShortTimes"
    }
    CultureInfo {
        "cultureID" "datetime_index" "default_calendar_type" "englishname" "iso2lang" "iso3lang" "m_name"
        "m_useUserOverride" "native_calendar_names" "nativename" "number_index" "parent_lcid" "territory"
        "textinfo_data" "win3lang"
    }
    RegionInfo {
        "currencyEnglishName" "currencyNativeName" "currencySymbol" "englishName" "iso2Name" "iso3Name"
        "isoCurrencySymbol" "nativeName" "regionId" "win3Name"
    }
    TextInfo { "m_IsAsciiCasingSameAsInvariant" }
    FileNotFoundException { "<FileName>k__BackingField" }
    FileStream { "safeHandle" }
    ExceptionHandlingClause {
        "catch_type" "filter_offset" "flags" "handler_length" "handler_offset" "try_length" "try_offset"
    }
    LocalVariableInfo { "is_pinned" "position" "type" }
    ManifestResourceInfo {
        "<FileName>k__BackingField" "<ReferencedAssembly>k__BackingField" "<ResourceLocation>k__BackingField"
    }
    Missing { "Value" }
    MonoArrayMethod { "call_conv" "name" "parameters" "parent" "ret" }
    MonoEventInfo {
        "add_method" "attrs" "declaring_type" "name" "other_methods" "raise_method" "reflected_type" "remove_method"
    }
    MonoMethodInfo { "attrs" "callconv" "iattrs" "parent" "ret" }
    MonoPropertyInfo { "attrs" "declaring_type" "get_method" "name" "parent" "set_method" }
    ParameterInfo { "MemberImpl" "PositionImpl" }
    RuntimeAssembly { "_evidence" "_mono_assembly" }
    RuntimeConstructorInfo { "mhandle" "name" "reftype" }
    RuntimeEventInfo { "handle" "klass" }
    RuntimeFieldInfo { "attrs" "fhandle" "klass" "name" "type" }
    RuntimeMethodInfo { "mhandle" "name" "reftype" }
    RuntimeModule { "_impl" "assembly" "fqname" "is_resource" "name" "scopename" "token" }
    RuntimePropertyInfo { "klass" "prop" }
    ArrayType { "rank" }
    AssemblyBuilder {
        "_mono_assembly" "access" "algid" "cattrs" "culture" "entry_point" "flags" "modules" "name" "peKind" "pekind"
        "permissions_minimum" "permissions_optional" "permissions_refused" "pktoken" "public_key" "resources"
        "type_forwarders" "version" "win32_resources"
    }
    ConstructorBuilder {
        "attrs" "call_conv" "cattrs" "iattrs" "ilgen" "init_locals" "mhandle" "paramModOpt" "paramModReq" "parameters"
        "pinfo" "table_idx" "type"
    }
    ConstructorOnTypeBuilderInst { "cb" "instantiation" }
    CustomAttributeBuilder { "ctor" "data" }
    DynamicMethod {
        "ilgen" "init_locals" "mhandle" "module" "name" "nrefs" "owner" "parameters" "refs" "returnType"
        "skipVisibility"
    }
    EnumBuilder { "_tb" }
    EventBuilder {
        "add_method" "attrs" "cattrs" "name" "other_methods" "raise_method" "remove_method" "table_idx" "type"
    }
    FieldBuilder {
        "attrs" "cattrs" "def_value" "handle" "marshal_info" "modOpt" "modReq" "name" "offset" "rva_data" "type"
        "typeb"
    }
    FieldOnTypeBuilderInst { "fb" "instantiation" }
    GenericTypeParameterBuilder { "attrs" "base_type" "cattrs" "iface_constraints" "index" "mbuilder" "name" }
    ILExceptionBlock { "extype" "filter_offset" "len" "start" "type" }
    ILExceptionInfo { "handlers" "len" "start" }
    ILGenerator { "code" "code_len" "ex_handlers" "locals" "max_stack" }
    MethodBuilder {
        "attrs" "call_conv" "cattrs" "charset" "code" "extra_flags" "generic_params" "iattrs" "ilgen" "init_locals"
        "mhandle" "name" "native_cc" "override_methods" "paramModOpt" "paramModReq" "parameters" "pi_dll" "pi_entry"
        "pinfo" "returnModOpt" "returnModReq" "rtype" "table_idx" "type"
    }
    MethodOnTypeBuilderInst { "base_method" "instantiation" "method_arguments" }
    ModuleBuilder {
        "_impl" "assemblyb" "cattrs" "dynamic_image" "fqname" "global_type" "guid" "is_main" "name" "num_types"
        "resources" "types"
    }
    MonoResource { "attrs" "data" "filename" "name" }
    MonoWin32Resource { "data" "lang_id" "res_id" "res_type" }
    ParameterBuilder { "attrs" "cattrs" "def_value" "marshal_info" "name" "position" }
    PropertyBuilder {
        "attrs" "callingConvention" "cattrs" "def_value" "get_method" "name" "paramModOpt" "paramModReq" "parameters"
        "returnModOpt" "returnModReq" "set_method" "table_idx" "type"
    }
    RefEmitPermissionSet { "action" "pset" }
    SignatureHelper { "arguments" "callConv" "module" "returnType" "unmanagedCallConv" }
    SymbolType { "m_baseType" }
    TypeBuilder {
        "attrs" "cattrs" "class_size" "ctors" "events" "fields" "generic_container" "generic_params" "interfaces"
        "methods" "nesting_type" "nspace" "num_fields" "num_methods" "packing_size" "parent" "permissions" "pmodule"
        "properties" "subtypes" "table_idx" "tname"
    }
    TypeBuilderInstantiation { "generic_type" "type_arguments" }
    UnmanagedMarshal { "count" "guid" "has_size" "marshaltype" "mcookie" "param_num" "t" "tbase" }
    RuntimeWrappedException { "_wrappedException" }
    CriticalHandle { "handle" }
    MarshalAsAttribute {
        "ArraySubType" "MarshalCookie" "MarshalType" "MarshalTypeRef" "SizeConst" "SizeParamIndex" "utype"
    }
    SafeHandle { "handle" }
    Context { "domain_id" "static_data" }
    AsyncResult {
        "async_callback" "async_delegate" "async_state" "completed" "endinvoke_called" "handle" "object_data"
    }
    MonoMethodMessage { "args" }
    RealProxy { "_server" "_targetContext" "_targetDomainId" "_targetUri" "class_to_proxy" }
    TransparentProxy { "_class" "_custom_type_info" "_rp" }
    DecoderNLS { "_bytesUsed" }
    StringBuilder { "m_ChunkChars" "m_ChunkLength" "m_ChunkOffset" "m_ChunkPrevious" "m_MaxCapacity" }
    UnicodeEncoding { "bigEndian" }
    Utf8Decoder { "bits" }
    InternalThread {
        "apartment_state" "handle" "managed_id" "name_chars" "name_free" "priority" "stack_size" "state" "thread_id"
        "thread_interrupt_requested" "threadpool_thread"
    }
    PlatformHelper { "IsSingleProcessor" }
    Thread { "current_thread" "internal_thread" "m_ThreadStartArg" }
    IOSelectorJob { "operation" }
    CounterCreationData { "name" "type" }
    FileVersionInfo {
        "comments" "companyname" "filebuildpart" "filedescription" "filemajorpart" "fileminorpart" "filename"
        "fileprivatepart" "fileversion" "internalname" "isdebug" "ispatched" "isprerelease" "isprivatebuild"
        "isspecialbuild" "language" "legalcopyright" "legaltrademarks" "originalfilename" "privatebuild"
        "productbuildpart" "productmajorpart" "productminorpart" "productname" "productprivatepart" "productversion"
        "specialbuild"
    }
    Process { "registeredWaitHandle" "waitHandle" "watchForExit" "watchingForExit" }
    ProcInfo { "envVariables" "pid" "process_handle" }
    ProcessModule { "baseaddr" "filename" "memory_size" "modulename" "version_info" }
    ProcessStartInfo { "arguments" "directory" "fileName" }
    IPAddress { "_addressOrScopeId" "_numbers" }
    SocketAddress { "m_Buffer" "m_Size" }
    IPv6MulticastOption { "m_Group" "m_Interface" }
    LingerOption { "enabled" "lingerTime" }
    MulticastOption { "group" "ifIndex" "localAddress" }
    Socket { "is_connected" "m_Handle" }
}

/// Whether the table has a field, for constant evaluation.
pub const fn has_field(owner: LibraryType, name: &str) -> bool {
    is_listed(FIELDS, owner, name) || is_listed(NET_FIELDS, owner, name)
}

const fn is_listed(rows: &[FieldsOf], owner: LibraryType, name: &str) -> bool {
    let mut at = 0;
    while at < rows.len() {
        if rows[at].owner as u16 == owner as u16 {
            let mut index = 0;
            while index < rows[at].names.len() {
                if is_same(rows[at].names[index], name) {
                    return true;
                }
                index += 1;
            }
            return false;
        }
        at += 1;
    }
    false
}

/// `==`, which constant evaluation does not have for texts.
pub(super) const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}
