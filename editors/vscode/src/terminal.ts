// Commands in integrated terminals: seen by the person, never taking her focus, their output and end read through the
// shell integration.

import { stripVTControlCharacters } from "node:util";
import * as vscode from "vscode";
import { ERRORS, type TerminalRun, type TerminalRunResult } from "../../protocol";
import { inBackground, pause } from "./background";
import { type Hub, Refusal } from "./hub";

const INTEGRATION_MS = 5_000;
/** The stream's last words may come a moment after the end was told. */
const LAST_WORDS_MS = 500;
const LONGEST_OUTPUT = 1024 * 1024;

const [ESC, BEL] = ["\u001b", "\u0007"];
/** Marks of the shell integration and titles, whose text may be anything. */
const MARKS = new RegExp(`${ESC}\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)`, "g");

/** The last command in a terminal. */
interface Command {
  output: string;
  isCut: boolean;
  running: boolean;
  exitCode?: number;
  ended: Promise<void>;
  end(exitCode?: number): void;
}

interface Session {
  id: string;
  terminal: vscode.Terminal;
  command?: Command;
}

export function terminal(context: vscode.ExtensionContext, hub: Hub, log: vscode.LogOutputChannel): void {
  const sessions = new Map<string, Session>();
  const byExecution = new Map<vscode.TerminalShellExecution, Command>();
  let created = 0;
  const create = (name: string | undefined, options: vscode.TerminalOptions): Session => {
    created += 1;
    const session = { id: `t${created}`, terminal: vscode.window.createTerminal({ ...options, name: name ?? "Agent" }) };
    sessions.set(session.id, session);
    return session;
  };
  const known = (id: string): Session => {
    const session = sessions.get(id);
    if (session === undefined) {
      throw new Refusal(ERRORS.NOT_FOUND, `there is no terminal ${id}: it was closed, or never opened here`);
    }
    return session;
  };
  context.subscriptions.push(
    vscode.window.onDidCloseTerminal((closed) => {
      for (const session of [...sessions.values()].filter((candidate) => candidate.terminal === closed)) {
        sessions.delete(session.id);
        session.command?.end();
      }
    }),
    vscode.window.onDidEndTerminalShellExecution(({ execution, exitCode }) => {
      byExecution.get(execution)?.end(exitCode);
      byExecution.delete(execution);
    }),
  );

  const run = async ({ command: text, cwd, terminal: id, timeoutMs }: TerminalRun): Promise<TerminalRunResult> => {
    const deadline = Date.now() + timeoutMs;
    // Another folder needs another terminal: typing `cd` into one would move it under the person's hands.
    const reused = id === undefined ? undefined : known(id);
    const session = reused && isIn(reused.terminal, cwd) ? reused : create(undefined, cwd === undefined ? {} : { cwd });
    if (session.command?.running === true) {
      // VS Code would interrupt it.
      throw new Refusal(ERRORS.CONFLICT, `a command still runs in terminal ${session.id}: wait, or use another`);
    }
    session.terminal.show(true);
    const shell = await integrationOf(session.terminal);
    if (shell === undefined) {
      const why = "this terminal's shell has no shell integration, so output and exit code cannot be known";
      const remedy = "use bash, zsh, fish or PowerShell, and `terminal.integrated.shellIntegration.enabled`";
      throw new Refusal(ERRORS.UNSUPPORTED, `${why}; nothing was run: ${remedy}`);
    }
    const execution = shell.executeCommand(text);
    const command = started();
    session.command = command;
    byExecution.set(execution, command);
    const reading = read(execution, command);
    inBackground(log, reading);
    await Promise.race([command.ended, pause(Math.max(0, deadline - Date.now()))]);
    if (!command.running) {
      await Promise.race([reading, pause(LAST_WORDS_MS)]);
    }
    const { exitCode, running: timedOut } = command;
    return { terminal: session.id, output: textOf(command), timedOut, ...(exitCode !== undefined && { exitCode }) };
  };
  hub.answers("terminal/run", run);
  hub.answers("terminal/create", ({ name, cwd, environment, focus }) => {
    const session = create(name, { env: environment, ...(cwd !== undefined && { cwd }) });
    if (focus) {
      session.terminal.show(true);
    }
    return { terminal: session.id };
  });
  hub.answers("terminal/output", ({ terminal: id }) => {
    const { command } = known(id);
    if (command === undefined) {
      return { output: "", running: false };
    }
    const { exitCode, running } = command;
    return { output: textOf(command), running, ...(exitCode !== undefined && { exitCode }) };
  });
}

function started(): Command {
  let settle: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (settle = resolve));
  const command: Command = {
    output: "",
    isCut: false,
    running: true,
    ended,
    end: (exitCode) => {
      command.running = false;
      if (exitCode !== undefined) {
        command.exitCode = exitCode;
      }
      settle();
    },
  };
  return command;
}

async function read(execution: vscode.TerminalShellExecution, command: Command): Promise<void> {
  for await (const data of execution.read()) {
    const output = command.output + data;
    command.isCut ||= output.length > LONGEST_OUTPUT;
    command.output = output.slice(-LONGEST_OUTPUT);
  }
}

function textOf({ output, isCut }: Command): string {
  const text = stripVTControlCharacters(output.replaceAll(MARKS, "")).replaceAll("\r\n", "\n");
  return isCut ? `[the beginning is left out: only the last ${LONGEST_OUTPUT} characters are kept]\n${text}` : text;
}

function isIn(terminal: vscode.Terminal, cwd: string | undefined): boolean {
  return cwd === undefined || terminal.shellIntegration?.cwd?.fsPath === cwd;
}

/** Comes a moment after the shell has started, or never. */
async function integrationOf(terminal: vscode.Terminal): Promise<vscode.TerminalShellIntegration | undefined> {
  const deadline = Date.now() + INTEGRATION_MS;
  while (terminal.shellIntegration === undefined && terminal.exitStatus === undefined && Date.now() < deadline) {
    await pause(50);
  }
  return terminal.shellIntegration;
}
