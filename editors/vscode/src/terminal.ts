// Commands in integrated terminals: seen by the person, never taking her focus, their output and end read through the
// shell integration.

import { stripVTControlCharacters } from "node:util";
import * as vscode from "vscode";
import { ERRORS, type TerminalRunResult } from "../../protocol";
import { inBackground, until } from "./background";
import { type Hub, Refusal } from "./hub";

/** How long a shell may take to start, on a busy machine too; within what the hub waits beyond the command's time. */
const INTEGRATION_MS = [5_000, 15_000] as const;
/** The last words may come a moment after the end was told. */
const LAST_WORDS_MS = 2_000;
const LONGEST_OUTPUT = 1024 * 1024;
const NO_INTEGRATION =
  "nothing was run: this terminal's shell has no shell integration, so output and exit code could not be known; " +
  "use bash, zsh, fish or PowerShell, and switch `terminal.integrated.shellIntegration.enabled` on";

const [ESC, BEL] = ["\u001b", "\u0007"];
/** Marks of the shell integration and titles, whose text may be anything. */
const MARKS = new RegExp(`${ESC}\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)`, "g");

interface Command {
  execution: vscode.TerminalShellExecution;
  output: string;
  isCut: boolean;
  isRunning: boolean;
  isRead: boolean;
  exitCode?: number;
}

/** A terminal that an agent asked for, and the last command in it. */
interface Session {
  id: string;
  terminal: vscode.Terminal;
  /** The last that VS Code knew; it forgets it while a command runs. */
  shell: string;
  command?: Command;
}

export function terminal(context: vscode.ExtensionContext, hub: Hub, log: vscode.LogOutputChannel): void {
  const sessions = new Map<string, Session>();
  let created = 0;
  const create = (options: vscode.TerminalOptions): Session => {
    created += 1;
    const opened = vscode.window.createTerminal({ name: "Agent", ...options });
    const session = { id: `t${created}`, terminal: opened, shell: "" };
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
      for (const { id, terminal: mine, command } of sessions.values()) {
        if (mine === closed) {
          sessions.delete(id);
          end(command);
        }
      }
    }),
    vscode.window.onDidEndTerminalShellExecution(({ execution, exitCode }) => {
      end([...sessions.values()].find(({ command }) => command?.execution === execution)?.command, exitCode);
    }),
  );

  hub.answers("terminal/run", async ({ command: text, cwd, terminal: id, timeoutMs }): Promise<TerminalRunResult> => {
    const deadline = Date.now() + timeoutMs;
    // Another folder needs another terminal: typing `cd` into one would move it under the person's hands.
    const reused = id === undefined ? undefined : known(id);
    const session = reused && isIn(reused.terminal, cwd) ? reused : create(cwd === undefined ? {} : { cwd });
    if (session.command?.isRunning === true) {
      // VS Code would interrupt it.
      throw new Refusal(ERRORS.CONFLICT, `a command still runs in terminal ${session.id}: wait, or use another`);
    }
    session.terminal.show(true);
    // It comes a moment after the shell has started, or never.
    const [least, most] = INTEGRATION_MS;
    await until(Math.max(least, Math.min(timeoutMs, most)), () => session.terminal.shellIntegration !== undefined);
    if (session.terminal.shellIntegration === undefined) {
      throw new Refusal(ERRORS.UNSUPPORTED, NO_INTEGRATION);
    }
    session.shell = session.terminal.state.shell ?? session.shell;
    const execution = session.terminal.shellIntegration.executeCommand(asTyped(text, session.shell));
    const command: Command = { execution, output: "", isCut: false, isRunning: true, isRead: false };
    session.command = command;
    inBackground(log, read(command));
    await until(deadline - Date.now(), () => !command.isRunning);
    await until(command.isRunning ? 0 : LAST_WORDS_MS, () => command.isRead);
    return { terminal: session.id, timedOut: command.isRunning, ...resultOf(command) };
  });
  hub.answers("terminal/create", ({ name = "Agent", cwd, environment, focus }) => {
    const session = create({ name, env: environment, ...(cwd !== undefined && { cwd }) });
    if (focus) {
      session.terminal.show(true);
    }
    return { terminal: session.id };
  });
  hub.answers("terminal/output", ({ terminal: id }) => {
    const { command } = known(id);
    return { running: command?.isRunning === true, ...(command === undefined ? { output: "" } : resultOf(command)) };
  });
}

/** VS Code loses sight of a command of several lines, and bash does not tell it of one that begins with a subshell:
 * neither would be seen to end. */
function asTyped(text: string, shell: string): string {
  const isSeen = !/^\(|\n/.test(text.trim());
  if (isSeen || !/bash|zsh/.test(shell)) {
    return text;
  }
  return `eval $'${text.replaceAll(/[\\']/g, "\\$&").replaceAll(/\r?\n/g, "\\n")}'`;
}

async function read(command: Command): Promise<void> {
  for await (const data of command.execution.read()) {
    const output = command.output + data;
    command.isCut ||= output.length > LONGEST_OUTPUT;
    command.output = output.slice(-LONGEST_OUTPUT);
  }
  command.isRead = true;
}

function end(command: Command | undefined, exitCode?: number): void {
  if (command !== undefined) {
    command.isRunning = false;
    Object.assign(command, exitCode !== undefined && { exitCode });
  }
}

function resultOf({ output, isCut, exitCode }: Command): { output: string; exitCode?: number } {
  const text = stripVTControlCharacters(output.replaceAll(MARKS, "")).replaceAll("\r\n", "\n");
  const cut = `[the beginning is left out: only the last ${LONGEST_OUTPUT} characters are kept]\n`;
  return { output: isCut ? cut + text : text, ...(exitCode !== undefined && { exitCode }) };
}

function isIn({ shellIntegration }: vscode.Terminal, cwd: string | undefined): boolean {
  return cwd === undefined || shellIntegration?.cwd?.fsPath === cwd;
}
