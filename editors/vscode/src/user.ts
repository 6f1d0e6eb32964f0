// Messages and permission prompts for the user. Nothing here takes the focus.

import * as vscode from "vscode";
import type { AskOption, UserAsk, UserAskResult } from "../../protocol";
import { inBackground } from "./promises";
import type { Hub } from "./hub";
import { showBriefly, showText } from "./status";
import { plain } from "./plain_text";

/** VS Code silently cuts a notification at 1,000 characters; no part of a permission prompt may be hidden that way. */
const MAX_LENGTH = 900;
const SHOW_ALL = "Show All";
const TITLES: Record<AskOption, string> = {
  allowOnce: "Allow once",
  allowSession: "Allow for this session",
  allowAlways: "Always allow",
  deny: "Deny",
};
/** The notifications on the screen now. */
const visibleTexts = new Set<string>();

/** The prompts that wait for the user. */
export interface Questions {
  readonly open: readonly UserAsk[];
  readonly onChange: vscode.Event<void>;
}

export function user(context: vscode.ExtensionContext, hub: Hub, log: vscode.LogOutputChannel): Questions {
  hub.onRequest("status/message", ({ text, level }) => {
    const message = `Linkspan: ${plain(text)}`;
    if (level === "info") {
      showBriefly(message);
    } else {
      const { showErrorMessage, showWarningMessage } = vscode.window;
      inBackground(log, (level === "error" ? showErrorMessage : showWarningMessage)(message));
    }
    return null;
  });

  /** The prompts that are pending, and those on the screen, which VS Code cannot remove. */
  const [open, shown] = [new Map<string, UserAsk>(), new Set<string>()];
  // A notification hides after a few seconds; the prompt stays pending.
  const changed = new vscode.EventEmitter<void>();
  const notify = () => {
    inBackground(log, vscode.commands.executeCommand("setContext", "linkspan.questions", open.size));
    changed.fire();
  };
  const settle = (id: string): boolean => {
    const wasOpen = open.delete(id);
    notify();
    return wasOpen;
  };
  const prompt = async (asked: UserAsk): Promise<void> => {
    shown.add(asked.ask);
    const result = await choose(asked);
    shown.delete(asked.ask);
    const isTaken = settle(asked.ask) && (await hub.request("user/answered", { ask: asked.ask, result })).taken;
    if (!isTaken && result.kind === "answered") {
      showBriefly("That prompt is no longer pending");
    }
  };
  context.subscriptions.push(
    changed,
    hub.onState(({ kind }) => {
      // The hub sends the prompts that are still pending again.
      if (kind === "attached") {
        open.clear();
        notify();
      }
    }),
  );
  hub.onRequest("user/ask", (asked) => {
    open.set(asked.ask, asked);
    notify();
    if (!shown.has(asked.ask)) {
      inBackground(log, prompt(asked));
    }
    return null;
  });
  hub.onRequest("user/unask", ({ ask: id }) => {
    settle(id);
    return null;
  });
  return {
    get open() {
      return [...open.values()];
    },
    onChange: changed.event,
  };
}

async function choose({ question, detail, options, labels }: UserAsk): Promise<UserAskResult> {
  const [title, body] = [plain(question), plain(detail ?? "")];
  // The agent controls the length of both, so each has half of the space for sure.
  const shownTitle = cut(title, Math.max(MAX_LENGTH / 2, MAX_LENGTH - body.length));
  const shownBody = cut(body, MAX_LENGTH - Math.min(shownTitle.length, MAX_LENGTH / 2));
  const isWhole = shownTitle === title && shownBody === body;
  const titles = options.map((option, index) => plain(labels[index] ?? TITLES[option]));
  const buttons = [...titles, ...(isWhole ? [] : [SHOW_ALL])];
  for (;;) {
    const button = await warn(`${shownTitle} ${shownBody}`, buttons);
    if (button !== SHOW_ALL) {
      const option = options[titles.indexOf(button ?? "")];
      return option === undefined ? { kind: "dismissed" } : { kind: "answered", option };
    }
    showText(`${question}\n${detail ?? ""}`);
  }
}

function cut(text: string, longest: number): string {
  const more = text.length - longest;
  return more > 0 ? `${text.slice(0, longest)}… (${more} more characters)` : text;
}

/** VS Code closes a notification when the same text is shown again, as if the user had dismissed it, so each text is
 * made unique. */
async function warn(text: string, buttons: string[]): Promise<string | undefined> {
  let distinct = text;
  for (let count = 2; visibleTexts.has(distinct); count += 1) {
    distinct = `${text} (${count})`;
  }
  visibleTexts.add(distinct);
  const button = await vscode.window.showWarningMessage(distinct, ...buttons);
  visibleTexts.delete(distinct);
  return button;
}
