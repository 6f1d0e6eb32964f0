// One WebSocket to the hub: requests, responses and events. A socket that stays silent too long during a request is
// closed: the hub answers at once, only users are slow.

import type { ChatUpdate, CommandToHubRequests, HubEvent } from "../../../protocol";

export type Method = keyof CommandToHubRequests;
export type Params<M extends Method> = CommandToHubRequests[M]["params"];
export type Result<M extends Method> = CommandToHubRequests[M]["result"];

/** An error response of the hub. */
export class HubError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** The socket closed before the response came: it is unknown whether the request was handled. */
export class ConnectionLost extends Error {}

/** There was no open socket: the hub did not receive the request. */
export class NotSent extends ConnectionLost {}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
  /** How long the hub may be silent while this request is open. */
  patienceMs: number;
}

const PATIENCE_MS = 30_000;

/** How long a response with two texts of this size may take: it is one message, possibly through a slow tunnel. */
export function patienceFor(bytes: number): number {
  return PATIENCE_MS + ((3 * bytes) / SLOWEST_BYTES_PER_SECOND) * 1000;
}

/** The slowest connection the hub tolerates. */
const SLOWEST_BYTES_PER_SECOND = 32 * 1024;
const PROBE_PATIENCE_MS = 4_000;
const PING_EVERY_MS = 25_000;
const CHECK_EVERY_MS = 1_000;
/** The close code of a connection that was lost without a close frame. */
const CLOSED_UNSEEN = 1006;

export interface SocketEvents {
  opened(): void;
  handleEvent(event: HubEvent): void;
  chatUpdated(update: ChatUpdate): void;
  closed(code: number): void;
}

export class HubSocket {
  readonly #socket: WebSocket;
  readonly #events: SocketEvents;
  readonly #waiting = new Map<number, Waiting>();
  readonly #watchdog: ReturnType<typeof setInterval>;
  #nextId = 1;
  #receivedAt = performance.now();
  #closed = false;

  constructor(url: string, events: SocketEvents) {
    this.#events = events;
    this.#socket = new WebSocket(url);
    this.#socket.onopen = () => {
      this.#receivedAt = performance.now();
      events.opened();
    };
    this.#socket.onmessage = (message) => this.#receive(message.data);
    this.#socket.onclose = (event) => this.#end(event.code);
    this.#watchdog = setInterval(() => this.#checkTimeout(), CHECK_EVERY_MS);
  }

  request<M extends Method>(method: M, params: Params<M>, patienceMs = PATIENCE_MS): Promise<Result<M>> {
    return new Promise((resolve, reject) => {
      if (this.#closed || this.#socket.readyState !== WebSocket.OPEN) {
        if (this.#socket.readyState !== WebSocket.CONNECTING) {
          // A caller that retries after a reconnect must not see this socket as connected before the browser reports
          // the close.
          this.#end(CLOSED_UNSEEN);
        }
        reject(new NotSent("the hub is not connected"));
        return;
      }
      const id = this.#nextId++;
      if (this.#waiting.size === 0) {
        this.#receivedAt = performance.now();
      }
      this.#waiting.set(id, { resolve: resolve as (result: unknown) => void, reject, patienceMs });
      this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  /** Checks with a short timeout whether the hub responds. */
  probe(): void {
    if (this.#waiting.size === 0) {
      this.request("ping", {}, PROBE_PATIENCE_MS).catch(() => {});
    }
  }

  close(): void {
    this.#end(1000);
  }

  #checkTimeout(): void {
    const silentMs = performance.now() - this.#receivedAt;
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

  #receive(data: unknown): void {
    this.#receivedAt = performance.now();
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
      this.#events.handleEvent(message.params as HubEvent);
      return;
    }
    if (message.method === "chat/update") {
      this.#events.chatUpdated(message.params as ChatUpdate);
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
    if (this.#closed) {
      return;
    }
    this.#closed = true;
    clearInterval(this.#watchdog);
    this.#socket.close();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) {
      reject(new ConnectionLost("the connection to the hub was lost"));
    }
    this.#events.closed(code);
  }
}
