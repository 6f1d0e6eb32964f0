//! Ids: numbers assigned by the hub, each its own type. A path, title or file name is never an identity.

use std::{fmt, num::ParseIntError, str::FromStr};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id!(
    /// One review.
    ReviewId,
    "r"
);
id!(
    /// Several changes proposed together.
    SetId,
    "s"
);
id!(
    /// One live connection of an agent; it ends with the connection.
    AgentId,
    "a"
);
id!(
    /// One connected user interface; it ends with its connection.
    SurfaceId,
    "f"
);
id!(
    /// One editor window; it outlives its connection and the hub.
    WindowId,
    "w"
);
id!(
    /// One change of a file on disk, as the journal counts them: an accepted change or an undo.
    ChangeId,
    "c"
);

/// Counts the versions of a review that were shown; a decision names the one it is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(pub u32);

impl Revision {
    pub(crate) fn next(self) -> Revision {
        Revision(self.0.wrapping_add(1))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ReviewId {
    type Err = ParseIntError;

    /// Parses the output of `Display`, and the bare number.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix('r').unwrap_or(text).parse().map(ReviewId)
    }
}

impl FromStr for ChangeId {
    type Err = ParseIntError;

    /// Parses the output of `Display`. A bare number would be a review's.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix('c').unwrap_or_default().parse().map(ChangeId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_id_prints_its_own_letter() {
        let printed = [
            ReviewId(12).to_string(),
            SetId(3).to_string(),
            AgentId(4).to_string(),
            SurfaceId(5).to_string(),
            WindowId(6).to_string(),
            ChangeId(17).to_string(),
            Revision(7).to_string(),
        ];
        assert_eq!(printed, ["r12", "s3", "a4", "f5", "w6", "c17", "7"]);
    }

    #[test]
    fn a_review_id_is_read_with_and_without_its_letter() {
        assert_eq!("r12".parse(), Ok(ReviewId(12)));
        assert_eq!("12".parse(), Ok(ReviewId(12)));
        for bad in ["", "r", "rr1", "x1", "-1", "latest"] {
            assert!(bad.parse::<ReviewId>().is_err(), "{bad:?}");
        }
    }
    #[test]
    fn a_change_id_is_read_only_with_its_letter() {
        assert_eq!("c17".parse(), Ok(ChangeId(17)));
        for bad in ["", "c", "17", "r17", "cc1", "c-1"] {
            assert!(bad.parse::<ChangeId>().is_err(), "{bad:?}");
        }
    }
}
