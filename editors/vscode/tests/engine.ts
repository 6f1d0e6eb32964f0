// The registration with an engine of ppxai: sent to an engine on this machine, and to nothing else.

import * as assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { pause, setting, until } from "./harness";

interface Seen {
  url: string | undefined;
  body: string;
}

export function engine(): void {
  let server: Server | undefined;
  let restore: (() => Promise<void>) | undefined;
  const seen: Seen[] = [];
  const listen = async (health: object): Promise<string> => {
    seen.length = 0;
    const listening = createServer((request, response) => {
      let body = "";
      request.on("data", (part: Buffer) => (body += part.toString()));
      request.on("end", () => {
        seen.push({ url: request.url, body });
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify(request.url === "/health" ? health : {}));
      });
    });
    server = listening;
    await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  };
  const at = (path: string) => seen.filter(({ url }) => url === path);
  afterEach(async () => {
    await restore?.();
    server?.close();
  });

  it("gives an engine the address of this window", async () => {
    restore = await setting("linkspan.engine", await listen({ status: "ok", version: "1", engine: true }));
    const sent = await until("it is registered", () => at("/register-ide-callback")[0]);
    const { callback_url: callback, capabilities } = JSON.parse(sent.body) as Record<string, unknown>;
    assert.match(String(callback), /^http:\/\/127\.0\.0\.1:\d+\/ide\/execute$/);
    assert.deepEqual(capabilities, ["workspace", "editor", "terminal", "git"]);
    const answer = await fetch(String(callback), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id: "1", tool: "ide.get_workspace_info", args: {} }),
    });
    assert.equal(((await answer.json()) as { success: boolean }).success, true);
  });

  it("sends nothing to another program on that port", async () => {
    restore = await setting("linkspan.engine", await listen({ hello: "world" }));
    await until("it is asked what it is", () => at("/health")[0]);
    await pause(300);
    assert.equal(at("/register-ide-callback").length, 0);
  });
}
