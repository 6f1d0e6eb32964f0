// The hub as the parts of this extension see it: requests in both directions, notifications to it, and its state. The
// connection itself is in `attach_process.ts`.

import type * as vscode from "vscode";
import type {
  AttachResult,
  CommandToHubRequests,
  EditorToHubNotifications,
  EditorToHubRequests,
  HubToEditorRequests,
} from "../../protocol";

type Incoming = HubToEditorRequests;
type Outgoing = EditorToHubRequests & CommandToHubRequests;
type Notifications = EditorToHubNotifications;

/** The state of the connection to the hub. */
export type HubState =
  | { kind: "starting" }
  /** Set on every attach. `environment` is for integrated terminals. */
  | ({ kind: "attached" } & AttachResult)
  /** The hub or the program is gone and is being started again. If there is a remedy, the user is notified. */
  | { kind: "away"; why: string; remedy?: Remedy }
  /** No further attempt is made until the user acts. */
  | { kind: "failed"; why: string; remedy: Remedy };

/** What the user can do about it. */
export type Remedy = "settings" | "log" | "reconnect";

/** Why a request from the hub fails: one of `ERRORS`, and a message. */
export class Refusal extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** The connection to the hub. */
export interface Hub {
  readonly state: HubState;
  readonly onState: vscode.Event<HubState>;
  /** What the hub tells those who watch it or opened a conversation. */
  readonly onNotification: vscode.Event<{ method: "hub/event" | "chat/update"; params: unknown }>;
  /** Registers the handler of a request from the hub; each method has one. */
  onRequest<M extends keyof Incoming>(
    method: M,
    handler: (params: Incoming[M]["params"]) => Incoming[M]["result"] | Promise<Incoming[M]["result"]>,
  ): void;
  /** Sends a request. It waits while the hub or the program is away, and fails when the window closes. */
  request<M extends keyof Outgoing>(method: M, params: Outgoing[M]["params"]): Promise<Outgoing[M]["result"]>;
  /** Sends a notification; dropped while there is no connection. */
  notify<M extends keyof Notifications>(method: M, params: Notifications[M]["params"]): void;
}
