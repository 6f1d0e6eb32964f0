// Staying connected to the hub: gets access, opens the socket, and opens it again when it is lost. What happens on it
// is told to one listener; what was asked and lost is for the asker to ask again.

import { PROTOCOL, type HubEvent, type HubHelloResult, type ReviewSummary, type ReviewsGetResult } from "../../protocol";
import { hasSession, redeem, takeSecret, type Access } from "./access";
import { HubSocket, Lost, NotAsked, patienceFor, type Method, type Params, type Result } from "./socket";

export type ConnectionState = "connecting" | "connected" | "lost" | "ended" | "noaccess";

export interface ConnectionEvents {
  /** `why` is the hub's own word on a link it did not take, or on why it does not talk to this page. */
  state(state: ConnectionState, why?: string): void;
  /** The hub is there and tells what happens from now on: what there is already has to be asked for. */
  ready(hello: HubHelloResult): Promise<void>;
  told(event: HubEvent): void;
}

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
  /** Why the hub is there and yet cannot be talked to. */
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
    // A new link that is pasted over the old address loads nothing anew.
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
      return this.#socket?.request(method, params, patienceMs) ?? Promise.reject(new NotAsked("the hub is not connected"));
    };
    if (!method.startsWith("history/")) {
      return ask();
    }
    // The hub answers a connection one question about the past at a time.
    const answer = this.#past.then(ask);
    this.#past = answer.catch(() => undefined);
    return answer;
  }

  /** All of a review. */
  review({ review, bytes }: ReviewSummary): Promise<ReviewsGetResult> {
    return this.request("reviews/get", { review }, patienceFor(bytes));
  }

  /** Resolves when the hub is there and everything has been asked for; at once if that is now. */
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
      told: (event) => this.#events.told(event),
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
        throw new Error("Linkspan was updated, and this page is of the version before: reload it");
      }
      await this.#events.ready(hello);
      if (this.#socket === socket) {
        this.#pauseMs = FIRST_PAUSE_MS;
        this.#become("connected");
      }
    } catch (error) {
      if (this.#socket === socket && !(error instanceof Lost)) {
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
