// A conversation as text: what a search looks at, and the Markdown file that it is exported to. Pure.

import type { ChatItem, ChatSummary } from "../../../protocol";
import { split } from "../shell/labels";

/** The text of an item in which a search looks. */
export function searchText(item: ChatItem): string {
  switch (item.kind) {
    case "user":
    case "agent":
    case "thought":
    case "notice":
      return item.text;
    case "tool":
      return `${item.title}\n${item.output ?? ""}`;
    case "plan":
      return item.steps.map(({ text }) => text).join("\n");
    default:
      return "";
  }
}

/** Places of the items that contain the words, the oldest first. */
export function find(items: readonly ChatItem[], words: string): number[] {
  const wanted = words.toLocaleLowerCase();
  if (wanted === "") {
    return [];
  }
  return items.flatMap((item, index) => (searchText(item).toLocaleLowerCase().includes(wanted) ? [index] : []));
}

export function exportName({ title, startedMs }: ChatSummary): string {
  const words = title.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-").replaceAll(/^-+|-+$/g, "").slice(0, 40);
  return `${new Date(startedMs).toISOString().slice(0, 10)}-${words === "" ? "chat" : words}.md`;
}

/** The conversation as a Markdown file. Outputs are in code blocks that they cannot end. */
export function toMarkdown(summary: ChatSummary, items: readonly ChatItem[]): string {
  const head = [
    `# ${oneLine(summary.title) || "Conversation"}`,
    `${oneLine(summary.agentName)} in \`${oneLine(summary.folder)}\`, ${new Date(summary.startedMs).toISOString()}`,
  ];
  return `${[...head, ...items.map((item) => block(item, summary))].filter((text) => text !== "").join("\n\n")}\n`;
}

function block(item: ChatItem, summary: ChatSummary): string {
  switch (item.kind) {
    case "user": {
      const files = (item.attachments ?? []).map(({ path, firstLine, lastLine }) => `- \`${path}${lines(firstLine, lastLine)}\``);
      const who = item.byLinkspan ? "Linkspan, for you" : "You";
      files.push(...(item.pictures ?? []).map(({ name }) => `- picture \`${oneLine(name)}\``));
      return [`## ${who}`, item.text.trimEnd(), files.join("\n")].filter((text) => text !== "").join("\n\n");
    }
    case "agent":
      return `## ${oneLine(summary.agentName)}\n\n${item.text.trimEnd()}`;
    case "thought":
      return item.text
        .trimEnd()
        .split("\n")
        .map((line) => `> ${line}`)
        .join("\n");
    case "tool": {
      const output = item.output ?? "";
      const title = `**${oneLine(item.title)}** (${item.state})`;
      return output === "" ? title : `${title}\n\n${fencedText(output)}`;
    }
    case "turnEnd":
      return "";
    case "plan":
      return item.steps.map(({ text, state }) => `- [${state === "done" ? "x" : " "}] ${oneLine(text)}`).join("\n");
    case "notice":
      return `*${oneLine(item.text)}*`;
    default:
      return "";
  }
}

/** `:3` or `:3-9`, after the name of a file. */
export function lines(first: number | undefined, last: number | undefined): string {
  if (first === undefined) return "";
  return last === undefined || last === first ? `:${first}` : `:${first}-${last}`;
}

/** The name of an attached file. */
export function attachmentName(path: string, first?: number, last?: number): string {
  return split(path).name + lines(first, last);
}

function fencedText(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.trimEnd()}\n${fence}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
