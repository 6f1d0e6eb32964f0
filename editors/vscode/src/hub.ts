// What the parts of this extension know of the hub: they answer what it asks, ask, and tell. How it is reached is
// `program.ts`'s business.

import type * as vscode from "vscode";
import type {
  CommandToHubRequests,
  EditorToHubNotifications,
  EditorToHubRequests,
  HubToEditorRequests,
} from "../../protocol";

type Asked = HubToEditorRequests;
type Asking = EditorToHubRequests & CommandToHubRequests;
type Told = EditorToHubNotifications;

/** How things stand with the hub. */
export type HubState =
  | { kind: "starting" }
  /** Comes anew each time a hub has let the window in. `environment` is for integrated terminals. */
  | { kind: "attached"; window: string; port: number; environment: Record<string, string> }
  /** There is no hub, or no program, and it is being looked for. With a remedy the person has to know. */
  | { kind: "away"; why: string; remedy?: Remedy }
  /** Nothing happens any more until the person does something. */
  | { kind: "failed"; why: string; remedy: Remedy };

/** What a person can do about it. */
export type Remedy = "settings" | "log" | "reconnect";

/** Why a request of the hub cannot be answered: one of `ERRORS`, and a sentence for people. */
export class Refusal extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** The line to the hub. */
export interface Hub {
  readonly state: HubState;
  readonly onState: vscode.Event<HubState>;
  /** Says how a request of the hub is answered; each method has one answer. */
  answers<M extends keyof Asked>(
    method: M,
    answer: (params: Asked[M]["params"]) => Asked[M]["result"] | Promise<Asked[M]["result"]>,
  ): void;
  /** Asks the hub. While it or the program is away the question waits; it fails when the window closes. */
  ask<M extends keyof Asking>(method: M, params: Asking[M]["params"]): Promise<Asking[M]["result"]>;
  /** Tells the hub; what cannot be told is dropped. */
  tell<M extends keyof Told>(method: M, params: Told[M]["params"]): void;
}
