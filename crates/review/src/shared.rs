//! Texts and bytes with several owners: the review, its record on the way to disk, the answer. They are never copied for
//! an owner, and hashed at most once.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::digest::Digest;

/// A text that is cheap to clone.
#[derive(Clone, Default)]
pub struct SharedText(Arc<Hashed<String>>);

/// Bytes that are cheap to clone. The bytes of a text share its memory.
#[derive(Clone)]
pub struct SharedBytes(Bytes);

#[derive(Clone)]
enum Bytes {
    Text(SharedText),
    Other(Arc<Hashed<Vec<u8>>>),
}

/// Content with its digest, computed on first use.
#[derive(Default)]
struct Hashed<T> {
    content: T,
    digest: OnceLock<Digest>,
}

impl<T: AsRef<[u8]>> Hashed<T> {
    fn new(content: T) -> Hashed<T> {
        Hashed { content, digest: OnceLock::new() }
    }

    fn digest(&self) -> Digest {
        *self.digest.get_or_init(|| Digest::of(self.content.as_ref()))
    }
}

impl SharedText {
    pub fn digest(&self) -> Digest {
        self.0.digest()
    }

    pub fn as_str(&self) -> &str {
        self
    }

    /// Copies only if there is another owner.
    pub fn into_string(self) -> String {
        match Arc::try_unwrap(self.0) {
            Ok(only) => only.content,
            Err(shared) => shared.content.clone(),
        }
    }
}

impl SharedBytes {
    pub fn as_slice(&self) -> &[u8] {
        self
    }

    pub fn digest(&self) -> Digest {
        match &self.0 {
            Bytes::Text(text) => text.digest(),
            Bytes::Other(bytes) => bytes.digest(),
        }
    }
}

impl Deref for SharedText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0.content
    }
}

impl Deref for SharedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::Text(text) => text.as_bytes(),
            Bytes::Other(bytes) => &bytes.content,
        }
    }
}

impl From<String> for SharedText {
    fn from(text: String) -> SharedText {
        SharedText(Arc::new(Hashed::new(text)))
    }
}

impl From<&str> for SharedText {
    fn from(text: &str) -> SharedText {
        text.to_owned().into()
    }
}

impl From<Vec<u8>> for SharedBytes {
    fn from(bytes: Vec<u8>) -> SharedBytes {
        SharedBytes(Bytes::Other(Arc::new(Hashed::new(bytes))))
    }
}

impl From<SharedText> for SharedBytes {
    fn from(text: SharedText) -> SharedBytes {
        SharedBytes(Bytes::Text(text))
    }
}

impl PartialEq for SharedText {
    fn eq(&self, other: &SharedText) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || **self == **other
    }
}

impl Eq for SharedText {}

impl PartialEq<str> for SharedText {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<String> for SharedText {
    fn eq(&self, other: &String) -> bool {
        **self == **other
    }
}

impl PartialEq<&str> for SharedText {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl PartialEq for SharedBytes {
    fn eq(&self, other: &SharedBytes) -> bool {
        match (&self.0, &other.0) {
            (Bytes::Text(one), Bytes::Text(other)) => one == other,
            _ => **self == **other,
        }
    }
}

impl Eq for SharedBytes {}

impl fmt::Debug for SharedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Debug for SharedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_is_the_same_text_and_not_a_copy_of_it() {
        let text = SharedText::from("a\n");
        let again = text.clone();
        assert_eq!(text.as_ptr(), again.as_ptr());
        assert_eq!(text, again);
        assert_eq!(again.into_string(), "a\n");
        let address = text.as_ptr();
        let last = text.into_string();
        assert_eq!(last.as_ptr(), address, "the last owner takes the memory over");
    }

    #[test]
    fn equality_and_digest_depend_on_the_bytes_alone() {
        let text = SharedText::from("a\n");
        assert_eq!(text, SharedText::from("a\n".to_owned()));
        assert_ne!(text, SharedText::from("b\n"));
        assert_eq!(SharedBytes::from(text.clone()), SharedBytes::from(b"a\n".to_vec()));
        assert_eq!(text.digest(), Digest::of(b"a\n"));
        assert_eq!(SharedBytes::from(b"a\n".to_vec()).digest(), text.digest());
        assert_ne!(SharedBytes::from(b"b\n".to_vec()), SharedBytes::from(text));
    }
}
