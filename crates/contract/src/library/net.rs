//! What .NET's class libraries call otherwise than the tables, and what they lack.

use super::methods::LibraryMethod;
use super::types::{LibraryType, TypeName};

/// Types that System.Private.CoreLib lacks, and those that mean nothing to the machine there: no object is called
/// through a proxy, and Emit hands its definitions to the machine by calls.
pub(super) const ABSENT_TYPES: &[LibraryType] = &[
    LibraryType::AppDomainSetup,
    LibraryType::ByReference,
    LibraryType::Console,
    LibraryType::ContextBoundObject,
    LibraryType::MarshalByRefObject,
    LibraryType::SafeFileHandle,
    LibraryType::FileStream,
    LibraryType::CalendarData,
    LibraryType::CultureData,
    LibraryType::RegionInfo,
    LibraryType::MonoArrayMethod,
    LibraryType::MonoEventInfo,
    LibraryType::MonoMethodInfo,
    LibraryType::MonoPropertyInfo,
    LibraryType::ArrayType,
    LibraryType::AssemblyBuilder,
    LibraryType::ByRefType,
    LibraryType::ConstructorBuilder,
    LibraryType::ConstructorOnTypeBuilderInst,
    LibraryType::CustomAttributeBuilder,
    LibraryType::EnumBuilder,
    LibraryType::EventBuilder,
    LibraryType::FieldBuilder,
    LibraryType::FieldOnTypeBuilderInst,
    LibraryType::GenericTypeParameterBuilder,
    LibraryType::ILExceptionBlock,
    LibraryType::ILExceptionInfo,
    LibraryType::ILGenerator,
    LibraryType::MethodBuilder,
    LibraryType::MethodOnTypeBuilderInst,
    LibraryType::ModuleBuilder,
    LibraryType::MonoResource,
    LibraryType::MonoWin32Resource,
    LibraryType::ParameterBuilder,
    LibraryType::PointerType,
    LibraryType::PropertyBuilder,
    LibraryType::RefEmitPermissionSet,
    LibraryType::SignatureHelper,
    LibraryType::SymbolType,
    LibraryType::TypeBuilder,
    LibraryType::TypeBuilderInstantiation,
    LibraryType::UnmanagedMarshal,
    LibraryType::Ephemeron,
    LibraryType::IRemotingTypeInfo,
    LibraryType::RemotingException,
    LibraryType::RemotingServices,
    LibraryType::PlatformHelper,
    LibraryType::ActivationServices,
    LibraryType::Context,
    LibraryType::AsyncResult,
    LibraryType::MonoMethodMessage,
    LibraryType::RealProxy,
    LibraryType::TransparentProxy,
    LibraryType::DecoderNLS,
    LibraryType::Utf8Decoder,
    LibraryType::ThreadPoolWaitCallback,
    LibraryType::IOSelectorJob,
    LibraryType::BigInteger,
    LibraryType::BigNumberBuffer,
];

/// A System.Type object has no handle of its own, a RuntimeType has one.
pub(super) const MOVED_FIELDS: &[(LibraryType, &str, LibraryType)] =
    &[(LibraryType::Type, "_impl", LibraryType::RuntimeType)];

/// .NET 10's.
pub(super) const LATER_FIELDS: &[(LibraryType, &str, &str)] = &[
    (LibraryType::Signature, "m_arguments", "_arguments"),
    (LibraryType::Signature, "m_csig", "_csig"),
    (LibraryType::Signature, "m_declaringType", "_declaringType"),
    (
        LibraryType::Signature,
        "m_managedCallingConventionAndArgIteratorFlags",
        "_managedCallingConventionAndArgIteratorFlags",
    ),
    (LibraryType::Signature, "m_pMethod", "_pMethod"),
    (LibraryType::Signature, "m_returnTypeORfieldType", "_returnTypeORfieldType"),
    (LibraryType::Signature, "m_sig", "_sig"),
];

pub(super) const RENAMED_FIELDS: &[(LibraryType, &str, &str)] = &[
    (LibraryType::RuntimeType, "_impl", "m_handle"),
    (LibraryType::TypeLoadException, "ClassName", "_className"),
    (LibraryType::TypedReference, "Value", "_value"),
    (LibraryType::TypedReference, "type", "_type"),
    (LibraryType::RuntimeAssembly, "_mono_assembly", "m_assembly"),
    (LibraryType::RuntimeModule, "_impl", "m_pData"),
    (LibraryType::RuntimeModule, "assembly", "m_runtimeAssembly"),
    (LibraryType::Delegate, "m_target", "_target"),
    (LibraryType::Delegate, "method_ptr", "_methodPtr"),
    (LibraryType::MulticastDelegate, "delegates", "_invocationList"),
    (LibraryType::InternalThread, "managed_id", "_managedThreadId"),
    (LibraryType::InternalThread, "priority", "_priority"),
];

/// What delegates and threads of .NET's have no fields for.
pub(super) const OWN_WORDS: &[(LibraryType, &[&str])] = &[
    (LibraryType::Delegate, &["invoke_impl", "method", "extra_arg", "method_is_virtual", "delegate_trampoline"]),
    (
        LibraryType::Thread,
        &[
            "handle",
            "state",
            "thread_id",
            "apartment_state",
            "stack_size",
            "threadpool_thread",
            "thread_interrupt_requested",
            "name_chars",
            "name_free",
        ],
    ),
];

/// A Thread is its own InternalThread.
pub(super) const RENAMED_TYPES: &[(LibraryType, TypeName)] =
    &[(LibraryType::InternalThread, LibraryType::Thread.name())];

pub(super) const ABSENT_METHODS: &[LibraryMethod] = &[];

pub(super) const RENAMED_METHODS: &[(LibraryMethod, &str)] = &[];

/// See `LibraryProfile::processor_facts`.
pub(super) const PROCESSOR_FACTS: &[(&str, &str)] = &[
    ("System.Runtime.Intrinsics", "get_IsSupported"),
    ("System.Runtime.Intrinsics", "get_IsHardwareAccelerated"),
    ("System.Numerics", "get_IsHardwareAccelerated"),
];
