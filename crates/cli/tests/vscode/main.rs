//! The extension in real VS Codes, the oldest we support and the newest, against the real binary and agents: what the
//! person sees, what the agents hear and what the files hold. This file has how such a test begins; the others, one
//! theme each.

#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod context;
#[cfg(test)]
mod deciding;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod hunks;
#[cfg(test)]
mod in_host;
#[cfg(test)]
mod inline;
#[cfg(test)]
mod many;
#[cfg(test)]
mod pictures;
#[cfg(test)]
mod returning;
#[cfg(test)]
mod starting;
#[cfg(test)]
use linkspan_testkit as support;
#[cfg(test)]
mod terminal;

/// Makes of each `fn name(version: Version)` two tests: `name::oldest` and `name::newest`.
#[cfg(test)]
macro_rules! on_both {
    ($($name:ident)*) => {
        $(mod $name {
            #[test]
            fn oldest() {
                super::$name(crate::support::Version::Oldest);
            }

            #[test]
            fn newest() {
                super::$name(crate::support::Version::Newest);
            }
        })*
    };
}
#[cfg(test)]
pub(crate) use on_both;

/// Makes of several `fn name(desk: &Desk)` two tests that do one after the other in one window, as a person does:
/// `oldest` and `newest`. A window takes longer to open than a change to decide.
#[cfg(test)]
macro_rules! in_one_window {
    ($($name:ident)*) => {
        fn one_after_the_other(version: Version) {
            let Some(desk) = Desk::new(version) else { return };
            $(
                println!("{}", stringify!($name));
                $name(&desk);
            )*
        }

        #[test]
        fn oldest() {
            one_after_the_other(Version::Oldest);
        }

        #[test]
        fn newest() {
            one_after_the_other(Version::Newest);
        }
    };
}
#[cfg(test)]
pub(crate) use in_one_window;

#[cfg(test)]
mod person {
    use serde_json::{Value, json};

    pub(crate) use crate::support::workbench::LOOK;
    use crate::support::*;

    /// A person at her window, and all that has to live as long.
    pub(crate) struct Desk {
        pub(crate) workbench: Workbench,
        /// For agents.
        pub(crate) port: u16,
        pub(crate) vscode: VsCode,
        _browser: Browser,
        /// Named last, so that everything in it has ended when it does.
        pub(crate) world: World,
    }

    impl Desk {
        /// `None` where there is no VS Code or no browser.
        #[track_caller]
        pub(crate) fn new(version: Version) -> Option<Desk> {
            Desk::with(version, &json!({}))
        }

        /// With settings of hers.
        #[track_caller]
        pub(crate) fn with(version: Version, settings: &Value) -> Option<Desk> {
            let world = World::new();
            let vscode = VsCode::installed(&world, version)?.settings(settings);
            let browser = Browser::start()?;
            let vscode = vscode.start();
            let (workbench, port) = Workbench::open(&world, &vscode, &browser);
            Some(Desk { workbench, port, vscode, _browser: browser, world })
        }

        #[track_caller]
        pub(crate) fn claude(&self) -> Agent {
            Agent::claude(&self.world, self.port)
        }

        #[track_caller]
        pub(crate) fn nexus3(&self) -> Agent {
            Agent::nexus3(&self.world, self.port)
        }
    }
}
