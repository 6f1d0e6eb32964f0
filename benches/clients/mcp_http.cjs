// What a companion in Node does for one call: the MCP SDK's server behind express, with a session, answering JSON.
// Prints its port. Node finds the packages through NODE_PATH.
"use strict";

const { randomUUID } = require("node:crypto");
const express = require("express");
const { McpServer } = require("@modelcontextprotocol/sdk/server/mcp.js");
const { StreamableHTTPServerTransport } = require("@modelcontextprotocol/sdk/server/streamableHttp.js");

const sessions = new Map();
const app = express();
app.use(express.json());
app.post("/mcp", async (request, response) => {
  let transport = sessions.get(request.headers["mcp-session-id"]);
  if (transport === undefined) {
    const server = new McpServer({ name: "peer", version: "1" });
    server.registerTool("info", { description: "The workspace" }, () => ({
      content: [{ type: "text", text: JSON.stringify({ name: "workspace", folders: [{ name: "workspace", path: "/" }] }) }],
    }));
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: true,
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    await server.connect(transport);
  }
  await transport.handleRequest(request, response, request.body);
});
const listening = app.listen(0, "127.0.0.1", () => console.log(listening.address().port));
process.stdin.resume().on("end", () => process.exit(0));
