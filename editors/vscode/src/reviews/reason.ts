// The box for the reason of a rejection. If the agent cannot receive it, it says so and offers to copy it.

import * as vscode from "vscode";
import { count } from "../plain_text";
import type { Review } from "./store";

const COPY: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("copy"), tooltip: "Copy the Reason" };

/** Undefined if the user does not want to reject after all. */
export async function askReason(reviews: readonly Review[]): Promise<string | undefined> {
  const [first] = reviews;
  if (first === undefined) {
    return undefined;
  }
  const title = `Reject ${reviews.length === 1 ? first.name : count(reviews.length, "change")}`;
  const unheard = [...new Set(reviews.filter(({ shown }) => shown.receives?.reason === false).map(({ agent }) => agent))];
  const limits = new Set(reviews.flatMap((review) => review.note("reason") ?? []));
  const prompt =
    unheard.length > 0
      ? `Kept in history; ${unheard.join(", ")} cannot receive it`
      : [...limits, `Tell ${first.agent} why, or what to do instead`].join(" ");
  return (await ask(title, prompt, unheard.length > 0 ? [COPY] : []))?.trim();
}

/** An input box with a button that copies what is typed. */
function ask(title: string, prompt: string, buttons: vscode.QuickInputButton[]): Promise<string | undefined> {
  const input = Object.assign(vscode.window.createInputBox(), { title, prompt, buttons });
  return new Promise((resolve) => {
    input.onDidTriggerButton(() => vscode.env.clipboard.writeText(input.value));
    input.onDidAccept(() => {
      resolve(input.value);
      input.hide();
    });
    input.onDidHide(() => {
      resolve(undefined);
      input.dispose();
    });
    input.show();
  });
}
