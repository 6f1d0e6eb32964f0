// Conversions between the protocol and VS Code: paths and URIs, positions and ranges.

import * as vscode from "vscode";
import type * as protocol from "../../protocol";

/** Only files on this machine's disk have a path that an agent can use. */
export function isOnDisk(uri: vscode.Uri): boolean {
  return uri.scheme === "file";
}

export function uriOf(path: string): vscode.Uri {
  return vscode.Uri.file(path);
}

/** An untitled document has the name that VS Code gave it. */
export function pathOf(uri: vscode.Uri): string {
  return uri.scheme === "untitled" ? uri.path : uri.fsPath;
}

export function isSame(a: vscode.Uri, b: vscode.Uri): boolean {
  return a.toString() === b.toString();
}

/** The document that VS Code has loaded for a path, whether or not a tab shows it. */
export function documentOf(path: string): vscode.TextDocument | undefined {
  const isIt = ({ uri, isUntitled }: vscode.TextDocument) => (isOnDisk(uri) || isUntitled) && pathOf(uri) === path;
  return vscode.workspace.textDocuments.find(isIt);
}

/** An editor that shows the document now. */
export function editorOf(document: vscode.TextDocument | undefined): vscode.TextEditor | undefined {
  return vscode.window.visibleTextEditors.find((editor) => editor.document === document);
}

export function toPosition({ line, character }: protocol.Position): vscode.Position {
  return new vscode.Position(line, character);
}

export function toRange({ start, end }: protocol.Range): vscode.Range {
  return new vscode.Range(toPosition(start), toPosition(end));
}

export function fromPosition({ line, character }: vscode.Position): protocol.Position {
  return { line, character };
}

export function fromRange({ start, end }: vscode.Range): protocol.Range {
  return { start: fromPosition(start), end: fromPosition(end) };
}

export function fromSelection(selection: vscode.Selection): protocol.SelectedRange {
  return { range: fromRange(selection), reversed: !selection.isEmpty && selection.isReversed };
}
