//! `run_command`: a command in a pseudo-terminal of its own, with its output streamed. In sandboxed mode this program
//! starts itself first, restricts itself, and becomes the command.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use linkspan_workspace::terminal::{CommandReport, Size, Terminal};

use super::ToolContext;
use super::answer::{Answer, ToolFailure, cancellable};
use super::arguments::{ParameterKind, ToolArguments, optional, required};
use super::paths::{FileAccess, real_path, resolve};
use super::toolbox::{AgentTools, LocalTool};
use crate::permissions::{PermissionMode, ToolKind};
use crate::sandbox::{self, Protection};

const DEFAULT_SECONDS: usize = 120;
const MOST_SECONDS: usize = 1800;
/// Of the output that the model is shown: the beginning and the end of more.
const MOST_OUTPUT: usize = 30_000;
/// The output is looked at this often while the command runs.
const STREAM_EVERY: u32 = 2;

pub(crate) const TOOLS: &[LocalTool] = &[LocalTool {
    name: "run_command",
    kind: ToolKind::Command,
    about: "Run a command in the user's shell, in the working directory, without a keyboard, and wait until it exits. \
            The result has its output and its exit code. A command that takes longer than its time is ended.",
    parameters: &[
        required("command", ParameterKind::Text, "The command line."),
        optional("cwd", ParameterKind::Text, "The folder to run it in. Default: the working directory."),
        optional("timeout_seconds", ParameterKind::Count, "Default 120, at most 1800."),
    ],
    run,
}];

fn run(tools: &AgentTools, arguments: &ToolArguments<'_>, context: &ToolContext) -> Answer {
    let command = arguments.needed("command");
    if command.trim().is_empty() || command.contains('\0') {
        return Err("`command` is empty or not a text; give a command line".into());
    }
    let cwd = match arguments.text("cwd") {
        Some(cwd) => resolve(cwd, FileAccess::Read, &tools.own, context)?,
        None => real_path(&context.cwd).map_err(|error| format!("the working directory: {error}"))?,
    };
    if !cwd.is_dir() {
        return Err(format!("{} is not a folder", cwd.display()).into());
    }
    let seconds = arguments.count("timeout_seconds").unwrap_or(DEFAULT_SECONDS).clamp(1, MOST_SECONDS);
    let time = Duration::from_secs(u64::try_from(seconds).unwrap_or(1));

    let mut note = "";
    let line = match context.mode {
        PermissionMode::Sandboxed => {
            note = match sandbox::protection() {
                Protection::Nothing => {
                    return Err(ToolFailure::Error(
                        "this system has no Landlock, so commands cannot be restricted and are not run in sandboxed \
                         mode; ask the user for another mode (/mode trusted)"
                            .to_owned(),
                    ));
                }
                Protection::Files => "\n[Sandboxed without a limit on the network: this kernel has none.]",
                Protection::FilesAndTcp => "",
            };
            sandboxed(tools, command, context)?
        }
        _ => command.to_owned(),
    };
    let terminal = Terminal::open("run_command", &cwd, BTreeMap::new(), Size::default());
    let mut stream = OutputStream::default();
    let mut ticks = 0;
    let report = cancellable(
        context,
        |cancel| terminal.run(&line, None, time, cancel),
        || {
            ticks += 1;
            if ticks % STREAM_EVERY == 0 {
                let output = terminal.output();
                stream.show(&output.text, &*context.output);
            }
        },
    )?;
    stream.show(&terminal.output().text, &*context.output);
    match report {
        Ok(report) => told(&report, seconds, note),
        Err(linkspan_workspace::WorkspaceError::Cancelled) => {
            let output = ends_of(&terminal.output().text);
            Err(ToolFailure::Cancelled(format!("The user cancelled the command; it was ended.\n{output}")))
        }
        Err(error) => Err(error.into()),
    }
}

/// Dropping the terminal ends a command that still runs.
fn told(report: &CommandReport, seconds: usize, note: &str) -> Answer {
    let mut output = ends_of(&report.output);
    if report.truncated {
        output = format!("[the beginning is missing]\n{output}");
    }
    if !output.is_empty() && !output.ends_with('\n') {
        output.push('\n');
    }
    match (report.exit_code, report.signal) {
        _ if report.timed_out => Err(ToolFailure::Error(format!(
            "{output}[Ended after {seconds} s. Raise `timeout_seconds`, or start it in the background with its output \
             in a file.]{note}"
        ))),
        (Some(0), _) => Ok(format!("{output}[exit code 0]{note}")),
        (Some(code), _) => Err(ToolFailure::Error(format!("{output}[exit code {code}]{note}"))),
        (None, Some(signal)) => Err(ToolFailure::Error(format!("{output}[ended by signal {signal}]{note}"))),
        (None, None) => {
            Err(ToolFailure::Error(format!("{output}[it ended, but its exit code is not known]{note}")))
        }
    }
}

/// The beginning and the end of a text that is too long.
fn ends_of(text: &str) -> String {
    if text.len() <= MOST_OUTPUT {
        return text.to_owned();
    }
    let start = text.get(..text.floor_char_boundary(MOST_OUTPUT / 3)).unwrap_or_default();
    let end = text.get(text.ceil_char_boundary(text.len() - MOST_OUTPUT * 2 / 3)..).unwrap_or_default();
    format!("{start}\n[… {} bytes …]\n{end}", text.len() - start.len() - end.len())
}

/// What was shown of a text that grows, and may lose its beginning.
#[derive(Default)]
struct OutputStream {
    shown: String,
}

impl OutputStream {
    fn show(&mut self, text: &str, output: &dyn Fn(&str)) {
        let new = match text.strip_prefix(self.shown.as_str()) {
            Some(new) => new,
            // Only its end is still known: continue after what was shown last.
            None => {
                let tail_at = self.shown.ceil_char_boundary(self.shown.len().saturating_sub(200));
                let tail = self.shown.get(tail_at..).unwrap_or_default();
                text.rfind(tail).and_then(|at| text.get(at + tail.len()..)).unwrap_or(text)
            }
        };
        if !new.is_empty() {
            output(new);
            text.clone_into(&mut self.shown);
        }
    }
}

/// The command line that restricts itself and then becomes the command.
fn sandboxed(tools: &AgentTools, command: &str, context: &ToolContext) -> Result<String, ToolFailure> {
    let program = match &tools.config.sandbox_program {
        Some(program) => program.clone(),
        None => {
            let own = std::env::current_exe()
                .map_err(|error| format!("the program of the agent cannot be found: {error}"))?;
            vec![own.into_os_string(), sandbox::COMMAND.into()]
        }
    };
    let folder = real_path(&context.cwd).map_err(|error| format!("the working directory: {error}"))?;
    let shell = std::env::var_os("SHELL").filter(|shell| Path::new(shell).is_absolute());
    let shell = shell.unwrap_or_else(|| "/bin/sh".into());
    let own = tools.own.folders();
    if own.iter().any(|own| own.starts_with(&folder)) {
        return Err(format!(
            "{} holds the files of Linkspan itself, so commands cannot be restricted to it; ask the user to start the \
             agent in the folder of a project",
            folder.display()
        )
        .into());
    }
    let mut restrictions: Vec<OsString> = vec!["--write".into(), folder.into_os_string()];
    restrictions.extend(own.iter().flat_map(|own| ["--hide".into(), own.clone().into_os_string()]));
    restrictions.extend(["--".into(), shell, "-c".into(), command.into()]);
    let words = program.iter().chain(&restrictions);
    let mut line = String::from("exec");
    for word in words {
        let word = std::str::from_utf8(word.as_bytes())
            .map_err(|_| "a path that is not valid UTF-8 cannot be used in the sandbox".to_owned())?;
        line.push(' ');
        line += &quoted(word);
    }
    Ok(line)
}

/// One word for `sh`, and for fish, where a backslash inside of quotes may stand for something else.
fn quoted(word: &str) -> String {
    let mut quoted = String::from("'");
    for letter in word.chars() {
        match letter {
            '\'' | '\\' => quoted += &format!(r"'\{letter}'"),
            other => quoted.push(other),
        }
    }
    quoted + "'"
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::thread;
    use std::time::Instant;

    use serde_json::json;

    use super::*;
    use crate::tools::testing::ToolScene;

    #[test]
    fn output_and_exit_code_are_told_and_streamed() {
        let scene = ToolScene::new(PermissionMode::Yolo);
        assert_eq!(
            scene.ok("run_command", json!({ "command": "echo one; echo two >&2" })),
            "one\ntwo\n[exit code 0]"
        );
        assert_eq!(*scene.output.lock().unwrap(), "one\ntwo\n");
        assert_eq!(scene.fails("run_command", json!({ "command": "echo no; exit 3" })), "no\n[exit code 3]");
        assert!(scene.fails("run_command", json!({ "command": "kill -9 $$" })).contains("signal 9"));
        scene.write("sub/x", "");
        assert_eq!(scene.ok("run_command", json!({ "command": "ls", "cwd": "sub" })), "x\n[exit code 0]");
        assert!(
            scene.fails("run_command", json!({ "command": "ls", "cwd": "sub/x" })).contains("not a folder")
        );
        assert!(scene.fails("run_command", json!({ "command": "  " })).contains("empty"));
    }

    #[test]
    fn a_command_that_takes_too_long_is_ended() {
        let scene = ToolScene::new(PermissionMode::Yolo);
        let before = Instant::now();
        let said = scene.fails(
            "run_command",
            json!({ "command": "echo start; sleep 100; touch late", "timeout_seconds": 1 }),
        );
        assert!(said.starts_with("start\n[Ended after 1 s."), "{said}");
        assert!(before.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_cancelled_command_is_ended_with_all_it_started() {
        let scene = ToolScene::new(PermissionMode::Yolo);
        let command = "(sleep 300 & echo $! > child; echo $$ > pid; wait)";
        thread::scope(|scope| {
            let call = scope.spawn(|| scene.run("run_command", json!({ "command": command })));
            while !std::fs::read_to_string(scene.path("pid")).is_ok_and(|text| text.ends_with('\n')) {
                thread::sleep(Duration::from_millis(5));
            }
            scene.context.cancelled.cancel();
            let result = call.join().unwrap();
            assert!(result.cancelled && result.text.contains("cancelled"), "{result:?}");
        });
        let child = scene.read("child").trim().to_owned();
        for _ in 0..500 {
            let state = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            if state.is_empty() || state.contains(") Z ") {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("the child still runs");
    }

    #[test]
    fn long_output_keeps_both_ends() {
        let scene = ToolScene::new(PermissionMode::Yolo);
        let said = scene.ok("run_command", json!({ "command": "seq 1 20000" }));
        assert!(said.len() < MOST_OUTPUT + 200 && said.starts_with("1\n2\n"), "{}", said.len());
        assert!(said.contains(" bytes …]") && said.ends_with("20000\n[exit code 0]"));
        assert_eq!(scene.output.lock().unwrap().lines().count(), 20000);
    }

    #[test]
    fn a_text_that_lost_its_beginning_is_continued() {
        let heard = Mutex::new(String::new());
        let mut stream = OutputStream::default();
        let whole: String = (0..1000).map(|number| format!("{number}\n")).collect();
        for (from, to) in [(0, 100), (0, 1500), (1000, 2500), (1000, 2500), (2000, 3500)] {
            stream.show(whole.get(from..to).unwrap(), &|text| heard.lock().unwrap().push_str(text));
        }
        assert_eq!(heard.lock().unwrap().as_str(), whole.get(..3500).unwrap());
    }

    #[test]
    fn a_command_is_quoted_for_the_shell() {
        let scene = ToolScene::new(PermissionMode::Sandboxed);
        let mut config = crate::tools::ToolsConfig::new(scene.context.bridge.clone());
        config.sandbox_program = Some(vec!["/a b".into(), "x".into()]);
        let line = sandboxed(&AgentTools::new(config), "echo 'it''s' $HOME", &scene.context).unwrap();
        assert!(line.starts_with("exec '/a b' 'x' '--write' '/"), "{line}");
        assert!(line.ends_with(r"'-c' 'echo '\''it'\'''\''s'\'' $HOME'"), "{line}");
    }

    /// In fish a backslash inside of quotes is one for itself or for a quote.
    fn words_in_fish(line: &str) -> Vec<String> {
        let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
        let mut letters = line.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' if !is_quoted || letters.peek().is_some_and(|next| "\\'".contains(*next)) => {
                    word.extend(letters.next());
                }
                '\'' => is_quoted = !is_quoted,
                ' ' if !is_quoted => words.push(std::mem::take(&mut word)),
                other => {
                    assert!(
                        is_quoted || other.is_ascii_alphanumeric(),
                        "{other} is outside of quotes: {line}"
                    );
                    word.push(other);
                }
            }
        }
        words.push(word);
        words
    }

    #[test]
    fn no_shell_runs_a_part_of_a_command_outside_the_sandbox() {
        let scene = ToolScene::new(PermissionMode::Sandboxed);
        let mut config = crate::tools::ToolsConfig::new(scene.context.bridge.clone());
        config.sandbox_program = Some(vec!["x".into()]);
        let tools = AgentTools::new(config);
        for command in [r"\'(touch outside)\'", r"echo a\\b\n", r"\", r"'\'"] {
            let line = sandboxed(&tools, command, &scene.context).unwrap();
            assert_eq!(words_in_fish(&line).last().map(String::as_str), Some(command), "{line}");
            let said = std::process::Command::new("sh")
                .args(["-c", &line.replacen("exec 'x'", r"printf '%s\n'", 1)])
                .output()
                .unwrap();
            let said = String::from_utf8(said.stdout).unwrap();
            assert_eq!(said.lines().last(), Some(command), "{line}");
        }
    }
}
