//! What editors answer, and what is made of it.

use serde_json::json;

use super::stage::*;
use crate::discover::*;

fn stage_with(manner: Manner) -> Stage {
    let stage = Stage::new();
    stage.lock(OtherEditor::new(manner).port, &stage.surroundings.cwd);
    stage
}

#[test]
fn an_editor_that_answers_is_usable() {
    for manner in [Manner::Refusing, Manner::ClosingLate] {
        let stage = stage_with(manner);
        let found = stage.look();
        let best = found.best().unwrap();
        assert_eq!(best.editor, "Other Editor");
        assert_eq!(best.matched, Some(Match::Folder { depth: 0 }));
        assert_eq!(best.folders, std::slice::from_ref(&stage.surroundings.cwd));
        assert_eq!(best.pid, Some(std::process::id()));
        assert!(
            matches!(&best.wire, Wire::Claude { token: Some(token), .. } if *token == Secret::new(TOKEN))
        );
    }
}

#[test]
fn nexus3_has_its_own_folder_and_header() {
    let stage = Stage::new();
    let editor = OtherEditor::new(Manner::Refusing);
    stage.file("nexus3", editor.port, lock(&stage.surroundings.cwd).to_string());
    assert!(matches!(stage.only(), Candidate { wire: Wire::Nexus3 { .. }, verdict: Verdict::Usable, .. }));
}

#[test]
fn a_wrong_token_is_found_out_before_and_after_the_upgrade() {
    for manner in [Manner::Refusing, Manner::ClosingLate] {
        for token in [json!("old"), json!(null)] {
            let stage = Stage::new();
            let mut lock = lock(&stage.surroundings.cwd);
            lock["authToken"] = token;
            stage.file("claude", OtherEditor::new(manner).port, lock.to_string());
            assert_eq!(stage.refused(), Reason::BadToken);
        }
    }
}

#[test]
fn a_token_that_no_request_can_carry_harms_nobody() {
    let stage = Stage::new();
    let mut lock = lock(&stage.surroundings.cwd);
    lock["authToken"] = "a\r\nHost: evil".into();
    let editor = OtherEditor::new(Manner::Refusing);
    stage.file("claude", editor.port, lock.to_string());
    assert!(matches!(stage.refused(), Reason::NotAnEditor(why) if why.contains("token")));
    assert_eq!(editor.visits(), 0);
}

#[test]
fn a_living_process_with_a_closed_port_is_no_editor() {
    let stage = Stage::new();
    let path = stage.lock(closed_port(), &stage.surroundings.cwd);
    assert_eq!(stage.refused(), Reason::NothingListens);
    assert!(path.exists(), "it is not ours to remove");
}

#[test]
fn an_editor_that_answers_is_usable_though_its_process_is_not_seen() {
    let stage = Stage::new();
    let mut lock = lock(&stage.surroundings.cwd);
    lock["pid"] = i32::MAX.into();
    let path = stage.file("claude", OtherEditor::new(Manner::Refusing).port, lock.to_string());
    assert!(stage.only().is_usable(), "it may live in another namespace");
    assert!(path.exists());
}

#[test]
fn whoever_keeps_silent_is_not_waited_for() {
    let stage = Stage::new();
    for manner in [Manner::Silent, Manner::SilentAfterUpgrade, Manner::Dripping] {
        stage.lock(OtherEditor::new(manner).port, &stage.surroundings.cwd);
    }
    let verdicts: Vec<Verdict> = stage.look().candidates.into_iter().map(|found| found.verdict).collect();
    assert_eq!(verdicts, vec![Verdict::Not(Reason::NoAnswer); 3]);
}

#[test]
fn another_program_on_the_port_is_no_editor() {
    for manner in [Manner::NotHttp, Manner::NotFound, Manner::Complaining] {
        assert!(matches!(stage_with(manner).refused(), Reason::NotAnEditor(_)), "{manner:?}");
    }
}

#[test]
fn an_editor_of_another_workspace_is_left_in_peace() {
    let stage = Stage::new();
    let editor = OtherEditor::new(Manner::Refusing);
    stage.lock(editor.port, &stage.folder("elsewhere"));
    assert_eq!(stage.refused(), Reason::OtherWorkspace);
    assert_eq!(editor.visits(), 0);
}

#[test]
fn the_terminals_own_window_comes_first_whatever_its_folders() {
    let mut stage = Stage::new();
    let (near, own) = (OtherEditor::new(Manner::Refusing), OtherEditor::new(Manner::Refusing));
    stage.lock(near.port, &stage.surroundings.cwd);
    stage.lock(own.port, &stage.folder("elsewhere"));
    assert_eq!(stage.look().best().unwrap().wire.port(), near.port);
    for variable in ["CLAUDE_CODE_SSE_PORT", "LINKSPAN_WINDOW"] {
        stage.surroundings.variables.retain(|name, _| name == "TMPDIR");
        stage.set(variable, own.port.to_string());
        let found = stage.look();
        let best = found.best().unwrap();
        assert_eq!((best.wire.port(), best.matched), (own.port, Some(Match::OwnTerminal)));
    }
}

#[test]
fn another_transport_is_not_tried() {
    let stage = Stage::new();
    let editor = OtherEditor::new(Manner::Refusing);
    let mut lock = lock(&stage.surroundings.cwd);
    lock["transport"] = "sse".into();
    stage.file("claude", editor.port, lock.to_string());
    assert_eq!(stage.refused(), Reason::UnknownTransport("sse".into()));
    assert_eq!(editor.visits(), 0);
}
