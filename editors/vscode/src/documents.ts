// The open documents: listing, reading, opening, revealing, saving and closing them.

import * as vscode from "vscode";
import type { DocumentOpen, DocumentOpenResult, OpenDocument, OpenTarget } from "../../protocol";
import { ERRORS } from "../../protocol";
import { debounce, messageOf } from "./promises";
import { type Hub, Refusal } from "./hub";
import { documentOf, editorOf, fromRange, fromSelection, isOnDisk, pathOf, toRange, uriOf } from "./uris";

const DEBOUNCE_MS = 50;
/** VS Code does not give larger documents to extensions. */
const LARGEST_DOCUMENT = 50 * 1024 * 1024;

/** A tab with a text document. The tab of a review does not count. */
interface TextTab {
  tab: vscode.Tab;
  path: string;
}

export function documents(context: vscode.ExtensionContext, hub: Hub): void {
  const changed = debounce(context, DEBOUNCE_MS, () => hub.notify("documents/changed", {}));
  let lastActivePath: string | undefined;
  const update = () => {
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    lastActivePath = (tab && textTab(tab)[0]?.path) ?? lastActivePath;
    changed();
  };
  update();
  const { tabGroups } = vscode.window;
  context.subscriptions.push(tabGroups.onDidChangeTabs(update), tabGroups.onDidChangeTabGroups(update));

  hub.onRequest("documents/list", () => {
    const tabs = textTabs();
    const front = tabs.find(({ tab }) => tab.isActive && tab.group.isActive);
    const active = front ?? tabs.find(({ path }) => path === lastActivePath);
    return { documents: tabs.map((tab) => describe(tab, tab === active)) };
  });
  hub.onRequest("document/text", async ({ path }) => {
    const document = await openDocument(path);
    if (document === undefined) {
      return { open: false, dirty: false };
    }
    const { isDirty: dirty, version, languageId: language } = document;
    return { open: true, dirty, version, language, text: document.getText() };
  });
  hub.onRequest("document/dirty", ({ path }) => {
    const [document, tabs] = [documentOf(path), tabsOf(path)];
    const dirty = document?.isDirty === true || tabs.some((tab) => tab.isDirty);
    return { open: dirty || tabs.length > 0, dirty, untitled: document?.isUntitled === true };
  });
  hub.onRequest("document/save", async ({ path }) => {
    const document = await openDocument(path);
    if (document === undefined) {
      return { open: false, saved: false };
    }
    if (document.isUntitled) {
      return { open: true, saved: false, message: `${path} is untitled: save it in the editor first` };
    }
    const saved = await document.save();
    return { open: true, saved, ...(!saved && { message: `the editor could not save ${path}: see its message there` }) };
  });
  hub.onRequest("document/close", async ({ path }) => {
    const clean = tabsOf(path).filter((tab) => !tab.isDirty);
    await vscode.window.tabGroups.close(clean, true);
    return { closed: tabsOf(path).length === 0 };
  });
  hub.onRequest("document/open", open);
  hub.onRequest("document/reveal", ({ path, range }) => {
    const editor = editorOf(documentOf(path));
    editor?.revealRange(toRange(range), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    return { revealed: editor !== undefined };
  });
  hub.onRequest("document/visibleRange", ({ path }) => {
    // Folded lines split the visible range.
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

/** A document that the user has open. One that VS Code loaded only for reading may be older than the file. */
async function openDocument(path: string): Promise<vscode.TextDocument | undefined> {
  const [document, tabs] = [documentOf(path), tabsOf(path)];
  if (document !== undefined) {
    return document.isDirty || tabs.length > 0 ? document : undefined;
  }
  try {
    return tabs.some((tab) => tab.isDirty) ? await vscode.workspace.openTextDocument(uriOf(path)) : undefined;
  } catch (error) {
    const why = `${path} has unsaved changes that the editor does not share: save it first`;
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
  const active = vscode.window.activeTextEditor;
  const column = tabsOf(path)[0]?.group.viewColumn ?? vscode.ViewColumn.Active;
  // In the user's own group it would replace the file they are editing.
  const viewColumn = focus || active === undefined ? column : vscode.ViewColumn.Beside;
  const shown = { viewColumn: editorOf(document)?.viewColumn ?? viewColumn, preview, preserveFocus: !focus };
  const editor = await vscode.window.showTextDocument(document, shown);
  const { languageId: language, lineCount } = document;
  const range = target && find(document, target);
  if (range === undefined) {
    return { language, lineCount };
  }
  editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  // The cursor stays in the editor that the user types in.
  if (!focus && editor === active) {
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
  const withDocumentEol = (part: string) => part.replaceAll(/\r?\n/g, document.eol === vscode.EndOfLine.CRLF ? "\r\n" : "\n");
  const [start, end] = [withDocumentEol(target.start), withDocumentEol(target.end ?? "")];
  const from = text.indexOf(start);
  const last = text.indexOf(end, from + start.length);
  if (from < 0 || last < 0) {
    return undefined;
  }
  const upTo = target.end === undefined ? from + start.length : last + end.length;
  const range = new vscode.Range(document.positionAt(from), document.positionAt(upTo));
  return target.toEndOfLine ? range.with({ end: document.lineAt(range.end).range.end }) : range;
}
