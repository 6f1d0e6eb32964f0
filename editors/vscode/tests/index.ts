// Entry point inside VS Code's extension host: runs every suite and writes a report into the workspace, which the Rust test
// reads.

import { appendFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import Mocha from "mocha";
import { workspace } from "./harness";
import { diagnostics } from "./diagnostics";
import { documents } from "./documents";
import { edits } from "./edits";
import { engine } from "./engine";
import { keys } from "./keys";
import { language } from "./language";
import { notebook } from "./notebook";
import { reviews } from "./reviews";
import { selection } from "./selection";
import { terminal } from "./terminal";
import { user } from "./user";

const SUITES = { documents, edits, selection, diagnostics, language, terminal, notebook, user, engine, keys, reviews };

/** VS Code calls this function. It fails if a test fails. */
export async function run(): Promise<void> {
  const mocha = new Mocha({ ui: "bdd", timeout: 20_000, color: false });
  mocha.suite.emit("pre-require", globalThis, "", mocha);
  for (const [name, suite] of Object.entries(SUITES)) {
    describe(name, suite);
  }
  const path = join(workspace(), "report.txt");
  const write = (line: string) => appendFileSync(`${path}.part`, `${line}\n`);
  const failures = await new Promise<number>((resolve) => {
    const runner = mocha.run(resolve);
    runner.on("test", (test) => write(`started: ${test.fullTitle()}`));
    runner.on("pass", (test) => write(`ok (${test.duration ?? 0} ms)`));
    runner.on("fail", (test, error: unknown) => {
      const why = error instanceof Error ? (error.stack ?? error.message) : error;
      write(`FAILED ${test.fullTitle()}\n${indented(why)}`);
    });
    runner.on("pending", (test) => write(`FAILED ${test.fullTitle()}: was skipped`));
  });
  write(`${failures} failed`);
  // Renamed at the end, so that an unfinished report is never read.
  renameSync(`${path}.part`, path);
  if (failures > 0) {
    throw new Error(`${failures} tests failed`);
  }
}

function indented(text: unknown): string {
  return String(text).replaceAll(/^/gm, "    ");
}
