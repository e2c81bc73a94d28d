//! Why an object is allocated.

use saki_abi::HelperId;
use saki_types::Method;

/// See the module header.
#[derive(Clone, Copy)]
pub(super) enum Escape {
    Finalizer,
    Large,
    UnknownDelegate,
    Method(&'static Method),
    Helper(HelperId),
    Call,
    Returned,
    Thrown,
    Stored,
    Merged,
    NullTarget,
    Other,
}

impl Escape {
    /// The reason, for people.
    pub fn text(self) -> String {
        let text = match self {
            Escape::Method(method) => return format!("{} gets it", method.full_name()),
            Escape::Helper(helper) => return format!("the machine's {} gets it", helper.name()),
            Escape::Finalizer => "its class has a finalizer",
            Escape::Large => "it has many fields, or fields in the same place",
            Escape::UnknownDelegate => "it is a delegate, and it is not known how it calls its method",
            Escape::Call => "a call gets it whose target is not known",
            Escape::Returned => "it is returned",
            Escape::Thrown => "it is thrown",
            Escape::Stored => "it is stored in memory",
            Escape::Merged => "a variable holds it or something else",
            Escape::NullTarget => "it is a delegate whose target may be null",
            Escape::Other => "an instruction uses it that needs an object",
        };
        text.to_owned()
    }
}
