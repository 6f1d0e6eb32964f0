//! What several targets share: how an input is cut into texts, and what holds of an agent's conversation.

mod conversation;
pub mod events;
mod messages;
mod requests;

pub use conversation::conversation;
pub use messages::messages;
pub use requests::requests;

/// The input as texts with NUL between them, so that a seed can be read and written by hand; missing ones
/// are empty. `None` where it is no UTF-8.
pub fn texts<const N: usize>(data: &[u8]) -> Option<[&str; N]> {
    let mut parts = str::from_utf8(data).ok()?.splitn(N, '\0');
    Some(std::array::from_fn(|_| parts.next().unwrap_or_default()))
}

/// Lines with their endings.
pub fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Some of the lines, as text.
pub fn slice(lines: &[&str], range: &std::ops::Range<u32>) -> String {
    lines[range.start as usize..range.end as usize].concat()
}
