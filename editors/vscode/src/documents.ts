// The documents that are open: what they are, what they hold, opening, revealing, saving and closing them.

import * as vscode from "vscode";
import type { DocumentOpen, DocumentOpenResult, OpenDocument, OpenTarget } from "../../protocol";
import { ERRORS } from "../../protocol";
import { atRest, messageOf } from "./background";
import { type Hub, Refusal } from "./hub";
import { documentOf, editorOf, fromRange, fromSelection, isOnDisk, pathOf, toRange, uriOf } from "./places";

const REST_MS = 50;
/** VS Code keeps larger ones from extensions. */
const LARGEST_DOCUMENT = 50 * 1024 * 1024;

/** A tab with a text of hers; a review is none. */
interface TextTab {
  tab: vscode.Tab;
  path: string;
}

export function documents(context: vscode.ExtensionContext, hub: Hub): void {
  const changed = atRest(context, REST_MS, () => hub.tell("documents/changed", {}));
  let lastLookedAt: string | undefined;
  const look = () => {
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    lastLookedAt = (tab && textTab(tab)[0]?.path) ?? lastLookedAt;
    changed();
  };
  look();
  const { tabGroups } = vscode.window;
  context.subscriptions.push(tabGroups.onDidChangeTabs(look), tabGroups.onDidChangeTabGroups(look));

  hub.answers("documents/list", () => {
    const tabs = textTabs();
    const front = tabs.find(({ tab }) => tab.isActive && tab.group.isActive);
    const active = front ?? tabs.find(({ path }) => path === lastLookedAt);
    return { documents: tabs.map((tab) => describe(tab, tab === active)) };
  });
  hub.answers("document/text", async ({ path }) => {
    const document = await openDocument(path);
    if (document === undefined) {
      return { open: false, dirty: false };
    }
    const { isDirty: dirty, version, languageId: language } = document;
    return { open: true, dirty, version, language, text: document.getText() };
  });
  hub.answers("document/dirty", ({ path }) => {
    const [document, tabs] = [documentOf(path), tabsOf(path)];
    const dirty = document?.isDirty === true || tabs.some((tab) => tab.isDirty);
    return { open: dirty || tabs.length > 0, dirty, untitled: document?.isUntitled === true };
  });
  hub.answers("document/save", async ({ path }) => {
    const document = await openDocument(path);
    if (document === undefined) {
      return { open: false, saved: false };
    }
    if (document.isUntitled) {
      return { open: true, saved: false, message: `${path} has no file yet: save it in the editor` };
    }
    const saved = await document.save();
    return { open: true, saved, ...(!saved && { message: `the editor could not save ${path}: it says why there` }) };
  });
  hub.answers("document/close", async ({ path }) => {
    const clean = tabsOf(path).filter((tab) => !tab.isDirty);
    await vscode.window.tabGroups.close(clean, true);
    return { closed: tabsOf(path).length === 0 };
  });
  hub.answers("document/open", open);
  hub.answers("document/reveal", ({ path, range }) => {
    const editor = editorOf(documentOf(path));
    editor?.revealRange(toRange(range), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    return { revealed: editor !== undefined };
  });
  hub.answers("document/visibleRange", ({ path }) => {
    // Folded lines cut it into several.
    const [first, ...rest] = editorOf(documentOf(path))?.visibleRanges ?? [];
    return first === undefined ? {} : { range: fromRange(rest.reduce((whole, part) => whole.union(part), first)) };
  });
}

function textTab(tab: vscode.Tab): TextTab[] {
  const uri = tab.input instanceof vscode.TabInputText ? tab.input.uri : undefined;
  return uri !== undefined && (isOnDisk(uri) || uri.scheme === "untitled") ? [{ tab, path: pathOf(uri) }] : [];
}

function textTabs(): TextTab[] {
  return vscode.window.tabGroups.all.flatMap((group) => group.tabs).flatMap(textTab);
}

function tabsOf(path: string): vscode.Tab[] {
  return textTabs().flatMap((shown) => (shown.path === path ? [shown.tab] : []));
}

/** A document the person has open. One that is loaded only for a look may be behind its file, which is the truth. */
async function openDocument(path: string): Promise<vscode.TextDocument | undefined> {
  const [document, tabs] = [documentOf(path), tabsOf(path)];
  if (document !== undefined) {
    return document.isDirty || tabs.length > 0 ? document : undefined;
  }
  try {
    return tabs.some((tab) => tab.isDirty) ? await vscode.workspace.openTextDocument(uriOf(path)) : undefined;
  } catch (error) {
    const why = `${path} has unsaved changes that the editor does not give out: save it first`;
    throw new Refusal(ERRORS.TOO_LARGE, `${why} (${messageOf(error)})`);
  }
}

function describe({ tab, path }: TextTab, active: boolean): OpenDocument {
  const document = documentOf(path);
  const editor = vscode.window.visibleTextEditors.find(
    (candidate) => candidate.document === document && candidate.viewColumn === tab.group.viewColumn,
  );
  return {
    path,
    label: tab.label,
    active,
    dirty: tab.isDirty,
    untitled: document?.isUntitled === true,
    pinned: tab.isPinned,
    preview: tab.isPreview,
    groupIndex: vscode.window.tabGroups.all.indexOf(tab.group),
    viewColumn: tab.group.viewColumn,
    groupActive: tab.group.isActive,
    ...(document && { language: document.languageId, lineCount: document.lineCount, version: document.version }),
    ...(editor && { selection: fromSelection(editor.selection) }),
  };
}

async function open({ path, preview, focus, target }: DocumentOpen): Promise<DocumentOpenResult> {
  const document = documentOf(path) ?? (await load(path));
  const typing = vscode.window.activeTextEditor;
  const column = tabsOf(path)[0]?.group.viewColumn ?? vscode.ViewColumn.Active;
  // In the group she types in, it would take her place.
  const viewColumn = focus || typing === undefined ? column : vscode.ViewColumn.Beside;
  const shown = { viewColumn: editorOf(document)?.viewColumn ?? viewColumn, preview, preserveFocus: !focus };
  const editor = await vscode.window.showTextDocument(document, shown);
  const { languageId: language, lineCount } = document;
  const range = target && find(document, target);
  if (range === undefined) {
    return { language, lineCount };
  }
  editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  // Where she is typing, her cursor stays.
  if (!focus && editor === typing) {
    return { language, lineCount };
  }
  editor.selection = new vscode.Selection(range.start, range.end);
  return { language, lineCount, selected: fromRange(range) };
}

async function load(path: string): Promise<vscode.TextDocument> {
  const uri = uriOf(path);
  try {
    return await vscode.workspace.openTextDocument(uri);
  } catch (error) {
    const [file] = await Promise.allSettled([vscode.workspace.fs.stat(uri)]);
    if (file.status === "rejected") {
      throw new Refusal(ERRORS.NOT_FOUND, `there is no file ${path}`);
    }
    const code = file.value.size > LARGEST_DOCUMENT ? ERRORS.TOO_LARGE : ERRORS.UNSUPPORTED;
    throw new Refusal(code, `the editor cannot show ${path} as text: ${messageOf(error)}`);
  }
}

function find(document: vscode.TextDocument, target: OpenTarget): vscode.Range | undefined {
  if (target.kind === "range") {
    return document.validateRange(toRange(target.range));
  }
  const text = document.getText();
  const asHere = (part: string) => part.replaceAll(/\r?\n/g, document.eol === vscode.EndOfLine.CRLF ? "\r\n" : "\n");
  const [start, end] = [asHere(target.start), asHere(target.end ?? "")];
  const from = text.indexOf(start);
  const last = text.indexOf(end, from + start.length);
  if (from < 0 || last < 0) {
    return undefined;
  }
  const upTo = target.end === undefined ? from + start.length : last + end.length;
  const range = new vscode.Range(document.positionAt(from), document.positionAt(upTo));
  return target.toEndOfLine ? range.with({ end: document.lineAt(range.end).range.end }) : range;
}
