//! What editors answer, and what is made of it.

use serde_json::json;

use super::fixture::*;
use crate::discover::*;

fn stage_with(manner: EditorBehaviour) -> DiscoveryFixture {
    let fixture = DiscoveryFixture::new();
    fixture.lock(OtherEditor::new(manner).port, &fixture.surroundings.cwd);
    fixture
}

#[test]
fn an_editor_that_answers_is_usable() {
    for manner in [EditorBehaviour::Refusing, EditorBehaviour::ClosingLate] {
        let fixture = stage_with(manner);
        let found = fixture.look();
        let best = found.best().unwrap();
        assert_eq!(best.editor, "Other Editor");
        assert_eq!(best.matched, Some(Match::Folder { depth: 0 }));
        assert_eq!(best.folders, std::slice::from_ref(&fixture.surroundings.cwd));
        assert_eq!(best.pid, Some(std::process::id()));
        assert!(
            matches!(&best.wire, Wire::Claude { token: Some(token), .. } if *token == Secret::new(TOKEN))
        );
    }
}

#[test]
fn nexus3_has_its_own_folder_and_header() {
    let fixture = DiscoveryFixture::new();
    let editor = OtherEditor::new(EditorBehaviour::Refusing);
    fixture.file("nexus3", editor.port, lock(&fixture.surroundings.cwd).to_string());
    assert!(matches!(
        fixture.only(),
        Candidate { wire: Wire::Nexus3 { .. }, verdict: CandidateVerdict::Usable, .. }
    ));
}

#[test]
fn a_wrong_token_is_found_out_before_and_after_the_upgrade() {
    for manner in [EditorBehaviour::Refusing, EditorBehaviour::ClosingLate] {
        for token in [json!("old"), json!(null)] {
            let fixture = DiscoveryFixture::new();
            let mut lock = lock(&fixture.surroundings.cwd);
            lock["authToken"] = token;
            fixture.file("claude", OtherEditor::new(manner).port, lock.to_string());
            assert_eq!(fixture.refused(), Reason::BadToken);
        }
    }
}

#[test]
fn a_token_that_no_request_can_carry_harms_nobody() {
    let fixture = DiscoveryFixture::new();
    let mut lock = lock(&fixture.surroundings.cwd);
    lock["authToken"] = "a\r\nHost: evil".into();
    let editor = OtherEditor::new(EditorBehaviour::Refusing);
    fixture.file("claude", editor.port, lock.to_string());
    assert!(matches!(fixture.refused(), Reason::NotAnEditor(why) if why.contains("token")));
    assert_eq!(editor.visits(), 0);
}

#[test]
fn a_living_process_with_a_closed_port_is_no_editor() {
    let fixture = DiscoveryFixture::new();
    let path = fixture.lock(closed_port(), &fixture.surroundings.cwd);
    assert_eq!(fixture.refused(), Reason::NothingListens);
    assert!(path.exists(), "it is not ours to remove");
}

#[test]
fn an_editor_that_answers_is_usable_though_its_process_is_not_seen() {
    let fixture = DiscoveryFixture::new();
    let mut lock = lock(&fixture.surroundings.cwd);
    lock["pid"] = i32::MAX.into();
    let path = fixture.file("claude", OtherEditor::new(EditorBehaviour::Refusing).port, lock.to_string());
    assert!(fixture.only().is_usable(), "it may live in another namespace");
    assert!(path.exists());
}

#[test]
fn whoever_keeps_silent_is_not_waited_for() {
    let fixture = DiscoveryFixture::new();
    for manner in [EditorBehaviour::Silent, EditorBehaviour::SilentAfterUpgrade, EditorBehaviour::Dripping] {
        fixture.lock(OtherEditor::new(manner).port, &fixture.surroundings.cwd);
    }
    let verdicts: Vec<CandidateVerdict> =
        fixture.look().candidates.into_iter().map(|found| found.verdict).collect();
    assert_eq!(verdicts, vec![CandidateVerdict::Not(Reason::NoAnswer); 3]);
}

#[test]
fn another_program_on_the_port_is_no_editor() {
    for manner in [EditorBehaviour::NotHttp, EditorBehaviour::NotFound, EditorBehaviour::Complaining] {
        assert!(matches!(stage_with(manner).refused(), Reason::NotAnEditor(_)), "{manner:?}");
    }
}

#[test]
fn an_editor_of_another_workspace_is_left_in_peace() {
    let fixture = DiscoveryFixture::new();
    let editor = OtherEditor::new(EditorBehaviour::Refusing);
    fixture.lock(editor.port, &fixture.folder("elsewhere"));
    assert_eq!(fixture.refused(), Reason::OtherWorkspace);
    assert_eq!(editor.visits(), 0);
}

#[test]
fn the_terminals_own_window_comes_first_whatever_its_folders() {
    let mut fixture = DiscoveryFixture::new();
    let (near, own) =
        (OtherEditor::new(EditorBehaviour::Refusing), OtherEditor::new(EditorBehaviour::Refusing));
    fixture.lock(near.port, &fixture.surroundings.cwd);
    fixture.lock(own.port, &fixture.folder("elsewhere"));
    assert_eq!(fixture.look().best().unwrap().wire.port(), near.port);
    for variable in ["CLAUDE_CODE_SSE_PORT", "LINKSPAN_WINDOW"] {
        fixture.surroundings.variables.retain(|name, _| name == "TMPDIR");
        fixture.set(variable, own.port.to_string());
        let found = fixture.look();
        let best = found.best().unwrap();
        assert_eq!((best.wire.port(), best.matched), (own.port, Some(Match::OwnTerminal)));
    }
}

#[test]
fn another_transport_is_not_tried() {
    let fixture = DiscoveryFixture::new();
    let editor = OtherEditor::new(EditorBehaviour::Refusing);
    let mut lock = lock(&fixture.surroundings.cwd);
    lock["transport"] = "sse".into();
    fixture.file("claude", editor.port, lock.to_string());
    assert_eq!(fixture.refused(), Reason::UnknownTransport("sse".into()));
    assert_eq!(editor.visits(), 0);
}
