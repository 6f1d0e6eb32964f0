//! A JSON object of named arguments, read one by one, so that an error can name the invalid one. Unknown arguments are
//! ignored; `null` counts as missing.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::envelope;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadArgument {
    #[error("{name} is missing: expected {expected}")]
    Missing { name: &'static str, expected: &'static str },
    #[error("{name} is invalid: expected {expected}")]
    Wrong { name: &'static str, expected: &'static str },
}

const TEXT: &str = "a string";
const FLAG: &str = "true or false";
const COUNT: &str = "a whole number, zero or more";
const OBJECT: &str = "an object";
const SMALLER: &str = "an object of at most 1,024 keys";

/// No tool has as many. A message of nothing but keys would take many times its own size in memory.
const MOST_KEYS: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct Arguments<'a>(Vec<(Cow<'a, str>, Given<'a>)>);

#[derive(Debug)]
enum Given<'a> {
    Raw(&'a RawValue),
    /// Parsed together with the object that contains it.
    Object(Arguments<'a>),
}

/// Which value of an object is an object to parse along with it.
#[derive(Clone, Copy)]
pub(super) enum Nesting {
    None,
    Key(&'static str),
}

impl<'a> Arguments<'a> {
    /// Reads an object; `name` is what an error calls it.
    pub(crate) fn read(name: &'static str, raw: Option<&'a RawValue>) -> Result<Arguments<'a>, BadArgument> {
        match raw.filter(|raw| raw.get() != "null") {
            None => Ok(Arguments::default()),
            Some(raw) => serde_json::from_str(raw.get()).map_err(|_| {
                let expected = if raw.get().starts_with('{') { SMALLER } else { OBJECT };
                BadArgument::Wrong { name, expected }
            }),
        }
    }

    /// Reads an object and an object inside it in one pass. Any other value in its place, except `null`, is an error.
    pub(super) fn nested<D: Deserializer<'a>>(
        deserializer: D,
        nesting: Nesting,
    ) -> Result<Arguments<'a>, D::Error> {
        deserializer.deserialize_map(Entries(nesting))
    }

    /// If a key is given twice, the last one counts.
    pub(crate) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        match self.0.iter().rev().find(|(key, _)| key == name)? {
            (_, Given::Raw(raw)) => Some(*raw).filter(|raw| raw.get() != "null"),
            (_, Given::Object(_)) => None,
        }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &**name)
    }

    /// Takes an object out; afterwards it counts as missing.
    pub(crate) fn take_object(&mut self, name: &'static str) -> Result<Arguments<'a>, BadArgument> {
        match self.0.iter_mut().rev().find(|(key, _)| key == name) {
            None => Ok(Arguments::default()),
            Some((_, Given::Raw(raw))) => Arguments::read(name, Some(raw)),
            Some((_, Given::Object(arguments))) => Ok(std::mem::take(arguments)),
        }
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
        Arguments::nested(deserializer, Nesting::None)
    }
}

struct Entries(Nesting);

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
        while let Some(Key(key)) = map.next_key()? {
            if entries.len() == MOST_KEYS {
                return Err(A::Error::custom("too many keys"));
            }
            let given = match self.0 {
                Nesting::Key(nested) if key == nested => {
                    // Each would be parsed, although only the last one counts.
                    if entries.iter().any(|(_, given)| matches!(given, Given::Object(_))) {
                        return Err(A::Error::custom("an object is there twice"));
                    }
                    Given::Object(map.next_value::<Option<Arguments<'de>>>()?.unwrap_or_default())
                }
                _ => Given::Raw(map.next_value()?),
            };
            entries.push((key, given));
        }
        Ok(Arguments(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_has_no_more_keys_than_any_tool_could_want() {
        let object = |keys: usize| {
            let keys: Vec<String> = (0..keys).map(|key| format!("\"{key}\":{key}")).collect();
            RawValue::from_string(format!("{{{}}}", keys.join(","))).unwrap()
        };
        let (most, more) = (object(MOST_KEYS), object(MOST_KEYS + 1));
        let read = Arguments::read("params", Some(&most)).unwrap();
        assert_eq!(read.count("1023"), Ok(Some(1023)));
        let wrong = BadArgument::Wrong { name: "params", expected: SMALLER };
        assert_eq!(Arguments::read("params", Some(&more)).unwrap_err(), wrong);
    }
}
