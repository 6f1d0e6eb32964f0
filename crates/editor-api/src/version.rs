//! The version of the protocol, and the notice about a running hub that has a different version.

/// Version of the protocol. Increases when an older peer could misunderstand a message, not for a new method or a new
/// optional field.
pub const PROTOCOL: u32 = 1;

/// The notice for the user when the running hub has a different version; `None` when it has ours.
pub fn version_notice(hub: &str, ours: &str) -> Option<String> {
    (hub != ours).then(|| {
        format!(
            "the running hub is {hub}, this is {ours}: run `linkspan hub stop`; it starts again by itself"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hub_of_our_version_needs_no_words() {
        assert_eq!(version_notice("0.1.0", "0.1.0"), None);
    }

    #[test]
    fn another_version_is_named_with_what_to_do() {
        assert_eq!(
            version_notice("0.1.0", "0.2.0").as_deref(),
            Some(
                "the running hub is 0.1.0, this is 0.2.0: run `linkspan hub stop`; it starts again by itself"
            )
        );
    }
}
