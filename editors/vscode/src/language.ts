// Hover, definitions, references, symbols and rename from language servers, through VS Code's own commands.

import * as vscode from "vscode";
import { ERRORS, type Location, type Position, type Symbol } from "../../protocol";
import { messageOf } from "./promises";
import { type Hub, Refusal } from "./hub";
import { fromRange, isOnDisk, pathOf, toPosition, toRange, uriOf } from "./uris";

type Place = vscode.Location | vscode.LocationLink;
type Found = vscode.SymbolInformation | vscode.DocumentSymbol;

export function language(_context: vscode.ExtensionContext, hub: Hub, log: vscode.LogOutputChannel): void {
  hub.onRequest("language/hover", async ({ path, position }) => {
    const hovers = await askServers<vscode.Hover[]>("HoverProvider", path, position);
    const range = hovers?.find((hover) => hover.range !== undefined)?.range;
    const contents = (hovers ?? []).map((hover) => {
      // VS Code converts all of them to this form.
      const parts = hover.contents.flatMap((part) => (part instanceof vscode.MarkdownString ? [part.value] : []));
      return parts.filter((part) => part.trim() !== "").join("\n\n");
    });
    return { contents: contents.filter((text) => text !== ""), ...(range && { range: fromRange(range) }) };
  });
  hub.onRequest("language/definition", async ({ path, position }) => {
    return { locations: locationsOf(await askServers<Place[]>("DefinitionProvider", path, position)) };
  });
  hub.onRequest("language/references", async ({ path, position, includeDeclaration }) => {
    const locations = locationsOf(await askServers<Place[]>("ReferenceProvider", path, position));
    if (includeDeclaration) {
      return { locations };
    }
    // VS Code always includes the declarations.
    const declared = locationsOf(await askServers<Place[]>("DefinitionProvider", path, position));
    return { locations: locations.filter((use) => !declared.some((declaration) => isInside(use, declaration))) };
  });
  hub.onRequest("language/symbols", async (asked) => {
    if (asked.kind === "document") {
      const found = await askServers<Found[]>("DocumentSymbolProvider", asked.path);
      return { symbols: (found ?? []).flatMap((symbol) => flatten(symbol, asked.path)) };
    }
    const command = "vscode.executeWorkspaceSymbolProvider";
    const found = await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>(command, asked.query);
    const reachable = (found ?? []).filter((symbol) => isOnDisk(symbol.location.uri));
    return { symbols: reachable.flatMap((symbol) => flatten(symbol, pathOf(symbol.location.uri))) };
  });
  hub.onRequest("language/rename", async ({ path, position, newName }) => {
    try {
      const edit = await askServers<vscode.WorkspaceEdit>("DocumentRenameProvider", path, position, newName);
      const entries = (edit?.entries() ?? []).filter(([uri, edits]) => isOnDisk(uri) && edits.length > 0);
      const files = entries.map(([uri, edits]) => ({
        path: pathOf(uri),
        edits: edits.map(({ range, newText }) => ({ range: fromRange(range), newText })),
      }));
      return { files };
    } catch (error) {
      const message = messageOf(error);
      log.debug(`rename in ${path}: ${message}`);
      return { files: [], message };
    }
  });
}

/** Servers answer for loaded documents only, so the document is loaded without showing it. */
async function askServers<T>(what: string, path: string, at?: Position, newName?: string): Promise<T | undefined> {
  const document = await vscode.workspace.openTextDocument(uriOf(path)).then(undefined, (error: unknown) => {
    throw new Refusal(ERRORS.NOT_FOUND, `the editor cannot open ${path}: ${messageOf(error)}`);
  });
  const command = `vscode.execute${what}`;
  return vscode.commands.executeCommand<T | undefined>(command, document.uri, at && toPosition(at), newName);
}

function locationsOf(places: Place[] | undefined): Location[] {
  const all = (places ?? []).map((place) =>
    "targetUri" in place
      ? { uri: place.targetUri, range: place.targetSelectionRange ?? place.targetRange }
      : { uri: place.uri, range: place.range },
  );
  const reachable = all.filter(({ uri }) => isOnDisk(uri));
  return reachable.map(({ uri, range }) => ({ path: pathOf(uri), range: fromRange(range) }));
}

function isInside(use: Location, declaration: Location): boolean {
  return use.path === declaration.path && toRange(declaration.range).contains(toRange(use.range));
}

/** A symbol and those inside it, in file order. */
function flatten(symbol: Found, path: string, inside = ""): Symbol[] {
  const range = "location" in symbol ? symbol.location.range : symbol.range;
  const container = "location" in symbol ? symbol.containerName : inside;
  const children = "children" in symbol ? symbol.children : [];
  const name = vscode.SymbolKind[symbol.kind];
  const itself: Symbol = {
    name: symbol.name,
    symbolKind: name.charAt(0).toLowerCase() + name.slice(1),
    location: { path, range: fromRange(range) },
    ...(container !== "" && { container }),
  };
  return [itself, ...children.flatMap((child) => flatten(child, path, symbol.name))];
}
