// Commands in integrated terminals: seen by the person, never taking her focus, their output and end read through the
// shell integration.

import { stripVTControlCharacters } from "node:util";
import * as vscode from "vscode";
import { ERRORS, type TerminalRunResult } from "../../protocol";
import { inBackground, until } from "./background";
import { type Hub, Refusal } from "./hub";
import { folders, refuseUntrusted } from "./introduction";

/** How long a shell may take to start, on a busy machine too. */
const LONGEST_START_MS = 15_000;
/** How much of that is not taken from the command's own time; within what the hub waits beyond it. */
const GRACE_MS = 5_000;
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
  /** None before the shell is ready. */
  execution?: vscode.TerminalShellExecution;
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
  /** Nobody made it for a use of its own. */
  isShared: boolean;
  /** The person runs something in it. */
  isHers: boolean;
  /** The last that VS Code knew; it forgets it while a command runs. */
  shell: string;
  command?: Command;
}

export function terminal(context: vscode.ExtensionContext, hub: Hub, log: vscode.LogOutputChannel): void {
  const sessions = new Map<string, Session>();
  let created = 0;
  const create = (options: vscode.TerminalOptions, isShared: boolean): Session => {
    created += 1;
    const opened = vscode.window.createTerminal({ name: "Agent", ...options });
    const session = { id: `t${created}`, terminal: opened, isShared, isHers: false, shell: "" };
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
  /** Another folder needs another terminal: typing `cd` into one would move it under the person's hands. */
  const choose = (id: string | undefined, cwd: string | undefined): Session => {
    const named = id === undefined ? undefined : known(id);
    if (named !== undefined && isIn(named, cwd)) {
      return named;
    }
    const folder = cwd ?? folders()[0];
    const isFit = (session: Session) => session.isShared && isReady(session) && isFree(session) && isIn(session, folder);
    return [...sessions.values()].find(isFit) ?? create(folder === undefined ? {} : { cwd: folder }, true);
  };
  const inTerminal = (terminal: vscode.Terminal) => [...sessions.values()].find((each) => each.terminal === terminal);
  context.subscriptions.push(
    vscode.window.onDidCloseTerminal((closed) => {
      const session = inTerminal(closed);
      sessions.delete(session?.id ?? "");
      end(session?.command);
    }),
    vscode.window.onDidStartTerminalShellExecution(({ terminal: busy, execution }) => {
      const session = inTerminal(busy);
      if (session !== undefined && session.command?.execution !== execution) {
        session.isHers = true;
      }
    }),
    vscode.window.onDidEndTerminalShellExecution(({ terminal: idle, execution, exitCode }) => {
      const session = inTerminal(idle);
      if (session?.command?.execution === execution) {
        end(session.command, exitCode);
      } else if (session !== undefined) {
        session.isHers = false;
      }
    }),
  );

  hub.answers("terminal/run", async ({ command: text, cwd, terminal: id, timeoutMs }): Promise<TerminalRunResult> => {
    refuseUntrusted();
    const deadline = Date.now() + timeoutMs + GRACE_MS;
    const session = choose(id, cwd);
    if (!isFree(session)) {
      // VS Code would interrupt it.
      throw new Refusal(ERRORS.CONFLICT, `a command still runs in terminal ${session.id}: wait, or use another`);
    }
    const command: Command = { output: "", isCut: false, isRunning: true, isRead: false };
    session.command = command;
    session.terminal.show(true);
    // It comes a moment after the shell has started, or never.
    await until(Math.min(timeoutMs + GRACE_MS, LONGEST_START_MS), () => isReady(session));
    const { shellIntegration } = session.terminal;
    if (shellIntegration === undefined || Date.now() >= deadline) {
      end(command);
      throw shellIntegration === undefined
        ? new Refusal(ERRORS.UNSUPPORTED, NO_INTEGRATION)
        : new Refusal(ERRORS.TIMEOUT, "nothing was run: its time was over before the shell was ready");
    }
    // VS Code finds out later, or forgets: then it is most likely the shell that terminals have.
    session.shell = session.terminal.state.shell ?? (session.shell || vscode.env.shell);
    command.execution = shellIntegration.executeCommand(asTyped(text, session.shell));
    inBackground(log, read(command, command.execution));
    await until(Math.min(timeoutMs, deadline - Date.now()), () => !command.isRunning);
    await until(command.isRunning ? 0 : LAST_WORDS_MS, () => command.isRead);
    return { terminal: session.id, timedOut: command.isRunning, ...resultOf(command) };
  });
  hub.answers("terminal/create", ({ name = "Agent", cwd, environment, focus }) => {
    refuseUntrusted();
    const session = create({ name, env: environment, ...(cwd !== undefined && { cwd }) }, false);
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

async function read(command: Command, execution: vscode.TerminalShellExecution): Promise<void> {
  for await (const data of execution.read()) {
    command.output += data;
    // Seldom: each cut copies all that stays.
    if (command.output.length > 2 * LONGEST_OUTPUT) {
      command.output = command.output.slice(-LONGEST_OUTPUT);
      command.isCut = true;
    }
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
  const kept = output.slice(-LONGEST_OUTPUT);
  const text = stripVTControlCharacters(kept.replaceAll(MARKS, "")).replaceAll("\r\n", "\n");
  const cut = `[the beginning is left out: only the last ${LONGEST_OUTPUT} characters are kept]\n`;
  return { output: isCut || kept.length < output.length ? cut + text : text, ...(exitCode !== undefined && { exitCode }) };
}

function isReady({ terminal }: Session): boolean {
  return terminal.shellIntegration !== undefined;
}

function isFree({ command, isHers }: Session): boolean {
  return command?.isRunning !== true && !isHers;
}

function isIn({ terminal }: Session, cwd: string | undefined): boolean {
  return cwd === undefined || terminal.shellIntegration?.cwd?.fsPath === cwd;
}
