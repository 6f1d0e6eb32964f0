// What a companion in Node does for one call: the MCP SDK's server behind express, with a session, answering JSON.
// Prints its port. Node finds the packages through NODE_PATH.
"use strict";

const { randomUUID } = require("node:crypto");
const express = require("express");
const { z } = require("zod");
const { McpServer } = require("@modelcontextprotocol/sdk/server/mcp.js");
const { StreamableHTTPServerTransport } = require("@modelcontextprotocol/sdk/server/streamableHttp.js");
const { folders, echo, tell } = require("./tools.cjs");

const sessions = new Map();
const app = express();
app.use(express.json({ limit: "64mb" }));
app.post("/mcp", async (request, response) => {
  let transport = sessions.get(request.headers["mcp-session-id"]);
  if (transport === undefined) {
    const server = new McpServer({ name: "peer", version: "1" });
    server.registerTool("getWorkspaceFolders", { description: "The workspace" }, folders);
    server.registerTool("echo", { description: "A text, sent back", inputSchema: { text: z.string() } }, echo);
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: true,
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    await server.connect(transport);
  }
  await transport.handleRequest(request, response, request.body);
});
const listening = app.listen(0, "127.0.0.1", () => tell(listening.address().port));
// A client that waits for its turn is not sent away.
listening.keepAliveTimeout = 60_000;
