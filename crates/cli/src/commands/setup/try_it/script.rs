//! Decides instead of the user, through the hub's socket as any command does, and checks afterwards that the files hold
//! what was decided.

use linkspan_client::Control;
use linkspan_editor_api::{Decision, ReviewShow, ReviewsDecide, Verdict};

use super::sample::{Project, Proposal, ScriptedDecision};
use crate::cli::context::{CliContext, greet_as};
use crate::cli::exit::{Exit, Failure};
use crate::commands::review::decision::not_taken;

/// The place of its decisions, as it is shown elsewhere.
const ROLE: &str = "the script of `linkspan try`";

pub(super) struct Script {
    hub: Control,
}

impl Script {
    pub(super) fn connect(cli: &CliContext) -> Result<Script, Failure> {
        Ok(Script { hub: greet_as(ROLE, || cli.connect_or_start())?.0 })
    }

    pub(super) fn decide(&mut self, shown: &ReviewShow, proposal: &Proposal) -> Result<(), Failure> {
        let verdict = match proposal.script {
            ScriptedDecision::All => Verdict::Accept,
            ScriptedDecision::Reject(reason) => Verdict::Reject { reason: Some(reason.to_owned()) },
            ScriptedDecision::Hunks(taken) => {
                let taken = taken.iter().filter_map(|index| shown.hunks.get(*index));
                Verdict::AcceptHunks { hunks: taken.map(|hunk| hunk.id.clone()).collect() }
            }
        };
        let decision = Decision { verdict, comments: Vec::new(), write_here: false };
        let ask = ReviewsDecide {
            review: shown.review.clone(),
            revision: Some(shown.revision),
            digest: Some(shown.digest.clone()),
            decision,
        };
        let result = self.hub.request(&ask)?;
        match not_taken(&shown.review, &result) {
            None => Ok(()),
            Some((exit, message)) => Err(Failure::new(exit, message)),
        }
    }
}

/// Fails with the first file that does not hold, byte for byte, what the script decided.
pub(super) fn check(project: &Project, proposals: [&Proposal; 3]) -> Result<(), Failure> {
    for proposal in proposals {
        let expected = proposal.scripted.as_deref().map(str::as_bytes);
        let holds = project.content(proposal);
        if holds.as_deref() != expected {
            let what = |bytes: Option<&[u8]>| match bytes {
                Some(bytes) => format!("`{}`", bytes.escape_ascii()),
                None => "no file".to_owned(),
            };
            let message = format!(
                "{} is not what was decided. Expected {}, found {}",
                project.file(proposal).display(),
                what(expected),
                what(holds.as_deref())
            );
            return Err(Failure::new(Exit::Internal, message));
        }
    }
    Ok(())
}
