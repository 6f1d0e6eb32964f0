// Telling the person something, and asking her for permission. Nothing here takes her focus.

import * as vscode from "vscode";
import type { AskOption, UserAsk, UserAskResult } from "../../protocol";
import { inBackground } from "./background";
import type { Hub } from "./hub";
import { plain } from "./wording";

const STATUS_MS = 8_000;
/** VS Code cuts a notification at 1,000 characters without a word; what is asked for must not hide behind that. */
const LONGEST_DETAIL = 700;
const SHOW_ALL = "Show All";
const TITLES: Record<AskOption, string> = { allowOnce: "Allow Once", allowAlways: "Always Allow", deny: "Deny" };

export function user(context: vscode.ExtensionContext, hub: Hub, log: vscode.LogOutputChannel): void {
  hub.answers("status/message", ({ text, level }) => {
    const message = `Linkspan: ${plain(text)}`;
    if (level === "info") {
      vscode.window.setStatusBarMessage(message, STATUS_MS);
    } else {
      const { showErrorMessage, showWarningMessage } = vscode.window;
      inBackground(log, (level === "error" ? showErrorMessage : showWarningMessage)(message));
    }
    return null;
  });

  const open = new Set<string>();
  // A notification hides itself after some seconds; the question stays.
  const reminder = vscode.window.createStatusBarItem("linkspan.questions", vscode.StatusBarAlignment.Left);
  reminder.name = "Linkspan: Questions";
  reminder.tooltip = "An agent asks for your permission";
  reminder.command = "notifications.showList";
  context.subscriptions.push(reminder);
  const settle = (id: string): boolean => {
    const wasOpen = open.delete(id);
    reminder.text = `$(question) ${open.size}`;
    if (open.size === 0) {
      reminder.hide();
    }
    return wasOpen;
  };
  const ask = async (asked: UserAsk): Promise<void> => {
    const result = await choose(asked, log);
    // Nobody waits for an answer to what was taken back; VS Code cannot take it off the screen.
    if (settle(asked.ask)) {
      await hub.ask("user/answered", { ask: asked.ask, result });
    }
  };
  hub.answers("user/ask", (asked) => {
    if (!open.has(asked.ask)) {
      open.add(asked.ask);
      reminder.text = `$(question) ${open.size}`;
      reminder.show();
      inBackground(log, ask(asked));
    }
    return null;
  });
  hub.answers("user/unask", ({ ask: id }) => {
    settle(id);
    return null;
  });
}

async function choose({ question, detail, options }: UserAsk, log: vscode.LogOutputChannel): Promise<UserAskResult> {
  const whole = plain(detail ?? "");
  const more = whole.length - LONGEST_DETAIL;
  const shown = more > 0 ? `${whole.slice(0, LONGEST_DETAIL)}… (${more} characters more)` : whole;
  const titles = [...options.map((option) => TITLES[option]), ...(more > 0 ? [SHOW_ALL] : [])];
  for (;;) {
    const title = await vscode.window.showWarningMessage(`${plain(question)} ${shown}`, ...titles);
    if (title !== SHOW_ALL) {
      const option = options.find((each) => TITLES[each] === title);
      return option === undefined ? { kind: "dismissed" } : { kind: "answered", option };
    }
    log.info(`${question}\n${detail ?? ""}`);
    log.show(true);
  }
}
