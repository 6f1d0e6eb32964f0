// Changes a document's text in the editor, so that undo works there, and reports what formatting would change.

import * as vscode from "vscode";
import {
  type DocumentFormat,
  type DocumentFormatResult,
  ERRORS,
  type EditsApply,
  type EditsApplyResult,
} from "../../protocol";
import { until } from "./promises";
import { type Hub, Refusal } from "./hub";
import { documentOf, editorOf, fromRange, toRange } from "./uris";

/** Some formatters are registered only after their server has started. */
const FORMATTER_MS = 3_000;
/** Languages with a known formatter: VS Code returns nothing both for formatted text and for a missing formatter. */
const formatted = new Set<string>();

export function edits(_context: vscode.ExtensionContext, hub: Hub): void {
  hub.onRequest("edits/apply", apply);
  hub.onRequest("document/format", format);
}

async function apply({ path, version, edits, save }: EditsApply): Promise<EditsApplyResult> {
  const document = documentOf(path);
  if (document === undefined || (version !== undefined && document.version !== version)) {
    return { applied: false, saved: false, ...(document && { version: document.version }) };
  }
  const changes =
    edits.kind === "text"
      ? whole(document, edits.text)
      : edits.edits.map(({ range, newText }) => vscode.TextEdit.replace(toRange(range), newText));
  const applied = await applyTo(document, changes);
  const made = edits.kind === "text" ? edits.text : document.getText();
  const saved = applied && save && (await document.save()) && !document.isDirty;
  const text = document.getText();
  return { applied, saved, version: document.version, ...(applied && text !== made && { text }) };
}

/** Returns the edits without applying them: they are reviewed first. */
async function format({ path, range }: DocumentFormat): Promise<DocumentFormatResult> {
  const document = documentOf(path);
  if (document === undefined) {
    throw new Refusal(ERRORS.NOT_FOUND, `${path} is not open in the editor: open it first`);
  }
  const { version, uri, languageId } = document;
  const options = editorOf(document)?.options ?? { tabSize: 4, insertSpaces: true };
  const [command, ...given] =
    range === undefined
      ? ["vscode.executeFormatDocumentProvider", uri, options]
      : ["vscode.executeFormatRangeProvider", uri, toRange(range), options];
  let changes: vscode.TextEdit[] | undefined;
  await until(formatted.has(languageId) ? 0 : FORMATTER_MS, async () => {
    changes = await vscode.commands.executeCommand<vscode.TextEdit[] | undefined>(command, ...given);
    return changes !== undefined;
  });
  if (changes !== undefined) {
    formatted.add(languageId);
  } else if (!formatted.has(languageId)) {
    const why = `the editor has no formatter for ${languageId}, or nothing to change`;
    throw new Refusal(ERRORS.UNSUPPORTED, `${path} was not changed: ${why}`);
  }
  if (document.version !== version) {
    throw new Refusal(ERRORS.CONFLICT, `${path} changed while it was being formatted: try again`);
  }
  const texts = (changes ?? []).filter((change) => change.newEol === undefined);
  const differ = texts.filter(({ range: place, newText }) => document.getText(place) !== newText);
  return { edits: differ.map(({ range: place, newText }) => ({ range: fromRange(place), newText })) };
}

/** Applies the changes as one undo step. VS Code rejects them when the document has changed since. */
export async function applyTo(document: vscode.TextDocument, changes: vscode.TextEdit[]): Promise<boolean> {
  if (changes.length === 0) {
    return true;
  }
  const editor = editorOf(document);
  if (editor === undefined) {
    const edit = new vscode.WorkspaceEdit();
    edit.set(document.uri, changes);
    return vscode.workspace.applyEdit(edit);
  }
  // In the active editor VS Code narrows a `WorkspaceEdit` to the characters that differ, and breaks surrogate pairs.
  return editor.edit((edit) => {
    for (const { range, newText, newEol } of changes) {
      if (newEol === undefined) {
        edit.replace(range, newText);
      } else {
        edit.setEndOfLine(newEol);
      }
    }
  });
}

/** Replaces everything, and the line endings, if they differ. */
function whole(document: vscode.TextDocument, text: string): vscode.TextEdit[] {
  const eol = endOfLineOf(text) ?? document.eol;
  const all = document.validateRange(new vscode.Range(0, 0, document.lineCount, 0));
  const endings = eol === document.eol ? [] : [vscode.TextEdit.setEndOfLine(eol)];
  return [vscode.TextEdit.replace(all, text), ...endings];
}

/** Undefined if there is no line ending, or if they are mixed, which a VS Code document cannot hold. */
function endOfLineOf(text: string): vscode.EndOfLine | undefined {
  const [all, windows] = [text.split("\n").length, text.split("\r\n").length];
  if (all === 1 || (windows > 1 && windows < all)) {
    return undefined;
  }
  return windows > 1 ? vscode.EndOfLine.CRLF : vscode.EndOfLine.LF;
}
