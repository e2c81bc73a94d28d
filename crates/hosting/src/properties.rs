//! The properties that .NET's host hands to a runtime, as `AppContext.GetData` knows them.
//!
//! Invariant: names and values stay as the host gave them, in its order. Left out: what most of them mean, which is the
//! class library's business.

use saki_dotnet::CORE_LIBRARY;
use saki_dotnet::program::TRUSTED_ASSEMBLIES;
use std::path::{Path, PathBuf};

/// See the module header.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct RuntimeProperties(Vec<(String, String)>);

/// The innermost assembly of the class libraries that a list of assemblies names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CoreLibrary {
    /// Modern .NET's System.Private.CoreLib.
    Net(PathBuf),
    /// Mono's mscorlib.
    Mono(PathBuf),
}

impl RuntimeProperties {
    /// These properties, names and values.
    pub fn new(pairs: Vec<(String, String)>) -> RuntimeProperties {
        RuntimeProperties(pairs)
    }

    /// All of them, in the host's order.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.0
    }

    /// The value of a property.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The assemblies that may be loaded by name (TRUSTED_PLATFORM_ASSEMBLIES), in the host's order.
    pub fn trusted_assemblies(&self) -> impl Iterator<Item = &Path> {
        let list = self.value(TRUSTED_ASSEMBLIES).unwrap_or_default();
        list.split(':').filter(|path| !path.is_empty()).map(Path::new)
    }

    /// The core library among the trusted assemblies. Modern .NET has an mscorlib as well, which only forwards.
    pub fn core_library(&self) -> Option<CoreLibrary> {
        let named =
            |name: &str| self.trusted_assemblies().find(|path| path.file_name().is_some_and(|file| file == name));
        let net = named(CORE_LIBRARY).map(|path| CoreLibrary::Net(path.to_path_buf()));
        net.or_else(|| named("mscorlib.dll").map(|path| CoreLibrary::Mono(path.to_path_buf())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_library_is_in_the_list_of_assemblies() {
        let core = |list: &str| RuntimeProperties::new(vec![(TRUSTED_ASSEMBLIES.into(), list.into())]).core_library();
        let net = "/net/mscorlib.dll:/net/System.Private.CoreLib.dll:";
        assert_eq!(core(net), Some(CoreLibrary::Net("/net/System.Private.CoreLib.dll".into())));
        let mono = "/usr/lib/mono/4.5/System.dll:/usr/lib/mono/4.5/mscorlib.dll";
        assert_eq!(core(mono), Some(CoreLibrary::Mono("/usr/lib/mono/4.5/mscorlib.dll".into())));
        assert_eq!(core("/app/app.dll::"), None);
        assert_eq!(RuntimeProperties::default().core_library(), None);
    }
}
