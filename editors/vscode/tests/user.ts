// Words to the person: they are shown without keeping anyone waiting.

import * as assert from "node:assert/strict";
import { ask } from "./asking";

export function user(): void {
  for (const level of ["info", "warning", "error"] as const) {
    it(`tells ${level} at once, whether she reads it or not`, async () => {
      assert.equal(await soon(ask("status/message", { text: `A word of ${level}.`, level })), null);
    });
  }

  it("asks, and takes the question back, without waiting for her", async () => {
    const question = { ask: "q-in-host", question: "May it?", detail: "rm -r build" };
    const options = ["allowOnce", "allowSession", "allowAlways", "deny"] as const;
    assert.equal(await soon(ask("user/ask", { ...question, options: [...options] })), null);
    assert.equal(await soon(ask("user/ask", { ...question, options: [...options] })), null);
    assert.equal(await soon(ask("user/unask", { ask: question.ask })), null);
    assert.equal(await soon(ask("user/unask", { ask: "q-never-asked" })), null);
  });

  it("answers that it is there", async () => {
    assert.equal(await soon(ask("ping", {})), null);
  });
}

/** What the hub asks about people is answered at once; nobody is here to answer it. */
async function soon<T>(answer: Promise<T>): Promise<T> {
  const late = new Promise<never>((_resolve, reject) => {
    setTimeout(() => reject(new Error("it waits for the person")), 2_000);
  });
  return Promise.race([answer, late]);
}
