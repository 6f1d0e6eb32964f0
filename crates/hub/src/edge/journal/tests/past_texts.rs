//! The texts of a closed review, as the history shows them again.

use super::*;

#[test]
fn what_was_decided_is_shown_again_with_its_texts() {
    for (verdict, expected) in
        [(Verdict::Accept, "accepted"), (Verdict::Reject { reason: Some("no".into()) }, "rejected")]
    {
        let (_folder, path) = folder();
        let mut fixture = JournalFixture::at(&path);
        fixture.propose(Writer::Agent);
        assert!(
            matches!(fixture.ask(HistoryQuery::Texts(ReviewId(1))), HistoryAnswer::Unknown),
            "it is pending"
        );
        fixture.decide(verdict, true);
        let HistoryAnswer::Texts(shown) = fixture.ask(HistoryQuery::Texts(ReviewId(1))) else {
            panic!("{expected}: no texts")
        };
        let ended = serde_json::to_value(&shown.entry.ended).unwrap();
        assert_eq!((ended["kind"].as_str(), shown.entry.review.as_str()), (Some(expected), "r1"));
        let [listed] = fixture.list(HistoryFilter::default()).try_into().unwrap();
        assert_eq!(shown.entry, listed);
        assert_eq!((shown.base.as_deref(), shown.text.as_str()), (Some("one\ntwo\n"), "one\n2\n"));
    }
}
