// The program `linkspan attach`, this window's line to the hub: found, started, attached, started again when it dies.
// What is asked while it is away is asked once it is back. Knows nothing of what is asked.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import {
  ErrorCodes,
  type MessageConnection,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
  createMessageConnection,
} from "vscode-jsonrpc/node";
import * as vscode from "vscode";
import { version } from "../package.json";
import { type Attach, type AttachResult, ERRORS, type HubBack, type HubLost, PROTOCOL } from "../../protocol";
import { inBackground, messageOf } from "./background";
import { type Hub, type HubState, Refusal, type Remedy } from "./hub";
import { isOnDisk, pathOf } from "./places";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** A program that lived this long has not failed to start. */
const SOUND_LIFE_MS = 10_000;
const EARLY_DEATHS_UNTIL_TOLD = 5;
const ENDING_MS = 2_000;
/** A person asks far fewer; only a runaway part of ours reaches it. */
const MOST_QUESTIONS = 1_000;
/** Its documented exit code for a fault of its own, which may pass. */
const EXIT_INTERNAL = 70;

interface Question {
  put(line: MessageConnection): Promise<void>;
  reject(error: Error): void;
}

type Answer = (params: unknown) => unknown;

/** One life of the program. */
interface Life {
  child: ChildProcessWithoutNullStreams;
  line: MessageConnection;
  attached: boolean;
  /** The last it said on standard error: why it ended, if it did. */
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
  #pause = FIRST_PAUSE_MS;
  #earlyDeaths = 0;
  #disposed = false;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  get state(): HubState {
    return this.#state;
  }

  get binary(): string {
    const name = process.platform === "win32" ? "linkspan.exe" : "linkspan";
    return this.isBundled ? join(this.context.extensionPath, "bin", name) : configuredBinary();
  }

  /** The binary is the one that came with this extension. */
  get isBundled(): boolean {
    return configuredBinary() === "";
  }

  answers: Hub["answers"] = (method, answer) => {
    // The hub's messages are typed by the protocol, not by anything TypeScript could see.
    this.#answers.set(method, answer as Answer);
  };

  /** What a part answers, for tests inside the host. */
  answer(method: string, params: unknown): unknown {
    const answer = this.#answers.get(method);
    if (answer === undefined) {
      throw new Refusal(ERRORS.METHOD_NOT_FOUND, `this editor does not know \`${method}\``);
    }
    return answer(params);
  }

  ask: Hub["ask"] = (method, params) =>
    new Promise((resolve, reject) => {
      if (this.#disposed || this.#questions.size >= MOST_QUESTIONS) {
        reject(new Error(this.#disposed ? "the window is closing" : "too much is asked while the hub is away"));
        return;
      }
      const put = async (line: MessageConnection) => {
        resolve(await line.sendRequest(method, params));
      };
      this.#put({ put, reject });
    });

  tell: Hub["tell"] = (method, params) => {
    if (this.#life?.attached === true) {
      // It may have died a moment ago: then nobody needs to hear it.
      this.#life.line.sendNotification(method, params).catch(() => undefined);
    }
  };

  start(): void {
    clearTimeout(this.#timer);
    if (this.#disposed || this.#life !== undefined) {
      return;
    }
    try {
      // No shell: a path is a path. Some failures are thrown here, others come as an event.
      const child = spawn(this.binary, ["attach"], { stdio: "pipe" });
      child.once("error", (error) => this.#cannotStart(error));
      if (child.pid !== undefined) {
        inBackground(this.log, this.#attach(child));
      }
    } catch (error) {
      this.#cannotStart(error);
    }
  }

  /** Ends the program and starts it anew; only when the old one has let go of the window. */
  restart(): void {
    this.#pause = FIRST_PAUSE_MS;
    this.#earlyDeaths = 0;
    this.#setState({ kind: "starting" });
    if (this.#life === undefined) {
      this.start();
      return;
    }
    const { child } = this.#life;
    child.once("exit", () => this.start());
    this.#end();
    setTimeout(() => child.kill(), ENDING_MS).unref();
  }

  /** Says no `detach`: whether the window reloads or closes, nobody knows, and the hub keeps it for a while. */
  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
    this.#end();
    for (const question of this.#questions) {
      question.reject(new Error("the window is closing; ask again in the new one"));
    }
    this.#questions.clear();
    this.#stateChanged.dispose();
  }

  async #attach(child: ChildProcessWithoutNullStreams): Promise<void> {
    const line = createMessageConnection(
      new StreamMessageReader(child.stdout),
      new StreamMessageWriter(child.stdin),
      { error: (text) => this.log.error(text), warn: () => undefined, info: () => undefined, log: () => undefined },
    );
    const life: Life = { child, line, attached: false, lastWords: "" };
    const bornAt = Date.now();
    this.#life = life;
    child.once("exit", (code, signal) => this.#ended(life, code, signal, Date.now() - bornAt));
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
    line.onNotification("hub/back", (window: HubBack) => this.#isAttached(window));
    line.onError(([error]) => this.log.debug(`the line to linkspan: ${error.message}`));
    line.listen();
    try {
      const window = await line.sendRequest<AttachResult>("attach", this.#introduction());
      life.attached = true;
      this.#isAttached(window);
      for (const question of this.#questions) {
        this.#put(question);
      }
    } catch (error) {
      if (wasAnswered(error)) {
        this.#end();
        this.#fail(`The hub does not let this window in: ${messageOf(error)}.`, "reconnect");
      }
    }
  }

  #introduction(): Attach {
    const trusted = vscode.workspace.isTrusted;
    return {
      protocol: PROTOCOL,
      version,
      editor: { name: vscode.env.appName, version: vscode.version },
      // Integrated terminals, and so the agents in them, descend from the extension host's parent.
      pid: process.ppid,
      folders: folders(),
      capabilities: {
        documents: true,
        selection: true,
        diagnostics: true,
        reviews: true,
        edits: true,
        format: true,
        language: true,
        terminal: trusted,
        messages: true,
        questions: true,
        executeCode: trusted,
      },
    };
  }

  #isAttached({ window, port, environment }: AttachResult): void {
    this.#setState({ kind: "attached", window, port, environment });
  }

  /** A question whose answer was lost is asked again by the next life; only an answer, or the end, settles it. */
  #put(question: Question): void {
    this.#questions.add(question);
    if (this.#life?.attached !== true) {
      return;
    }
    question.put(this.#life.line).then(
      () => this.#questions.delete(question),
      (error: unknown) => {
        if (wasAnswered(error)) {
          this.#questions.delete(question);
          question.reject(error);
        }
      },
    );
  }

  /** Closes its standard input, by which it ends. */
  #end(): void {
    const life = this.#life;
    this.#life = undefined;
    life?.line.dispose();
    life?.child.stdin.end();
  }

  #ended(life: Life, code: number | null, signal: string | null, livedMs: number): void {
    if (this.#life !== life) {
      return;
    }
    this.#end();
    const why = life.lastWords === "" ? `it ended with ${signal ?? `exit code ${code}`}` : life.lastWords;
    this.log.warn(`linkspan ended with ${signal ?? `exit code ${code}`} after ${livedMs} ms`);
    if (!life.attached && code !== null && code !== EXIT_INTERNAL) {
      this.#fail(`\`${this.binary}\` does not run as Linkspan: ${why}.`, "settings");
      return;
    }
    if (livedMs >= SOUND_LIFE_MS) {
      this.#pause = FIRST_PAUSE_MS;
      this.#earlyDeaths = 0;
    } else {
      this.#earlyDeaths += 1;
    }
    const away = { kind: "away", why: `The program ended and is started again: ${why}.` } as const;
    this.#setState(this.#earlyDeaths < EARLY_DEATHS_UNTIL_TOLD ? away : { ...away, remedy: "log" });
    this.#timer = setTimeout(() => this.start(), this.#pause);
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS);
  }

  #cannotStart(error: unknown): void {
    this.#end();
    this.#fail(`\`${this.binary}\` cannot be started: ${messageOf(error)}.`, "settings");
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

/** The workspace folders that agents can reach. */
export function folders(): string[] {
  const uris = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri);
  return uris.filter(isOnDisk).map(pathOf);
}

/** By the hub, that is; all else says only that the line was lost. */
function wasAnswered(error: unknown): error is ResponseError<unknown> {
  const lost: number[] = [
    ErrorCodes.MessageWriteError,
    ErrorCodes.MessageReadError,
    ErrorCodes.PendingResponseRejected,
    ErrorCodes.ConnectionInactive,
  ];
  return error instanceof ResponseError && !lost.includes(error.code);
}
