// Messages and prompts for the user: the hub gets its response before the user reacts.

import * as assert from "node:assert/strict";
import { request } from "./harness";

export function user(): void {
  for (const level of ["info", "warning", "error"] as const) {
    it(`shows ${level} without waiting for the user`, async () => {
      assert.equal(await soon(request("status/message", { text: `A message of level ${level}.`, level })), null);
    });
  }

  it("prompts, and withdraws the prompt, without waiting for the user", async () => {
    const question = { ask: "q-in-host", question: "May it?", detail: "rm -r build", labels: [] };
    const options = ["allowOnce", "allowSession", "allowAlways", "deny"] as const;
    assert.equal(await soon(request("user/ask", { ...question, options: [...options] })), null);
    assert.equal(await soon(request("user/ask", { ...question, options: [...options] })), null);
    assert.equal(await soon(request("user/unask", { ask: question.ask })), null);
    assert.equal(await soon(request("user/unask", { ask: "q-never-asked" })), null);
  });

  it("answers a ping", async () => {
    assert.equal(await soon(request("ping", {})), null);
  });
}

/** Fails if the response waits for the user, who is not here. */
async function soon<T>(answer: Promise<T>): Promise<T> {
  const late = new Promise<never>((_resolve, reject) => {
    setTimeout(() => reject(new Error("the response waits for the user")), 2_000);
  });
  return Promise.race([answer, late]);
}
