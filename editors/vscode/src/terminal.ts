// Commands in integrated terminals: visible to the user, without taking the focus. Output and exit code come from VS
// Code's shell integration.

import { stripVTControlCharacters } from "node:util";
import * as vscode from "vscode";
import { ERRORS, type TerminalRunResult } from "../../protocol";
import { inBackground, until } from "./promises";
import { type Hub, Refusal } from "./hub";
import { folders, refuseUntrusted } from "./attach_params";
import { plain } from "./plain_text";

/** How long a shell may take to start, even on a busy machine. */
const MAX_START_MS = 15_000;
/** How much of that does not count against the command's timeout. Shorter than the hub's own grace period. */
const GRACE_MS = 5_000;
/** The last output may arrive a moment after the end event. */
const LAST_OUTPUT_MS = 2_000;
const MAX_OUTPUT = 1024 * 1024;
const NO_INTEGRATION =
  "the command was not run: this terminal's shell has no shell integration, so its output and exit code would be " +
  "unknown; use bash, zsh, fish or PowerShell, and turn on `terminal.integrated.shellIntegration.enabled`";

const [ESC, BEL] = ["\u001b", "\u0007"];
/** Shell integration marks and titles, which may contain any text. */
const MARKS = new RegExp(`${ESC}\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)`, "g");

interface Command {
  /** Undefined until the shell is ready. */
  execution?: vscode.TerminalShellExecution;
  output: string;
  isCut: boolean;
  isRunning: boolean;
  isRead: boolean;
  exitCode?: number;
}

/** A terminal opened for an agent, and the last command in it. */
interface Session {
  id: string;
  terminal: vscode.Terminal;
  /** It was not created with `terminal/create` for one agent's own use. */
  isShared: boolean;
  /** The user runs something in it. */
  isUsers: boolean;
  /** The last shell that VS Code reported: while a command runs it reports none. */
  shell: string;
  command?: Command;
}

export function terminal(context: vscode.ExtensionContext, hub: Hub, log: vscode.LogOutputChannel): void {
  const sessions = new Map<string, Session>();
  let created = 0;
  const create = (options: vscode.TerminalOptions, isShared: boolean): Session => {
    created += 1;
    const opened = vscode.window.createTerminal({ name: "Agent", ...options });
    const session = { id: `t${created}`, terminal: opened, isShared, isUsers: false, shell: "" };
    sessions.set(session.id, session);
    return session;
  };
  const known = (id: string): Session => {
    const session = sessions.get(id);
    if (session === undefined) {
      throw new Refusal(ERRORS.NOT_FOUND, `there is no terminal ${id}: it was closed, or belongs to another window`);
    }
    return session;
  };
  /** Another folder needs another terminal: running `cd` in one would move it while the user works in it. */
  const choose = (id: string | undefined, cwd: string | undefined, name: string): Session => {
    const named = id === undefined ? undefined : known(id);
    if (named !== undefined && isIn(named, cwd)) {
      return named;
    }
    const folder = cwd ?? folders()[0];
    const isFit = (session: Session) => session.isShared && session.terminal.name === name && isReady(session) && isFree(session) && isIn(session, folder);
    return [...sessions.values()].find(isFit) ?? create({ name, ...(folder !== undefined && { cwd: folder }) }, true);
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
        session.isUsers = true;
      }
    }),
    vscode.window.onDidEndTerminalShellExecution(({ terminal: idle, execution, exitCode }) => {
      const session = inTerminal(idle);
      if (session?.command?.execution === execution) {
        end(session.command, exitCode);
      } else if (session !== undefined) {
        session.isUsers = false;
      }
    }),
  );

  hub.onRequest("terminal/run", async ({ command: text, cwd, terminal: id, name = "Agent", timeoutMs }): Promise<TerminalRunResult> => {
    refuseUntrusted();
    const deadline = Date.now() + timeoutMs + GRACE_MS;
    const session = choose(id, cwd, plain(name));
    if (!isFree(session)) {
      // VS Code would interrupt the running command.
      throw new Refusal(ERRORS.CONFLICT, `a command is still running in terminal ${session.id}: wait, or use another`);
    }
    const command: Command = { output: "", isCut: false, isRunning: true, isRead: false };
    session.command = command;
    session.terminal.show(true);
    // Shell integration appears a moment after the shell has started, or never.
    await until(Math.min(timeoutMs + GRACE_MS, MAX_START_MS), () => isReady(session));
    const { shellIntegration } = session.terminal;
    if (shellIntegration === undefined || Date.now() >= deadline) {
      end(command);
      throw shellIntegration === undefined
        ? new Refusal(ERRORS.UNSUPPORTED, NO_INTEGRATION)
        : new Refusal(ERRORS.TIMEOUT, "the command was not run: its timeout passed before the shell was ready");
    }
    // VS Code may not know the shell yet, or no longer: then it is most likely the default one.
    session.shell = session.terminal.state.shell ?? (session.shell || vscode.env.shell);
    command.execution = shellIntegration.executeCommand(trackable(text, session.shell));
    inBackground(log, read(command, command.execution));
    await until(Math.min(timeoutMs, deadline - Date.now()), () => !command.isRunning);
    await until(command.isRunning ? 0 : LAST_OUTPUT_MS, () => command.isRead);
    return { terminal: session.id, timedOut: command.isRunning, ...resultOf(command) };
  });
  hub.onRequest("terminal/create", ({ name = "Agent", cwd, environment, focus }) => {
    refuseUntrusted();
    const session = create({ name, env: environment, ...(cwd !== undefined && { cwd }) }, false);
    if (focus) {
      session.terminal.show(true);
    }
    return { terminal: session.id };
  });
  context.subscriptions.push(
    vscode.commands.registerCommand("linkspan.startAgent", () => {
      const command = vscode.workspace.getConfiguration("linkspan").get("agent", "claude");
      const beside = vscode.window.createTerminal({ name: command, location: { viewColumn: vscode.ViewColumn.Beside } });
      beside.show();
      beside.sendText(command);
    }),
  );
  hub.onRequest("terminal/output", ({ terminal: id }) => {
    const { command } = known(id);
    return { running: command?.isRunning === true, ...(command === undefined ? { output: "" } : resultOf(command)) };
  });
}

/** VS Code does not track a command of several lines, and bash does not report one that begins with a subshell: the
 * end of either would be missed. */
function trackable(text: string, shell: string): string {
  const isTracked = !/^\(|\n/.test(text.trim());
  if (isTracked || !/bash|zsh/.test(shell)) {
    return text;
  }
  return `eval $'${text.replaceAll(/[\\']/g, "\\$&").replaceAll(/\r?\n/g, "\\n")}'`;
}

async function read(command: Command, execution: vscode.TerminalShellExecution): Promise<void> {
  for await (const data of execution.read()) {
    command.output += data;
    // Only at twice the limit, because each cut copies the rest.
    if (command.output.length > 2 * MAX_OUTPUT) {
      command.output = command.output.slice(-MAX_OUTPUT);
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
  const kept = output.slice(-MAX_OUTPUT);
  const text = stripVTControlCharacters(kept.replaceAll(MARKS, "")).replaceAll("\r\n", "\n");
  const cut = `[truncated: only the last ${MAX_OUTPUT} characters are kept]\n`;
  return { output: isCut || kept.length < output.length ? cut + text : text, ...(exitCode !== undefined && { exitCode }) };
}

function isReady({ terminal }: Session): boolean {
  return terminal.shellIntegration !== undefined;
}

function isFree({ command, isUsers }: Session): boolean {
  return command?.isRunning !== true && !isUsers;
}

function isIn({ terminal }: Session, cwd: string | undefined): boolean {
  return cwd === undefined || terminal.shellIntegration?.cwd?.fsPath === cwd;
}
