//! Records that could not be made, for example on a full disk, while those after them could.

use super::*;

#[test]
fn a_write_whose_record_failed_can_be_undone_once_its_delivery_is_recorded() {
    for writer in [Writer::Hub, Writer::Agent] {
        let (_folder, path) = folder();
        let mut fixture = JournalFixture::at(&path);
        fixture.propose(writer);
        fixture.decide(Verdict::Accept, false);
        let review = ReviewId(1);
        // Written: an agent has done so by itself, and there is no record of that.
        fixture.state.apply(Event::Written { review });
        fixture.state.apply(Event::RecordFailed { review, step: Step::Written, error: "disk full".into() });
        fixture.apply(Event::Delivered { review }, true);
        let change = fixture.change(ChangeSelector::Review(review));
        assert_eq!(change.id.is_some(), writer == Writer::Hub, "only the hub knows that it has written");
        assert_eq!(
            (change.before.as_deref(), change.after.as_deref()),
            (Some(&b"one\ntwo\n"[..]), Some(&b"one\n2\n"[..]))
        );
    }
}

#[test]
fn a_write_is_recorded_once() {
    let (_folder, path) = folder();
    let mut fixture = JournalFixture::at(&path);
    fixture.propose(Writer::Hub);
    fixture.decide(Verdict::Accept, true);
    fixture.apply(Event::Delivered { review: ReviewId(1) }, true);
    assert_eq!(fixture.change(ChangeSelector::Review(ReviewId(1))).id, Some(ChangeId(1)));
    assert_eq!(fixture.list(HistoryFilter::default()).len(), 1);
}
