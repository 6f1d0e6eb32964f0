// Telling the person something, and asking her for permission. Nothing here takes her focus.

import * as vscode from "vscode";
import type { AskOption, MessageLevel, UserAsk } from "../../protocol";
import { inBackground } from "./background";
import type { Hub } from "./hub";
import { plain } from "./wording";

const STATUS_MS = 8_000;
/** VS Code cuts a notification at 1,000 characters without a word; what is asked for must not hide behind that. */
const LONGEST_DETAIL = 700;
const SHOW_ALL = "Show All";
const TITLES: Record<AskOption, string> = {
  allowOnce: "Allow Once",
  allowAlways: "Always Allow",
  deny: "Deny",
};

export function user(context: vscode.ExtensionContext, hub: Hub, log: vscode.LogOutputChannel): void {
  hub.answers("status/message", ({ text, level }) => {
    tell(log, level, `Linkspan: ${plain(text)}`);
    return null;
  });

  const open = new Set<string>();
  // A notification hides itself after some seconds; the question stays.
  const reminder = vscode.window.createStatusBarItem("linkspan.questions", vscode.StatusBarAlignment.Left);
  reminder.name = "Linkspan: Questions";
  reminder.command = "notifications.showList";
  context.subscriptions.push(reminder);
  const remind = () => {
    reminder.text = `$(question) ${open.size}`;
    reminder.tooltip = `Linkspan: ${open.size} asked for your permission`;
    if (open.size > 0) {
      reminder.show();
    } else {
      reminder.hide();
    }
  };
  const ask = async (asked: UserAsk): Promise<void> => {
    const option = await choose(asked, log);
    // Nobody waits for the answer to a question that was taken back; VS Code cannot take it off the screen.
    if (open.delete(asked.ask)) {
      remind();
      const result = option === undefined ? { kind: "dismissed" as const } : { kind: "answered" as const, option };
      await hub.ask("user/answered", { ask: asked.ask, result });
    }
  };
  hub.answers("user/ask", (asked) => {
    if (!open.has(asked.ask)) {
      open.add(asked.ask);
      remind();
      inBackground(log, ask(asked));
    }
    return null;
  });
  hub.answers("user/unask", ({ ask }) => {
    open.delete(ask);
    remind();
    return null;
  });
}

function tell(log: vscode.LogOutputChannel, level: MessageLevel, text: string): void {
  if (level === "info") {
    vscode.window.setStatusBarMessage(text, STATUS_MS);
  } else {
    inBackground(log, level === "error" ? vscode.window.showErrorMessage(text) : vscode.window.showWarningMessage(text));
  }
}

async function choose({ question, detail, options }: UserAsk, log: vscode.LogOutputChannel) {
  const whole = detail === undefined ? "" : plain(detail);
  const more = whole.length - LONGEST_DETAIL;
  const shown = more > 0 ? `${whole.slice(0, LONGEST_DETAIL)}… (${more} characters more)` : whole;
  const message = shown === "" ? plain(question) : `${plain(question)} ${shown}`;
  const titles = [...options.map((option) => TITLES[option]), ...(more > 0 ? [SHOW_ALL] : [])];
  for (;;) {
    const title = await vscode.window.showWarningMessage(message, ...titles);
    if (title !== SHOW_ALL) {
      return options.find((option) => TITLES[option] === title);
    }
    log.info(`${question}\n${detail ?? ""}`);
    log.show(true);
  }
}
