// Stays connected to the hub: gets access, opens the socket, and reopens it when it is lost. Events go to one
// listener; requests that were lost with the connection are for the caller to repeat.

import { PROTOCOL, type ChatUpdate, type HubEvent, type HubHelloResult, type ReviewSummary, type ReviewsGetResult } from "../../../protocol";
import { hasSession, redeem, takeSecret, type Access } from "./access";
import { HubSocket, ConnectionLost, NotSent, patienceFor, type Method, type Params, type Result } from "./socket";

export type ConnectionState = "connecting" | "connected" | "lost" | "ended" | "noaccess";

export interface ConnectionEvents {
  /** `why` is the hub's reason for rejecting a link or this page. */
  state(state: ConnectionState, why?: string): void;
  /** The hub is connected and sends events from now on: the current state has to be requested. */
  ready(hello: HubHelloResult): Promise<void>;
  handleEvent(event: HubEvent): void;
  /** A conversation changed. */
  chatUpdated(update: ChatUpdate): void;
}

/** What most parts need of it; a view in VS Code has another one. */
export type HubAccess = Pick<Connection, "state" | "request" | "review" | "connected">;

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;
const REVOKED = 4001;

export class Connection {
  readonly #events: ConnectionEvents;
  #socket: HubSocket | null = null;
  #state: ConnectionState = "connecting";
  #pauseMs = FIRST_PAUSE_MS;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #secret: string | null = takeSecret();
  #trying = false;
  /** Why the hub is reachable but the page cannot use it. */
  #why: string | undefined;
  #back: Array<() => void> = [];
  #past: Promise<unknown> = Promise.resolve();

  constructor(events: ConnectionEvents) {
    this.#events = events;
    addEventListener("online", () => this.#hurry());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") {
        this.#hurry();
      }
    });
    // Pasting a new link over the old address changes only the fragment, which does not reload the page.
    addEventListener("hashchange", () => {
      const secret = takeSecret();
      if (secret !== null) {
        this.#secret = secret;
        this.#socket?.close();
        this.#pauseMs = FIRST_PAUSE_MS;
        void this.#try();
      }
    });
  }

  start(): void {
    void this.#try();
  }

  get state(): ConnectionState {
    return this.#state;
  }

  request<M extends Method>(method: M, params: Params<M>, patienceMs?: number): Promise<Result<M>> {
    const ask = (): Promise<Result<M>> => {
      return this.#socket?.request(method, params, patienceMs) ?? Promise.reject(new NotSent("the hub is not connected"));
    };
    if (!method.startsWith("history/")) {
      return ask();
    }
    // The hub handles one history request per connection at a time.
    const answer = this.#past.then(ask);
    this.#past = answer.catch(() => undefined);
    return answer;
  }

  /** The complete review. */
  review({ review, bytes }: ReviewSummary): Promise<ReviewsGetResult> {
    return this.request("reviews/get", { review }, patienceFor(bytes));
  }

  /** Resolves when the hub is connected and everything has been requested; immediately if it already is. */
  connected(): Promise<void> {
    return this.#state === "connected" ? Promise.resolve() : new Promise((resolve) => this.#back.push(resolve));
  }

  #hurry(): void {
    if (this.#state === "connected") {
      this.#socket?.probe();
    } else if (this.#state === "lost" && this.#socket === null) {
      clearTimeout(this.#retry);
      void this.#try();
    }
  }

  #become(state: ConnectionState, why?: string): void {
    this.#state = state;
    this.#events.state(state, why);
    if (state === "connected") {
      for (const resolve of this.#back.splice(0)) {
        resolve();
      }
    }
  }

  async #try(): Promise<void> {
    if (this.#trying) {
      return;
    }
    this.#trying = true;
    clearTimeout(this.#retry);
    const access = await this.#access();
    this.#trying = false;
    this.#why = undefined;
    if (access.kind === "yes") {
      this.#open();
    } else if (access.kind === "no") {
      const hadAccess = this.#state === "lost" || this.#state === "ended";
      this.#become(hadAccess && access.why === undefined ? "ended" : "noaccess", access.why);
    } else {
      this.#lost();
    }
  }

  async #access(): Promise<Access> {
    const secret = this.#secret;
    if (secret === null) {
      return hasSession();
    }
    const access = await redeem(secret);
    if (access.kind !== "unknown" && this.#secret === secret) {
      this.#secret = null;
    }
    return access;
  }

  #open(): void {
    const socket = new HubSocket(`ws://${location.host}/socket`, {
      opened: () => void this.#greet(socket),
      handleEvent: (event) => this.#events.handleEvent(event),
      chatUpdated: (update) => this.#events.chatUpdated(update),
      closed: (code) => {
        if (this.#socket === socket) {
          this.#socket = null;
          if (code === REVOKED) {
            this.#become("ended");
          } else {
            this.#lost();
          }
        }
      },
    });
    this.#socket = socket;
  }

  async #greet(socket: HubSocket): Promise<void> {
    try {
      const [hello] = await Promise.all([
        socket.request("hub/hello", { version: "page", protocol: PROTOCOL, role: "page" }),
        socket.request("hub/watch", {}),
      ]);
      if (hello.protocol !== PROTOCOL) {
        throw new Error("Linkspan was updated. Reload this page.");
      }
      await this.#events.ready(hello);
      if (this.#socket === socket) {
        this.#pauseMs = FIRST_PAUSE_MS;
        this.#become("connected");
      }
    } catch (error) {
      if (this.#socket === socket && !(error instanceof ConnectionLost)) {
        this.#why = error instanceof Error ? error.message : "the page failed";
      }
      socket.close();
    }
  }

  #lost(): void {
    if (this.#state !== "lost" || this.#why !== undefined) {
      this.#become("lost", this.#why);
    }
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.#try(), this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }
}
