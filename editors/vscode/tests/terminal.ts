// Commands in integrated terminals: output, exit code, timeout, and an error where they cannot be known.

import * as assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import * as vscode from "vscode";
import { request, file, until, workspace } from "./harness";

export function terminal(): void {
  let shared: string;
  before(async function () {
    this.timeout(60_000);
    ({ terminal: shared } = await request("terminal/run", { command: "true", timeoutMs: 30_000 }));
  });
  after(() => vscode.window.terminals.forEach((open) => open.dispose()));

  const run = (command: string, timeoutMs = 15_000) => request("terminal/run", { command, terminal: shared, timeoutMs });

  it("returns output and exit code", async () => {
    const good = await run("echo hello; echo world >&2");
    assert.deepEqual(good, { terminal: shared, output: "hello\nworld\n", exitCode: 0, timedOut: false });
    const bad = await run("sh -c 'echo no; exit 3'");
    assert.deepEqual([bad.output, bad.exitCode, bad.timedOut], ["no\n", 3, false]);
  });

  it("tracks a subshell, which bash does not report", async function () {
    this.timeout(40_000);
    const inner = await request("terminal/run", { command: "(echo inner; exit 4)", timeoutMs: 20_000 });
    assert.deepEqual([inner.output, inner.exitCode, inner.timedOut], ["inner\n", 4, false]);
  });

  it("reuses an idle terminal, and no other", async function () {
    this.timeout(60_000);
    const once = () => request("terminal/run", { command: "sleep 1", timeoutMs: 30_000 });
    const [first, second] = await Promise.all([once(), once()]);
    assert.notEqual(first.terminal, second.terminal);
    const opened = vscode.window.terminals.length;
    await once();
    assert.equal(vscode.window.terminals.length, opened);
  });

  it("returns Unicode text without escape sequences", async () => {
    const { output } = await run(`printf '\\033[31mrot\\033[0m grün 😀 日本\\n'`);
    assert.equal(output, "rot grün 😀 日本\n");
  });

  it("returns long output to its last line", async () => {
    const { output, exitCode } = await run("seq 1 20000");
    assert.equal(exitCode, 0);
    assert.match(output, /(^|\n)20000\n$/);
  });

  it("runs several lines as one command", async () => {
    const { output } = await run("for word in one two\ndo\n  echo $word\ndone");
    assert.match(output, /one\ntwo\n$/);
  });

  it("responds at the timeout, and the command keeps running", async function () {
    this.timeout(40_000);
    const created = await request("terminal/create", { name: "slow", environment: {}, focus: false });
    const late = await request("terminal/run", {
      command: "echo begun; sleep 4; echo ended",
      terminal: created.terminal,
      timeoutMs: 2_000,
    });
    assert.deepEqual([late.timedOut, late.exitCode], [true, undefined]);
    const soFar = await request("terminal/output", { terminal: created.terminal });
    assert.deepEqual([soFar.output, soFar.running, soFar.exitCode], ["begun\n", true, undefined]);
    const ended = await until("it ended", async () => {
      const now = await request("terminal/output", { terminal: created.terminal });
      return now.running ? undefined : now;
    });
    assert.deepEqual([ended.output, ended.exitCode], ["begun\nended\n", 0]);
  });

  it("starts in its folder, with its variables, under its name", async function () {
    this.timeout(40_000);
    const cwd = join(dirname(file("here.txt", "")), "a folder");
    mkdirSync(cwd);
    const environment = { LINKSPAN_SEEN: "yes it is" };
    const created = await request("terminal/create", { name: "mine", cwd, environment, focus: false });
    assert.ok(vscode.window.terminals.some(({ name }) => name === "mine"));
    const seen = await request("terminal/run", {
      command: 'pwd; echo "$LINKSPAN_SEEN"',
      terminal: created.terminal,
      timeoutMs: 15_000,
    });
    assert.equal(seen.output, `${cwd}\nyes it is\n`);
  });

  it("runs in the given folder", async function () {
    this.timeout(40_000);
    const result = await request("terminal/run", { command: "pwd", cwd: workspace(), timeoutMs: 30_000 });
    assert.equal(result.output, `${workspace()}\n`);
  });

  it("rejects unknown terminals", async () => {
    await assert.rejects(request("terminal/output", { terminal: "t999" }), /t999/);
    await assert.rejects(request("terminal/run", { command: "true", terminal: "t999", timeoutMs: 1_000 }), /t999/);
  });
}
