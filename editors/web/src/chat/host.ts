// What the chat needs of the place that it is in: the page, or a view of VS Code. Everything else in this folder works in
// both.

import type { HistoryUndoTurnResult } from "../../../protocol";
import type { Found } from "./mention";
import type { Method, Params, Result } from "../connection/socket";

export type ChatMethod = Extract<Method, `chat/${string}`>;

/** A folder in which an agent can work. */
export interface Folder {
  readonly path: string;
  readonly name: string;
}

/** A stretch of code in one colour. */
export interface Coloured {
  readonly from: number;
  readonly to: number;
  readonly name: string;
}

export interface ChatHost {
  request<M extends ChatMethod>(method: M, params: Params<M>): Promise<Result<M>>;
  isConnected(): boolean;
  folders(): readonly Folder[];
  /** A review that can be decided in place. The same element for each call while it is on the screen. */
  review(id: string, paths: readonly string[]): HTMLElement;
  /** A permission question that can be answered in place; `undefined` if it is no longer pending. */
  question(id: string): HTMLElement | undefined;
  /** Colours of a text in the language with this name; empty if it is unknown. */
  colours(text: string, language: string): Promise<readonly Coloured[]>;
  /** Functions, types and the like whose names contain this, where an editor knows them: of the folder, or of all. */
  symbols(words: string, folder: string): Promise<NonNullable<Found["symbols"]>>;
  /** Undoes every change of a turn, such as `t3/2`. */
  undoTurn(turn: string): Promise<HistoryUndoTurnResult>;
  /** Opens a file in the editor, if there is one. */
  openFile?(path: string, line: number | undefined): void;
  /** Another conversation is on the screen; its messages scroll in this element, once they are there. */
  conversationShown(messages: HTMLElement | null): void;
  save(name: string, text: string): void;
  announce(text: string): void;
  error(text: string): void;
}
