//! The plugin in real Neovims, the oldest we support and a new one, against the real binary and agents: what the user sees,
//! what the agents receive and what the files contain. One file for each theme.

#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod context;
#[cfg(test)]
mod decisions;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod hunks;
#[cfg(test)]
mod permissions;
#[cfg(test)]
mod recovery;
#[cfg(test)]
mod several_reviews;
#[cfg(test)]
mod startup;
#[cfg(test)]
use linkspan_testkit as support;

/// Each scenario as a test for each Neovim. `default-filter` in `.config/nextest.toml` leaves out those for the oldest.
#[cfg(test)]
macro_rules! scenarios {
    ($($name:ident)*) => {
        mod oldest {
            $(#[test]
            fn $name() {
                super::$name(crate::support::NeovimVersion::Oldest);
            })*
        }

        mod newest {
            $(#[test]
            fn $name() {
                super::$name(crate::support::NeovimVersion::Newest);
            })*
        }
    };
}
#[cfg(test)]
pub(crate) use scenarios;
