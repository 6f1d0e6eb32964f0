//! A JSON object of named arguments, read one by one, so that an error can name the one at fault.
//! Extra arguments are tolerated; `null` is as good as missing.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::envelope;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadArgument {
    #[error("{name} is missing: expected {expected}")]
    Missing { name: &'static str, expected: &'static str },
    #[error("{name} is wrong: expected {expected}")]
    Wrong { name: &'static str, expected: &'static str },
}

const TEXT: &str = "a string";
const FLAG: &str = "true or false";
const COUNT: &str = "a whole number, zero or more";
const OBJECT: &str = "an object";

#[derive(Debug, Default)]
pub(crate) struct Arguments<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Arguments<'a> {
    /// Reads an object; `name` is what an error calls it.
    pub(crate) fn read(name: &'static str, raw: Option<&'a RawValue>) -> Result<Arguments<'a>, BadArgument> {
        match raw.filter(|raw| raw.get() != "null") {
            None => Ok(Arguments::default()),
            Some(raw) => {
                serde_json::from_str(raw.get()).map_err(|_| BadArgument::Wrong { name, expected: OBJECT })
            }
        }
    }

    /// As JSON has it with a key given twice, the last one counts.
    pub(crate) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        let (_, raw) = self.0.iter().rev().find(|(key, _)| key == name)?;
        Some(*raw).filter(|raw| raw.get() != "null")
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &**name)
    }

    pub(crate) fn object(&self, name: &'static str) -> Result<Arguments<'a>, BadArgument> {
        Arguments::read(name, self.raw(name))
    }

    pub(crate) fn text(&self, name: &'static str) -> Result<Cow<'a, str>, BadArgument> {
        self.optional_text(name)?.ok_or(BadArgument::Missing { name, expected: TEXT })
    }

    pub(crate) fn optional_text(&self, name: &'static str) -> Result<Option<Cow<'a, str>>, BadArgument> {
        self.optional(name, TEXT, envelope::text)
    }

    pub(crate) fn flag(&self, name: &'static str, default: bool) -> Result<bool, BadArgument> {
        let read = |raw: &RawValue| serde_json::from_str(raw.get()).ok();
        Ok(self.optional(name, FLAG, read)?.unwrap_or(default))
    }

    pub(crate) fn word(
        &self,
        name: &'static str,
        expected: &'static str,
        words: &[&'static str],
    ) -> Result<Option<&'static str>, BadArgument> {
        let read =
            |raw| envelope::text(raw).and_then(|text| words.iter().copied().find(|word| *word == text));
        self.optional(name, expected, read)
    }

    pub(crate) fn required_count(&self, name: &'static str) -> Result<u32, BadArgument> {
        self.count(name)?.ok_or(BadArgument::Missing { name, expected: COUNT })
    }

    pub(crate) fn count(&self, name: &'static str) -> Result<Option<u32>, BadArgument> {
        self.optional(name, COUNT, |raw| serde_json::from_str(raw.get()).ok())
    }

    fn optional<T>(
        &self,
        name: &'static str,
        expected: &'static str,
        read: impl Fn(&'a RawValue) -> Option<T>,
    ) -> Result<Option<T>, BadArgument> {
        self.raw(name).map(|raw| read(raw).ok_or(BadArgument::Wrong { name, expected })).transpose()
    }
}

impl<'de> Deserialize<'de> for Arguments<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        #[derive(Deserialize)]
        #[serde(transparent)]
        struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

        impl<'de> Visitor<'de> for Entries {
            type Value = Arguments<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(OBJECT)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some((Key(key), raw)) = map.next_entry()? {
                    entries.push((key, raw));
                }
                Ok(Arguments(entries))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}
