// One WebSocket to the hub: requests and their answers, and what the hub tells. A socket that answers nothing for too
// long is closed, because only a person may be slow.

import type { CommandToHubRequests, HubEvent } from "../../protocol";

export type Method = keyof CommandToHubRequests;
export type Params<M extends Method> = CommandToHubRequests[M]["params"];
export type Result<M extends Method> = CommandToHubRequests[M]["result"];

/** The hub's own "no". */
export class HubError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** The socket ended before the answer came: nobody knows what became of the request. */
export class Lost extends Error {}

/** There was no socket to ask on: the hub has not heard of it. */
export class NotAsked extends Lost {}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
  /** How long the hub may be silent while this is asked. */
  patienceMs: number;
}

const PATIENCE_MS = 30_000;

/** How long an answer with two texts of this size may take: it comes as one message, perhaps through a slow tunnel. */
export function patienceFor(bytes: number): number {
  return PATIENCE_MS + ((3 * bytes) / SLOWEST_BYTES_PER_SECOND) * 1000;
}

/** As slow as the hub lets a line be. */
const SLOWEST_BYTES_PER_SECOND = 32 * 1024;
const PROBE_PATIENCE_MS = 4_000;
const PING_EVERY_MS = 25_000;
const LOOK_EVERY_MS = 1_000;
/** What the browser says of a connection that just fell. */
const CLOSED_UNSEEN = 1006;

export interface SocketEvents {
  opened(): void;
  told(event: HubEvent): void;
  closed(code: number): void;
}

export class HubSocket {
  readonly #socket: WebSocket;
  readonly #events: SocketEvents;
  readonly #waiting = new Map<number, Waiting>();
  readonly #watchdog: ReturnType<typeof setInterval>;
  #nextId = 1;
  #heardAt = performance.now();
  #over = false;

  constructor(url: string, events: SocketEvents) {
    this.#events = events;
    this.#socket = new WebSocket(url);
    this.#socket.onopen = () => {
      this.#heardAt = performance.now();
      events.opened();
    };
    this.#socket.onmessage = (message) => this.#heard(message.data);
    this.#socket.onclose = (event) => this.#end(event.code);
    this.#watchdog = setInterval(() => this.#look(), LOOK_EVERY_MS);
  }

  request<M extends Method>(method: M, params: Params<M>, patienceMs = PATIENCE_MS): Promise<Result<M>> {
    return new Promise((resolve, reject) => {
      if (this.#over || this.#socket.readyState !== WebSocket.OPEN) {
        if (this.#socket.readyState !== WebSocket.CONNECTING) {
          // Who asks again when the connection is back must not find it there before the browser says that it is gone.
          this.#end(CLOSED_UNSEEN);
        }
        reject(new NotAsked("the hub is not connected"));
        return;
      }
      const id = this.#nextId++;
      if (this.#waiting.size === 0) {
        this.#heardAt = performance.now();
      }
      this.#waiting.set(id, { resolve: resolve as (result: unknown) => void, reject, patienceMs });
      this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  /** Finds out soon whether anyone is there. */
  probe(): void {
    if (this.#waiting.size === 0) {
      this.request("ping", {}, PROBE_PATIENCE_MS).catch(() => {});
    }
  }

  close(): void {
    this.#end(1000);
  }

  #look(): void {
    const silentMs = performance.now() - this.#heardAt;
    if (this.#waiting.size === 0) {
      if (silentMs > PING_EVERY_MS && this.#socket.readyState === WebSocket.OPEN) {
        this.request("ping", {}).catch(() => {});
      }
      if (this.#socket.readyState !== WebSocket.CONNECTING || silentMs < PATIENCE_MS) {
        return;
      }
    }
    const patience = Math.max(0, ...[...this.#waiting.values()].map((waiting) => waiting.patienceMs));
    if (silentMs > patience) {
      this.#end(CLOSED_UNSEEN);
    }
  }

  #heard(data: unknown): void {
    this.#heardAt = performance.now();
    if (typeof data !== "string") {
      return;
    }
    const message = JSON.parse(data) as {
      id?: number;
      method?: string;
      params?: unknown;
      result?: unknown;
      error?: { code: number; message: string };
    };
    if (message.method === "hub/event") {
      this.#events.told(message.params as HubEvent);
      return;
    }
    const waiting = message.id === undefined ? undefined : this.#waiting.get(message.id);
    if (message.id === undefined || waiting === undefined) {
      return;
    }
    this.#waiting.delete(message.id);
    if (message.error !== undefined) {
      waiting.reject(new HubError(message.error.code, message.error.message));
    } else {
      waiting.resolve(message.result);
    }
  }

  #end(code: number): void {
    if (this.#over) {
      return;
    }
    this.#over = true;
    clearInterval(this.#watchdog);
    this.#socket.close();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) {
      reject(new Lost("the connection to the hub was lost"));
    }
    this.#events.closed(code);
  }
}
