// Offers this window to an engine of ppxai on this machine, so that the engine's `ide.*` tools act here. The engine
// keeps one registration: the window that had the focus last.

import * as vscode from "vscode";
import { inBackground, messageOf } from "./promises";
import type { Hub } from "./hub";

const SETTING = "linkspan.engine";
const CAPABILITIES = ["workspace", "editor", "terminal", "git"];
const TIMEOUT_MS = 2_000;

export function engine(context: vscode.ExtensionContext, hub: Hub, log: vscode.LogOutputChannel): void {
  let registered: string | undefined;
  const register = async () => {
    const url = vscode.workspace.getConfiguration().get<string>(SETTING, "");
    if (url === "" || hub.state.kind !== "attached" || !vscode.window.state.focused) {
      return;
    }
    if (!isLoopback(url)) {
      log.warn(`\`${SETTING}\` is ${url}, which is not an http address of this machine: no engine is used`);
      return;
    }
    const callback = `http://127.0.0.1:${hub.state.port}/ide/execute`;
    if (!(await isEngine(url))) {
      registered = undefined;
      return;
    }
    await send(url, "/register-ide-callback", { callback_url: callback, capabilities: CAPABILITIES });
    if (registered !== callback) {
      log.info(`the engine at ${url} uses this window`);
      registered = callback;
    }
  };
  const update = () => {
    inBackground(
      log,
      register().catch((error: unknown) => {
        log.warn(`the engine does not take this window: ${messageOf(error)}`);
      }),
    );
  };
  context.subscriptions.push(
    hub.onState(update),
    // An engine may have been started, or restarted, since.
    vscode.window.onDidChangeWindowState(update),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration(SETTING) && update()),
  );
}

/** Another program may use the port; it is asked for no more than this. */
async function isEngine(url: string): Promise<boolean> {
  try {
    const health = await send(url, "/health");
    return typeof health === "object" && health !== null && "engine" in health;
  } catch {
    return false;
  }
}

async function send(url: string, path: string, body?: object): Promise<unknown> {
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(new URL(path, url), { ...(body && post), redirect: "error", signal });
  if (!response.ok) {
    throw new Error(`${path} answered ${response.status}`);
  }
  return response.json();
}

function isLoopback(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname);
}
