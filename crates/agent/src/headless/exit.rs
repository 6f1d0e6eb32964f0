//! The exit codes of a run without a terminal. docs/agents/linkspan-agent.md lists them.

use std::process::ExitCode;

use crate::conversation::TurnEnd;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The model is done.
    Done,
    /// The turn did not come to its end: an error, a refusal, or a limit. The output says which.
    Failed,
    /// The command line or the input is wrong; nothing was sent to a model.
    Usage,
    /// The user cancelled it.
    Cancelled,
}

impl Exit {
    /// Every one, for the documentation.
    pub const ALL: [Exit; 4] = [Exit::Done, Exit::Failed, Exit::Usage, Exit::Cancelled];

    /// What the process returns.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Cancelled => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

impl From<TurnEnd> for Exit {
    fn from(end: TurnEnd) -> Exit {
        match end {
            TurnEnd::Done => Exit::Done,
            TurnEnd::Cancelled => Exit::Cancelled,
            TurnEnd::Length | TurnEnd::Refused | TurnEnd::Failed | TurnEnd::Rounds => Exit::Failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_each_code() {
        let page = include_str!("../../../../docs/agents/linkspan-agent.md");
        for exit in Exit::ALL {
            assert!(page.contains(&format!("\n| {} | ", exit.code())), "{exit:?}");
        }
    }
}
