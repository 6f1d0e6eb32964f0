//! The editor's integrated terminals, and code run by the editor itself (a notebook's kernel).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Opens an integrated terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct TerminalCreate {
    /// Title of its tab.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Absolute path of the directory it starts in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Variables on top of the editor's own.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Bring it to the front.
    #[serde(default)]
    pub focus: bool,
}

/// The terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct TerminalCreateResult {
    /// Id of the terminal, minted by the editor.
    pub terminal: String,
}

/// Runs a command in an integrated terminal and waits until it exits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct TerminalRun {
    /// The command line for the shell.
    pub command: String,
    /// Absolute path of the directory to run it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Id of the terminal; missing: a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal: Option<String>,
    /// Title of a terminal that is opened for it: the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Answer after this many milliseconds at the latest. The command keeps running.
    pub timeout_ms: u32,
}

/// The result of the command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct TerminalRunResult {
    /// Id of the terminal it ran in.
    pub terminal: String,
    /// Its output, without escape sequences.
    pub output: String,
    /// Its exit code; missing while it runs, or if the editor does not know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// It was still running when the time was up.
    #[serde(default)]
    pub timed_out: bool,
}

/// Asks for the output of the last command in a terminal so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct TerminalOutput {
    /// Id of the terminal.
    pub terminal: String,
}

/// The output so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct TerminalOutputResult {
    /// The output, without escape sequences.
    pub output: String,
    /// The command is still running.
    #[serde(default)]
    pub running: bool,
    /// Its exit code, if it has ended and the editor knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
}

/// Runs code in the kernel of the active notebook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct CodeExecute {
    /// The code.
    pub code: String,
}

/// The result of the code.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct CodeExecuteResult {
    /// Its outputs as text, in order.
    pub outputs: Vec<String>,
}
