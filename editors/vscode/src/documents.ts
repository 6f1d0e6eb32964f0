// The documents that are open: what they are, what they hold, opening, revealing, saving and closing them.

import * as vscode from "vscode";
import { type DocumentOpen, ERRORS, type OpenDocument, type OpenTarget } from "../../protocol";
import { atRest, messageOf } from "./background";
import { type Hub, Refusal } from "./hub";
import { documentOf, fromRange, fromSelection, isOnDisk, isSame, pathOf, toRange, uriOf } from "./places";

/** VS Code keeps larger ones from extensions. */
const LARGEST_DOCUMENT = 50 * 1024 * 1024;

export function documents(context: vscode.ExtensionContext, hub: Hub): void {
  const changed = atRest(context, 50, () => hub.tell("documents/changed", {}));
  let lastLookedAt: vscode.Uri | undefined;
  const look = (editor: vscode.TextEditor | undefined) => {
    if (editor !== undefined && isListed(editor.document.uri)) {
      lastLookedAt = editor.document.uri;
    }
  };
  look(vscode.window.activeTextEditor);
  context.subscriptions.push(
    vscode.window.tabGroups.onDidChangeTabs(changed),
    vscode.window.tabGroups.onDidChangeTabGroups(changed),
    vscode.window.onDidChangeActiveTextEditor(look),
  );

  hub.answers("documents/list", () => {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter((tab) => uriOfTab(tab) !== undefined);
    const front = vscode.window.tabGroups.activeTabGroup.activeTab;
    const inFront = (tab: vscode.Tab) => isSameOrNone(uriOfTab(tab), lastLookedAt);
    const active = front !== undefined && tabs.includes(front) ? front : tabs.find(inFront);
    return { documents: tabs.flatMap((tab) => describe(tab, tab === active)) };
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
    const document = documentOf(path);
    const tabs = tabsOf(path);
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
    if (await document.save()) {
      return { open: true, saved: true };
    }
    return { open: true, saved: false, message: `the editor could not save ${path}: it says why there` };
  });
  hub.answers("document/close", async ({ path }) => {
    const clean = tabsOf(path).filter((tab) => !tab.isDirty);
    if (clean.length > 0) {
      await vscode.window.tabGroups.close(clean, true);
    }
    return { closed: tabsOf(path).length === 0 };
  });
  hub.answers("document/open", open);
  hub.answers("document/reveal", ({ path, range }) => {
    const editor = editorOf(path);
    editor?.revealRange(toRange(range), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    return { revealed: editor !== undefined };
  });
  hub.answers("document/visibleRange", ({ path }) => {
    const ranges = editorOf(path)?.visibleRanges ?? [];
    const [first] = ranges;
    // Folded lines cut it into several.
    const whole = first && ranges.reduce((sum, range) => sum.union(range), first);
    return whole === undefined ? {} : { range: fromRange(whole) };
  });
}

/** A document the person has open. One that is loaded only for a look may be behind its file, which is the truth. */
async function openDocument(path: string): Promise<vscode.TextDocument | undefined> {
  const document = documentOf(path);
  const tabs = tabsOf(path);
  if (document !== undefined) {
    return document.isDirty || tabs.length > 0 ? document : undefined;
  }
  if (!tabs.some((tab) => tab.isDirty)) {
    return undefined;
  }
  try {
    return await vscode.workspace.openTextDocument(uriOf(path));
  } catch (error) {
    const message = `${path} has unsaved changes that the editor does not give out: save it first (${messageOf(error)})`;
    throw new Refusal(ERRORS.TOO_LARGE, message);
  }
}

/** Never our own: a review is no document of hers. */
function isListed(uri: vscode.Uri): boolean {
  return isOnDisk(uri) || uri.scheme === "untitled";
}

function uriOfTab({ input }: vscode.Tab): vscode.Uri | undefined {
  return input instanceof vscode.TabInputText && isListed(input.uri) ? input.uri : undefined;
}

function isSameOrNone(a: vscode.Uri | undefined, b: vscode.Uri | undefined): boolean {
  return a !== undefined && b !== undefined && isSame(a, b);
}

/** A document without a file goes by its name. */
function nameOf(uri: vscode.Uri): string {
  return isOnDisk(uri) ? pathOf(uri) : uri.path;
}

function tabsOf(path: string): vscode.Tab[] {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  return tabs.filter((tab) => {
    const uri = uriOfTab(tab);
    return uri !== undefined && nameOf(uri) === path;
  });
}

function editorOf(path: string): vscode.TextEditor | undefined {
  return vscode.window.visibleTextEditors.find((editor) => nameOf(editor.document.uri) === path);
}

function describe(tab: vscode.Tab, active: boolean): OpenDocument[] {
  const uri = uriOfTab(tab);
  if (uri === undefined) {
    return [];
  }
  const document = vscode.workspace.textDocuments.find((candidate) => isSame(candidate.uri, uri));
  const editor = vscode.window.visibleTextEditors.find(
    (candidate) => candidate.document === document && candidate.viewColumn === tab.group.viewColumn,
  );
  const { languageId: language, lineCount, version } = document ?? {};
  return [
    {
      path: nameOf(uri),
      label: tab.label,
      active,
      dirty: tab.isDirty,
      untitled: !isOnDisk(uri),
      pinned: tab.isPinned,
      preview: tab.isPreview,
      groupIndex: vscode.window.tabGroups.all.indexOf(tab.group),
      viewColumn: tab.group.viewColumn,
      groupActive: tab.group.isActive,
      ...(language !== undefined && { language }),
      ...(lineCount !== undefined && { lineCount }),
      ...(version !== undefined && { version }),
      ...(editor !== undefined && { selection: fromSelection(editor.selection) }),
    },
  ];
}

async function open({ path, preview, focus, target }: DocumentOpen) {
  const document = documentOf(path) ?? (await load(path));
  const typing = vscode.window.activeTextEditor;
  const shown = editorOf(path)?.viewColumn;
  const column = tabsOf(path)[0]?.group.viewColumn ?? vscode.ViewColumn.Active;
  const editor = await vscode.window.showTextDocument(document, {
    // In the group she types in, it would take her place.
    viewColumn: shown ?? (focus || typing === undefined ? column : vscode.ViewColumn.Beside),
    preview,
    preserveFocus: !focus,
  });
  const range = target && find(document, target);
  if (range !== undefined) {
    editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }
  const { languageId: language, lineCount } = document;
  // Where she is typing, her cursor stays.
  if (range === undefined || (!focus && editor === typing)) {
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
    const size = await vscode.workspace.fs.stat(uri).then(
      (file) => file.size,
      () => undefined,
    );
    if (size === undefined) {
      throw new Refusal(ERRORS.NOT_FOUND, `there is no file ${path}`);
    }
    const code = size > LARGEST_DOCUMENT ? ERRORS.TOO_LARGE : ERRORS.UNSUPPORTED;
    throw new Refusal(code, `the editor cannot show ${path} as text: ${messageOf(error)}`);
  }
}

function find(document: vscode.TextDocument, target: OpenTarget): vscode.Range | undefined {
  if (target.kind === "range") {
    return document.validateRange(toRange(target.range));
  }
  const text = document.getText();
  const eol = document.eol === vscode.EndOfLine.CRLF ? "\r\n" : "\n";
  const [start, end] = [target.start, target.end].map((part) => part?.replaceAll(/\r?\n/g, eol));
  const from = start === undefined ? -1 : text.indexOf(start);
  if (start === undefined || from < 0) {
    return undefined;
  }
  const upTo = end === undefined ? from + start.length : text.indexOf(end, from + start.length) + end.length;
  if (end !== undefined && upTo < from + start.length + end.length) {
    return undefined;
  }
  const range = new vscode.Range(document.positionAt(from), document.positionAt(upTo));
  return target.toEndOfLine ? range.with({ end: document.lineAt(range.end).range.end }) : range;
}
