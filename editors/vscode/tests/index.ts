// What VS Code runs inside its extension host: every suite, and a report in the workspace for
// whoever started it.

import { renameSync, writeFileSync } from "node:fs";
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
  const lines: string[] = [];
  const failures = await new Promise<number>((resolve) => {
    const runner = mocha.run(resolve);
    runner.on("pass", (test) => lines.push(`ok ${test.fullTitle()} (${test.duration ?? 0} ms)`));
    runner.on("fail", (test, error: unknown) => {
      lines.push(`FAILED ${test.fullTitle()}`, indented(error instanceof Error ? (error.stack ?? error.message) : error));
    });
    runner.on("pending", (test) => lines.push(`FAILED ${test.fullTitle()}: was skipped`));
  });
  report([...lines, `${failures} failed`].join("\n"));
  if (failures > 0) {
    throw new Error(`${failures} tests failed`);
  }
}

/** Whoever waits for the report never sees half of it. */
function report(text: string): void {
  const path = join(workspace(), "report.txt");
  writeFileSync(`${path}.part`, `${text}\n`);
  renameSync(`${path}.part`, path);
}

function indented(text: unknown): string {
  return String(text).replaceAll(/^/gm, "    ");
}
