// Telling the person something, and asking her for permission. Nothing here takes her focus.

import * as vscode from "vscode";
import type { AskOption, UserAsk, UserAskResult } from "../../protocol";
import { inBackground } from "./background";
import type { Hub } from "./hub";
import { sayBriefly, showText } from "./status";
import { plain } from "./wording";

/** VS Code cuts a notification at 1,000 characters without a word; what is asked for must not hide behind that. */
const LONGEST = 900;
const SHOW_ALL = "Show All";
const TITLES: Record<AskOption, string> = {
  allowOnce: "Allow once",
  allowSession: "Allow for this session",
  allowAlways: "Always allow",
  deny: "Deny",
};
/** On the screen now. */
const texts = new Set<string>();

export function user(context: vscode.ExtensionContext, hub: Hub, log: vscode.LogOutputChannel): void {
  hub.answers("status/message", ({ text, level }) => {
    const message = `Linkspan: ${plain(text)}`;
    if (level === "info") {
      sayBriefly(message);
    } else {
      const { showErrorMessage, showWarningMessage } = vscode.window;
      inBackground(log, (level === "error" ? showErrorMessage : showWarningMessage)(message));
    }
    return null;
  });

  /** Those that somebody waits for, and those on the screen, which VS Code cannot take off it. */
  const [open, shown] = [new Set<string>(), new Set<string>()];
  // A notification hides itself after some seconds; the question stays.
  const reminder = vscode.window.createStatusBarItem("linkspan.questions", vscode.StatusBarAlignment.Left);
  reminder.name = "Linkspan: Questions";
  reminder.tooltip = "An agent asks for your permission";
  reminder.command = "notifications.showList";
  const remind = () => {
    reminder.text = `$(question) ${open.size}`;
    if (open.size === 0) {
      reminder.hide();
    } else {
      reminder.show();
    }
  };
  const settle = (id: string): boolean => {
    const wasOpen = open.delete(id);
    remind();
    return wasOpen;
  };
  const ask = async (asked: UserAsk): Promise<void> => {
    shown.add(asked.ask);
    const result = await choose(asked);
    shown.delete(asked.ask);
    const isTaken = settle(asked.ask) && (await hub.ask("user/answered", { ask: asked.ask, result })).taken;
    if (!isTaken && result.kind === "answered") {
      sayBriefly("That question was over");
    }
  };
  context.subscriptions.push(
    reminder,
    hub.onState(({ kind }) => {
      // It asks again what it still wants to know.
      if (kind === "attached") {
        open.clear();
        remind();
      }
    }),
  );
  hub.answers("user/ask", (asked) => {
    open.add(asked.ask);
    remind();
    if (!shown.has(asked.ask)) {
      inBackground(log, ask(asked));
    }
    return null;
  });
  hub.answers("user/unask", ({ ask: id }) => {
    settle(id);
    return null;
  });
}

async function choose({ question, detail, options }: UserAsk): Promise<UserAskResult> {
  const [asks, about] = [plain(question), plain(detail ?? "")];
  // Both are as long as the agent likes: neither takes the other's room.
  const asked = cut(asks, Math.max(LONGEST / 2, LONGEST - about.length));
  const part = cut(about, LONGEST - Math.min(asked.length, LONGEST / 2));
  const isWhole = asked === asks && part === about;
  const titles = [...options.map((option) => TITLES[option]), ...(isWhole ? [] : [SHOW_ALL])];
  for (;;) {
    const title = await warn(`${asked} ${part}`, titles);
    if (title !== SHOW_ALL) {
      const option = options.find((each) => TITLES[each] === title);
      return option === undefined ? { kind: "dismissed" } : { kind: "answered", option };
    }
    showText(`${question}\n${detail ?? ""}`);
  }
}

function cut(text: string, longest: number): string {
  const more = text.length - longest;
  return more > 0 ? `${text.slice(0, longest)}… (${more} characters more)` : text;
}

/** VS Code puts away a notification when the same text comes again, as if she had closed it: no two are the same. */
async function warn(text: string, titles: string[]): Promise<string | undefined> {
  let distinct = text;
  for (let count = 2; texts.has(distinct); count += 1) {
    distinct = `${text} (${count})`;
  }
  texts.add(distinct);
  const title = await vscode.window.showWarningMessage(distinct, ...titles);
  texts.delete(distinct);
  return title;
}
