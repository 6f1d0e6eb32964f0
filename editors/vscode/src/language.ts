// What language servers know, asked through the editor's own commands.

import * as vscode from "vscode";
import { ERRORS, type Location, type Position, type Symbol } from "../../protocol";
import { messageOf } from "./background";
import { type Hub, Refusal } from "./hub";
import { fromEdit, fromRange, isOnDisk, isSame, pathOf, toPosition, uriOf } from "./places";

type Place = vscode.Location | vscode.LocationLink;

export function language(_context: vscode.ExtensionContext, hub: Hub, log: vscode.LogOutputChannel): void {
  hub.answers("language/hover", async ({ path, position }) => {
    const hovers = await atPlace<vscode.Hover[]>("vscode.executeHoverProvider", path, position);
    const range = hovers?.find((hover) => hover.range !== undefined)?.range;
    const contents = (hovers ?? []).map(({ contents: parts }) => {
      const texts = parts.map((part) => (part instanceof vscode.MarkdownString ? part.value : String(part)));
      return texts.filter((text) => text.trim() !== "").join("\n\n");
    });
    return { contents: contents.filter((text) => text !== ""), ...(range && { range: fromRange(range) }) };
  });
  hub.answers("language/definition", async ({ path, position }) => {
    return { locations: locationsOf(await atPlace<Place[]>("vscode.executeDefinitionProvider", path, position)) };
  });
  hub.answers("language/references", async ({ path, position, includeDeclaration }) => {
    const locations = locationsOf(await atPlace<Place[]>("vscode.executeReferenceProvider", path, position));
    if (includeDeclaration) {
      return { locations };
    }
    // VS Code asks its providers for the declarations too.
    const declared = locationsOf(await atPlace<Place[]>("vscode.executeDefinitionProvider", path, position));
    return { locations: locations.filter((use) => !declared.some((declaration) => isInside(use, declaration))) };
  });
  hub.answers("language/symbols", async (asked) => {
    if (asked.kind === "workspace") {
      const command = "vscode.executeWorkspaceSymbolProvider";
      const found = await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>(command, asked.query);
      return { symbols: (found ?? []).flatMap((symbol) => flatten(symbol, symbol.location.uri)) };
    }
    const uri = await loaded(asked.path);
    const command = "vscode.executeDocumentSymbolProvider";
    type Found = (vscode.SymbolInformation | vscode.DocumentSymbol)[] | undefined;
    const found = await vscode.commands.executeCommand<Found>(command, uri);
    return { symbols: (found ?? []).flatMap((symbol) => flatten(symbol, uri)) };
  });
  hub.answers("language/rename", async ({ path, position, newName }) => {
    try {
      const command = "vscode.executeDocumentRenameProvider";
      const edit = await atPlace<vscode.WorkspaceEdit>(command, path, position, newName);
      const files = (edit?.entries() ?? []).filter(([uri, edits]) => isOnDisk(uri) && edits.length > 0);
      return { files: files.map(([uri, edits]) => ({ path: pathOf(uri), edits: edits.map(fromEdit) })) };
    } catch (error) {
      log.debug(`renaming in ${path}: ${messageOf(error)}`);
      return { files: [] };
    }
  });
}

/** Loads the document, unseen: servers answer for loaded ones only. */
async function loaded(path: string): Promise<vscode.Uri> {
  try {
    return (await vscode.workspace.openTextDocument(uriOf(path))).uri;
  } catch (error) {
    throw new Refusal(ERRORS.NOT_FOUND, `the editor cannot open ${path}: ${messageOf(error)}`);
  }
}

async function atPlace<T>(command: string, path: string, at: Position, ...rest: string[]): Promise<T | undefined> {
  const uri = await loaded(path);
  return vscode.commands.executeCommand<T | undefined>(command, uri, toPosition(at), ...rest);
}

function locationsOf(places: Place[] | undefined): Location[] {
  const all = (places ?? []).map((place) =>
    "targetUri" in place
      ? { uri: place.targetUri, range: place.targetSelectionRange ?? place.targetRange }
      : { uri: place.uri, range: place.range },
  );
  return all.filter(({ uri }) => isOnDisk(uri)).map(({ uri, range }) => ({ path: pathOf(uri), range: fromRange(range) }));
}

function isInside(use: Location, declaration: Location): boolean {
  const [inner, outer] = [use.range, declaration.range];
  const { start, end } = { start: toPosition(inner.start), end: toPosition(inner.end) };
  const around = new vscode.Range(toPosition(outer.start), toPosition(outer.end));
  return isSame(uriOf(use.path), uriOf(declaration.path)) && around.contains(new vscode.Range(start, end));
}

/** A symbol and those inside of it, in the order of the file. */
function flatten(symbol: vscode.SymbolInformation | vscode.DocumentSymbol, uri: vscode.Uri, inside?: string): Symbol[] {
  const range = "location" in symbol ? symbol.location.range : symbol.range;
  const container = "location" in symbol ? symbol.containerName : inside;
  const children = "children" in symbol ? symbol.children : [];
  const itself: Symbol = {
    name: symbol.name,
    symbolKind: wordFor(symbol.kind),
    location: { path: pathOf(uri), range: fromRange(range) },
    ...(container !== undefined && container !== "" && { container }),
  };
  const here = isOnDisk(uri) ? [itself] : [];
  return [...here, ...children.flatMap((child) => flatten(child, uri, symbol.name))];
}

function wordFor(kind: vscode.SymbolKind): string {
  const name = vscode.SymbolKind[kind];
  return name.charAt(0).toLowerCase() + name.slice(1);
}
