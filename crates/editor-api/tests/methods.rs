//! The table of methods keeps its own rules.

use std::collections::BTreeSet;

use linkspan_editor_api::{Direction, METHODS, Method, MethodKind};

/// `review/show` as `ReviewShow`.
fn type_name(method: &str) -> String {
    let capital = |word: &str| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    };
    method.split('/').map(capital).collect()
}

#[test]
fn no_two_methods_share_a_name() {
    let names: BTreeSet<&str> = METHODS.iter().map(|method| method.name).collect();
    assert_eq!(names.len(), METHODS.len());
}

#[test]
fn every_method_is_named_like_its_type() {
    for Method { name, params, .. } in METHODS {
        assert_eq!(type_name(name), *params);
    }
}

#[test]
fn the_hub_only_asks_of_editors_what_is_answered() {
    let told = |method: &&Method| method.kind == MethodKind::Notification;
    for method in METHODS.iter().filter(told) {
        assert_ne!(method.direction, Direction::HubToEditor, "{}", method.name);
    }
}
