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
  | { kind: "attached"; window: string; port: number }
  /** The program runs and looks for a hub. */
  | { kind: "away"; why: string }
  /** Nothing happens any more until the person does something. */
  | { kind: "failed"; why: string };

/** The line to the hub. */
export interface Hub {
  readonly state: HubState;
  readonly onState: vscode.Event<HubState>;
  /** Says how a request of the hub is answered; each method has one answer. */
  answers<M extends keyof Asked>(
    method: M,
    answer: (params: Asked[M]["params"]) => Asked[M]["result"] | Promise<Asked[M]["result"]>,
  ): void;
  /** Asks the hub. While it is away the question waits; it fails when the program has ended. */
  ask<M extends keyof Asking>(method: M, params: Asking[M]["params"]): Promise<Asking[M]["result"]>;
  /** Tells the hub; what cannot be told is dropped. */
  tell<M extends keyof Told>(method: M, params: Told[M]["params"]): void;
}
