// What VS Code runs inside its extension host: every suite, and a report in the workspace for
// whoever started it.

import { appendFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import Mocha from "mocha";
import { workspace } from "./asking";
import { diagnostics } from "./diagnostics";
import { documents } from "./documents";
import { edits } from "./edits";
import { language } from "./language";
import { notebook } from "./notebook";
import { reviews } from "./reviews";
import { selection } from "./selection";
import { terminal } from "./terminal";
import { user } from "./user";

const SUITES = { documents, edits, selection, diagnostics, language, terminal, notebook, user, reviews };

/** The name is VS Code's. Fails if a test does. */
export async function run(): Promise<void> {
  const mocha = new Mocha({ ui: "bdd", timeout: 20_000, color: false });
  mocha.suite.emit("pre-require", globalThis, "", mocha);
  for (const [name, suite] of Object.entries(SUITES)) {
    describe(name, suite);
  }
  const path = join(workspace(), "report.txt");
  const say = (line: string) => appendFileSync(`${path}.part`, `${line}\n`);
  const failures = await new Promise<number>((resolve) => {
    const runner = mocha.run(resolve);
    runner.on("test", (test) => say(`begun: ${test.fullTitle()}`));
    runner.on("pass", (test) => say(`ok (${test.duration ?? 0} ms)`));
    runner.on("fail", (test, error: unknown) => {
      const why = error instanceof Error ? (error.stack ?? error.message) : error;
      say(`FAILED ${test.fullTitle()}\n${indented(why)}`);
    });
    runner.on("pending", (test) => say(`FAILED ${test.fullTitle()}: was skipped`));
  });
  say(`${failures} failed`);
  // Whoever waits for the report never takes half of it for the whole.
  renameSync(`${path}.part`, path);
  if (failures > 0) {
    throw new Error(`${failures} tests failed`);
  }
}

function indented(text: unknown): string {
  return String(text).replaceAll(/^/gm, "    ");
}
