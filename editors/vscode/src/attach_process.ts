// The process `linkspan attach`, this window's connection to the hub: started, attached, and restarted when it exits.
// Requests made in the meantime are sent after the restart.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { isAbsolute, join } from "node:path";
import { createInterface } from "node:readline";
import { ErrorCodes, type MessageConnection, NullLogger, ResponseError } from "vscode-jsonrpc";
import { createMessageConnection } from "vscode-jsonrpc/node";
import * as vscode from "vscode";
import { type AttachResult, ERRORS, type HubBack, type HubLost } from "../../protocol";
import { inBackground, messageOf } from "./promises";
import { type Hub, type HubState, Refusal, type Remedy } from "./hub";
import { attachParams } from "./attach_params";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** A process that ran this long has started successfully. */
const HEALTHY_RUN_MS = 10_000;
const EARLY_EXITS_BEFORE_NOTICE = 5;
const ATTACH_MS = 30_000;
/** How long a process may take to exit by itself. */
const EXIT_MS = 2_000;
/** Users cause far fewer; only a bug of ours reaches this. */
const MAX_REQUESTS = 1_000;
/** The exit code for an internal error, which may be temporary. */
const EXIT_INTERNAL = 70;
/** The exit codes for: no hub, not admitted, the hub has a different version. Its last line explains which. */
const EXPLAINED_EXITS = [3, 5, 6];
/** Errors of a lost connection: the hub did not respond. */
const CONNECTION_ERRORS: number[] = [
  ErrorCodes.MessageWriteError,
  ErrorCodes.MessageReadError,
  ErrorCodes.PendingResponseRejected,
  ErrorCodes.ConnectionInactive,
];

interface PendingRequest {
  send(connection: MessageConnection): Promise<void>;
  reject(error: Error): void;
}

type Handler = (params: unknown) => unknown;

/** One run of the process. */
interface ProcessRun {
  child: ChildProcessWithoutNullStreams;
  connection: MessageConnection;
  startedAt: number;
  isAttached: boolean;
  /** Why it exited, if it did. */
  lastStderrLine: string;
}

export class AttachProcess implements Hub, vscode.Disposable {
  readonly #handlers = new Map<string, Handler>();
  readonly #requests = new Set<PendingRequest>();
  readonly #stateChanged = new vscode.EventEmitter<HubState>();
  readonly onState = this.#stateChanged.event;
  readonly #notified = new vscode.EventEmitter<{ method: "hub/event" | "chat/update"; params: unknown }>();
  readonly onNotification = this.#notified.event;
  #state: HubState = { kind: "starting" };
  #run: ProcessRun | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #earlyExits = 0;
  #isDisposed = false;
  /** The previous process has not exited yet and still holds the window. */
  #isExiting = false;

  constructor(
    private readonly extensionPath: string,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  get state(): HubState {
    return this.#state;
  }

  get binary(): string {
    const bundled = join(this.extensionPath, "bin", process.platform === "win32" ? "linkspan.exe" : "linkspan");
    return this.isBundled ? bundled : configuredBinary();
  }

  /** The binary as an absolute path, so that neither `PATH` nor an open folder can provide it. */
  get runnable(): string {
    if (!isAbsolute(this.binary)) {
      throw new Error(`\`${this.binary}\` is not an absolute path`);
    }
    return this.binary;
  }

  /** The binary is the one inside this extension. */
  get isBundled(): boolean {
    return configuredBinary() === "";
  }

  onRequest: Hub["onRequest"] = (method, handler) => {
    // The protocol gives the types of the parameters; the compiler cannot check them here.
    this.#handlers.set(method, handler as Handler);
  };

  /** Handles a request; also called by the tests inside the extension host. */
  handle(method: string, params: unknown): unknown {
    const handler = this.#handlers.get(method);
    if (handler === undefined) {
      throw new Refusal(ERRORS.METHOD_NOT_FOUND, `this editor does not support \`${method}\``);
    }
    return handler(params);
  }

  request: Hub["request"] = (method, params) =>
    new Promise((resolve, reject) => {
      if (this.#isDisposed || this.#requests.size >= MAX_REQUESTS) {
        reject(new Error(this.#isDisposed ? "the window is closing" : "too many requests while the hub is away"));
        return;
      }
      const send = async (connection: MessageConnection) => resolve(await connection.sendRequest(method, params));
      this.#send({ send, reject });
    });

  notify: Hub["notify"] = (method, params) => {
    const run = this.#run;
    if (run?.isAttached === true) {
      // If the process has just exited, the notification is dropped, whether that throws now or rejects later.
      const send = async () => run.connection.sendNotification(method, params);
      send().catch(() => undefined);
    }
  };

  start(): void {
    clearTimeout(this.#timer);
    if (this.#isDisposed || this.#isExiting || this.#run !== undefined) {
      return;
    }
    const failed = (error: unknown) => this.#failToStart(messageOf(error));
    try {
      // Without a shell, so that the path is taken literally. Some failures are thrown, others arrive as an event.
      const child = spawn(this.runnable, ["attach"], { stdio: "pipe" });
      child.on("error", failed);
      if (child.pid !== undefined) {
        inBackground(this.log, this.#attach(child));
      }
    } catch (error) {
      failed(error);
    }
  }

  /** Stops the process and starts another. */
  restart(): void {
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#earlyExits = 0;
    this.#setState({ kind: "starting" });
    this.#stop();
    this.start();
  }

  /** Sends no `detach`: the window may be reloading, and the hub keeps it for a while. */
  dispose(): void {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
    this.#stop();
    this.#requests.forEach((request) => request.reject(new Error("the window is closing")));
    this.#requests.clear();
    this.#stateChanged.dispose();
    this.#notified.dispose();
  }

  async #attach(child: ChildProcessWithoutNullStreams): Promise<void> {
    const connection = createMessageConnection(child.stdout, child.stdin, NullLogger);
    const run: ProcessRun = { child, connection, startedAt: Date.now(), isAttached: false, lastStderrLine: "" };
    this.#run = run;
    child.once("exit", (code, signal) => this.#exited(run, code, signal));
    child.stdin.on("error", (error) => this.log.debug(`writing to linkspan: ${error.message}`));
    createInterface({ input: child.stderr }).on("line", (line) => {
      run.lastStderrLine = line;
      this.log.info(line);
    });
    connection.onRequest(async (method, params) => {
      try {
        return (await this.handle(method, params)) ?? null;
      } catch (error) {
        this.log.debug(`${method}: ${messageOf(error)}`);
        return new ResponseError(error instanceof Refusal ? error.code : ERRORS.INTERNAL, messageOf(error));
      }
    });
    connection.onNotification("hub/lost", ({ reason }: HubLost) => this.#setState({ kind: "away", why: reason }));
    connection.onNotification("hub/back", (window: HubBack) => this.#attached(window));
    for (const method of ["hub/event", "chat/update"] as const) {
      connection.onNotification(method, (params: unknown) => this.#notified.fire({ method, params }));
    }
    connection.onError(([error]) => this.log.debug(`connection to linkspan: ${error.message}`));
    connection.listen();
    const deadline = setTimeout(() => {
      this.#setState({ kind: "away", why: "the hub did not respond in time; trying again" });
      this.#stop();
    }, ATTACH_MS);
    try {
      const window = await connection.sendRequest<AttachResult>("attach", attachParams());
      run.isAttached = true;
      this.#attached(window);
      this.#requests.forEach((request) => this.#send(request));
    } catch (error) {
      if (isResponse(error)) {
        this.#stop();
        const isVersion = error.code === ERRORS.VERSION;
        this.#fail(isVersion ? error.message : `The hub rejected this window: ${error.message}`, "reconnect");
      }
    } finally {
      clearTimeout(deadline);
    }
  }

  #attached(window: AttachResult): void {
    this.#setState({ kind: "attached", ...window });
  }

  /** A request whose response was lost is sent again by the next run; only a response or `dispose` settles it. */
  #send(request: PendingRequest): void {
    this.#requests.add(request);
    if (this.#run?.isAttached !== true) {
      return;
    }
    const settle = (error?: Error) => this.#requests.delete(request) && error && request.reject(error);
    request.send(this.#run.connection).then(
      () => settle(),
      (error: unknown) => isResponse(error) && settle(error),
    );
  }

  /** Closes standard input, which makes the process exit. Until it has, none is started: the hub would see two windows. */
  #stop(): void {
    const run = this.#run;
    this.#run = undefined;
    run?.connection.dispose();
    run?.child.stdin.end();
    if (run?.child.exitCode === null && run.child.signalCode === null) {
      this.#isExiting = true;
      setTimeout(() => run.child.kill("SIGKILL"), EXIT_MS).unref();
    }
  }

  #exited(run: ProcessRun, code: number | null, signal: string | null): void {
    const ending = signal ?? `exit code ${code ?? "unknown"}`;
    const ranMs = Date.now() - run.startedAt;
    this.log.info(`linkspan ended with ${ending} after ${ranMs} ms`);
    if (this.#run !== run) {
      this.#isExiting = false;
      if (this.#state.kind !== "failed") {
        this.start();
      }
      return;
    }
    this.#stop();
    const why = run.lastStderrLine === "" ? `it ended with ${ending}` : run.lastStderrLine;
    if (!run.isAttached && code !== null && code !== EXIT_INTERNAL) {
      if (EXPLAINED_EXITS.includes(code)) {
        this.#fail(why, "reconnect");
      } else {
        this.#failToStart(why);
      }
      return;
    }
    const wasHealthy = ranMs >= HEALTHY_RUN_MS;
    this.#earlyExits = wasHealthy ? 0 : this.#earlyExits + 1;
    this.#pauseMs = wasHealthy ? FIRST_PAUSE_MS : this.#pauseMs;
    const away = { kind: "away", why: `the program ended and is being restarted: ${why}` } as const;
    this.#setState(this.#earlyExits < EARLY_EXITS_BEFORE_NOTICE ? away : { ...away, remedy: "log" });
    this.#timer = setTimeout(() => this.start(), this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  #failToStart(why: string): void {
    const remedy = this.isBundled
      ? "Reinstall the extension for this platform"
      : "Correct `linkspan.binary`, or clear it to use the program inside the extension";
    this.#fail(`${this.binary} cannot be started (${why}). ${remedy}.`, "settings");
  }

  #fail(why: string, remedy: Remedy): void {
    this.log.error(why);
    this.#setState({ kind: "failed", why, remedy });
  }

  #setState(state: HubState): void {
    this.#state = state;
    this.#stateChanged.fire(state);
  }
}

function configuredBinary(): string {
  return vscode.workspace.getConfiguration("linkspan").get<string>("binary", "").trim();
}

function isResponse(error: unknown): error is ResponseError<unknown> {
  return error instanceof ResponseError && !CONNECTION_ERRORS.includes(error.code);
}
