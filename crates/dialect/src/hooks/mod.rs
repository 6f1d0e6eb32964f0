//! Hook formats: an agent runs a command before it acts, with JSON on stdin, and reads its decision from stdout.
//!
//! One file for each agent; `call` reads stdin, `answer` is the decision, `rewrite` and `apply_patch` say a text in the
//! words of the agent's own tool, `words` tells the model. Nothing here reads a file, a clock or a socket.

mod agent;
mod answer;
mod apply_patch;
mod call;
mod caller;
mod change;
mod claude;
mod codex;
mod copilot;
mod error;
mod event_kind;
mod gemini;
mod git_diff;
mod opencode;
mod qwen;
mod rewrite;
mod tool;
mod words;

pub use agent::HookAgent;
pub use answer::{HookAnswer, HookOutput, RewrittenFile};
pub use apply_patch::{PatchChunk, PatchLine};
pub use call::{EditCall, HookCall, HookEvent, MAX_INPUT};
pub use change::{FileChange, FileChangeKind, FileResult, ReplaceRule, TextReplacement};
pub use error::{EditError, HookError};
pub use git_diff::DiffHunk;
pub use words::{DecidedFile, FileVerdict, model_text, not_written};
