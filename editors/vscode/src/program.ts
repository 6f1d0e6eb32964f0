// The program `linkspan attach`, this window's line to the hub: found, started, attached, started again when it dies.
// What is asked while it is away is asked once it is back. Knows nothing of what is asked.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { isAbsolute, join } from "node:path";
import { createInterface } from "node:readline";
import { ErrorCodes, type MessageConnection, NullLogger, ResponseError } from "vscode-jsonrpc";
import { createMessageConnection } from "vscode-jsonrpc/node";
import * as vscode from "vscode";
import { type AttachResult, ERRORS, type HubBack, type HubLost } from "../../protocol";
import { inBackground, messageOf } from "./background";
import { type Hub, type HubState, Refusal, type Remedy } from "./hub";
import { introduction } from "./introduction";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** A program that lived this long has not failed to start. */
const SOUND_LIFE_MS = 10_000;
const EARLY_DEATHS_UNTIL_TOLD = 5;
const ATTACH_MS = 30_000;
/** How long one may take to end by itself. */
const ENDING_MS = 2_000;
/** A person asks far fewer; only a runaway part of ours reaches it. */
const MOST_QUESTIONS = 1_000;
/** Its exit code for a fault of its own, which may pass. */
const EXIT_INTERNAL = 70;
/** Those by which it says that there is no hub for it, that it is not let in, that the hub is of another version. */
const EXITS_WITH_A_WORD = [3, 5, 6];
/** The hub has not answered: the line was lost. */
const LOST: number[] = [
  ErrorCodes.MessageWriteError,
  ErrorCodes.MessageReadError,
  ErrorCodes.PendingResponseRejected,
  ErrorCodes.ConnectionInactive,
];

interface Question {
  put(line: MessageConnection): Promise<void>;
  reject(error: Error): void;
}

type Answer = (params: unknown) => unknown;

/** One life of the program. */
interface Life {
  child: ChildProcessWithoutNullStreams;
  line: MessageConnection;
  bornAt: number;
  isAttached: boolean;
  /** What it said last on standard error: why it ended, if it did. */
  lastWords: string;
}

export class Program implements Hub, vscode.Disposable {
  readonly #answers = new Map<string, Answer>();
  readonly #questions = new Set<Question>();
  readonly #stateChanged = new vscode.EventEmitter<HubState>();
  readonly onState = this.#stateChanged.event;
  #state: HubState = { kind: "starting" };
  #life: Life | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #earlyDeaths = 0;
  #isOver = false;
  /** One of before has not let go of the window. */
  #isEnding = false;

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

  /** The binary, which no search may find and no folder that is open may bring along. */
  get runnable(): string {
    if (!isAbsolute(this.binary)) {
      throw new Error(`\`${this.binary}\` is not an absolute path`);
    }
    return this.binary;
  }

  /** The binary is the one that came with this extension. */
  get isBundled(): boolean {
    return configuredBinary() === "";
  }

  answers: Hub["answers"] = (method, answer) => {
    // What the hub sends is typed by the protocol, which no compiler sees here.
    this.#answers.set(method, answer as Answer);
  };

  /** What a part answers; also for tests inside the host. */
  answer(method: string, params: unknown): unknown {
    const answer = this.#answers.get(method);
    if (answer === undefined) {
      throw new Refusal(ERRORS.METHOD_NOT_FOUND, `this editor does not know \`${method}\``);
    }
    return answer(params);
  }

  ask: Hub["ask"] = (method, params) =>
    new Promise((resolve, reject) => {
      if (this.#isOver || this.#questions.size >= MOST_QUESTIONS) {
        reject(new Error(this.#isOver ? "the window is closing" : "too much is asked while the hub is away"));
        return;
      }
      const put = async (line: MessageConnection) => resolve(await line.sendRequest(method, params));
      this.#put({ put, reject });
    });

  tell: Hub["tell"] = (method, params) => {
    const life = this.#life;
    if (life?.isAttached === true) {
      // It may have died a moment ago: then nobody needs to hear it, whether that is thrown or comes later.
      const told = async () => life.line.sendNotification(method, params);
      told().catch(() => undefined);
    }
  };

  start(): void {
    clearTimeout(this.#timer);
    if (this.#isOver || this.#isEnding || this.#life !== undefined) {
      return;
    }
    const failed = (error: unknown) => this.#isUnusable(messageOf(error));
    try {
      // No shell: a path is a path. Some failures are thrown here, others come as an event.
      const child = spawn(this.runnable, ["attach"], { stdio: "pipe" });
      child.on("error", failed);
      if (child.pid !== undefined) {
        inBackground(this.log, this.#attach(child));
      }
    } catch (error) {
      failed(error);
    }
  }

  /** Ends the program and starts it anew. */
  restart(): void {
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#earlyDeaths = 0;
    this.#setState({ kind: "starting" });
    this.#end();
    this.start();
  }

  /** Says no `detach`: nobody knows whether the window reloads or closes, and the hub keeps it for a while. */
  dispose(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#end();
    this.#questions.forEach((question) => question.reject(new Error("the window is closing")));
    this.#questions.clear();
    this.#stateChanged.dispose();
  }

  async #attach(child: ChildProcessWithoutNullStreams): Promise<void> {
    const line = createMessageConnection(child.stdout, child.stdin, NullLogger);
    const life: Life = { child, line, bornAt: Date.now(), isAttached: false, lastWords: "" };
    this.#life = life;
    child.once("exit", (code, signal) => this.#ended(life, code, signal));
    child.stdin.on("error", (error) => this.log.debug(`writing to linkspan: ${error.message}`));
    createInterface({ input: child.stderr }).on("line", (words) => {
      life.lastWords = words;
      this.log.info(words);
    });
    line.onRequest(async (method, params) => {
      try {
        return (await this.answer(method, params)) ?? null;
      } catch (error) {
        this.log.debug(`${method}: ${messageOf(error)}`);
        return new ResponseError(error instanceof Refusal ? error.code : ERRORS.INTERNAL, messageOf(error));
      }
    });
    line.onNotification("hub/lost", ({ reason }: HubLost) => this.#setState({ kind: "away", why: reason }));
    line.onNotification("hub/back", (window: HubBack) => this.#attached(window));
    line.onError(([error]) => this.log.debug(`the line to linkspan: ${error.message}`));
    line.listen();
    const deadline = setTimeout(() => {
      this.#setState({ kind: "away", why: "the hub has not let this window in for too long, and is asked again" });
      this.#end();
    }, ATTACH_MS);
    try {
      const window = await line.sendRequest<AttachResult>("attach", introduction());
      life.isAttached = true;
      this.#attached(window);
      this.#questions.forEach((question) => this.#put(question));
    } catch (error) {
      if (wasAnswered(error)) {
        this.#end();
        const isWhole = error.code === ERRORS.VERSION;
        this.#fail(isWhole ? error.message : `The hub does not let this window in: ${error.message}`, "reconnect");
      }
    } finally {
      clearTimeout(deadline);
    }
  }

  #attached({ window, port, environment }: AttachResult): void {
    this.#setState({ kind: "attached", window, port, environment });
  }

  /** A question whose answer was lost is put again by the next life; only an answer, or the end, settles it. */
  #put(question: Question): void {
    this.#questions.add(question);
    if (this.#life?.isAttached !== true) {
      return;
    }
    const settle = (error?: Error) => this.#questions.delete(question) && error && question.reject(error);
    question.put(this.#life.line).then(
      () => settle(),
      (error: unknown) => wasAnswered(error) && settle(error),
    );
  }

  /** Closes its standard input, by which it ends; until then none is started: two would be two windows to the hub. */
  #end(): void {
    const life = this.#life;
    this.#life = undefined;
    life?.line.dispose();
    life?.child.stdin.end();
    if (life?.child.exitCode === null && life.child.signalCode === null) {
      this.#isEnding = true;
      setTimeout(() => life.child.kill("SIGKILL"), ENDING_MS).unref();
    }
  }

  #ended(life: Life, code: number | null, signal: string | null): void {
    const ending = signal ?? `exit code ${code ?? "unknown"}`;
    const livedMs = Date.now() - life.bornAt;
    this.log.info(`linkspan ended with ${ending} after ${livedMs} ms`);
    if (this.#life !== life) {
      this.#isEnding = false;
      if (this.#state.kind !== "failed") {
        this.start();
      }
      return;
    }
    this.#end();
    const why = life.lastWords === "" ? `it ended with ${ending}` : life.lastWords;
    if (!life.isAttached && code !== null && code !== EXIT_INTERNAL) {
      if (EXITS_WITH_A_WORD.includes(code)) {
        this.#fail(why, "reconnect");
      } else {
        this.#isUnusable(why);
      }
      return;
    }
    const isSound = livedMs >= SOUND_LIFE_MS;
    this.#earlyDeaths = isSound ? 0 : this.#earlyDeaths + 1;
    this.#pauseMs = isSound ? FIRST_PAUSE_MS : this.#pauseMs;
    const away = { kind: "away", why: `the program ended and is started again: ${why}` } as const;
    this.#setState(this.#earlyDeaths < EARLY_DEATHS_UNTIL_TOLD ? away : { ...away, remedy: "log" });
    this.#timer = setTimeout(() => this.start(), this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  #isUnusable(why: string): void {
    const remedy = this.isBundled
      ? "Install the extension for this platform again"
      : "Correct the setting, or empty it to use the program that came with the extension";
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

function wasAnswered(error: unknown): error is ResponseError<unknown> {
  return error instanceof ResponseError && !LOST.includes(error.code);
}
