// Answers the chat's requests in place of the hub, so that a test decides what an agent does. Everything else goes to the
// real hub. `chatHub` is what the test drives.

(() => {
  const send = WebSocket.prototype.send;
  const hub = {
    agents: [
      { id: "gemini", name: "Gemini CLI", installed: true },
      { id: "claude", name: "Claude Code", installed: true },
      { id: "codex", name: "Codex", installed: false, hint: "npm install -g @openai/codex" },
    ],
    /** By id: `{ summary, items }`. */
    chats: new Map(),
    /** Every request, in order. */
    requests: [],
    /** Method → message: such requests fail. */
    refusals: {},
    /** What `chat/files` answers. */
    files: [],
    selection: undefined,
    socket: null,
    next: 1,

    add(more = {}, items = []) {
      const chat = `t${this.next++}`;
      const summary = {
        chat, agent: "gemini", agentName: "Gemini CLI", folder: "/w", title: "", state: { kind: "idle" }, queued: 0,
        startedMs: Date.now() - 60_000, changedMs: Date.now(), ...more,
      };
      this.chats.set(chat, { summary, items });
      return chat;
    },
    send(method, params) {
      this.socket.dispatchEvent(new MessageEvent("message", { data: JSON.stringify({ jsonrpc: "2.0", method, params }) }));
    },
    update(chat, change) {
      this.send("chat/update", { chat, change });
    },
    summary(chat, more) {
      const known = this.chats.get(chat);
      known.summary = { ...known.summary, ...more, changedMs: Date.now() };
      this.update(chat, { kind: "summary", summary: known.summary });
    },
    item(chat, item, index = this.chats.get(chat).items.length) {
      this.chats.get(chat).items[index] = item;
      this.update(chat, { kind: "item", index, item });
      return index;
    },
    text(chat, index, text) {
      const item = this.chats.get(chat).items[index];
      item.text += text;
      this.update(chat, { kind: "text", index, text });
    },
    answer(method, params) {
      const known = this.chats.get(params.chat);
      switch (method) {
        case "chat/agents":
          return { agents: this.agents };
        case "chat/list":
          return { chats: [...this.chats.values()].map(({ summary }) => summary) };
        case "chat/start":
          return { chat: this.add({ agent: params.agent, folder: params.folder, agentName: this.agents.find(({ id }) => id === params.agent).name }) };
        case "chat/open":
          return structuredClone({ summary: known.summary, ...page(known.items, known.items.length, params.limit) });
        case "chat/items":
          return structuredClone(page(known.items, params.before, params.limit));
        case "chat/files":
          return { paths: this.files, selection: this.selection };
        case "chat/symbols":
          return { symbols: [] };
        case "chat/prompt":
          if (known.summary.title === "") known.summary.title = params.text.split("\n")[0].slice(0, 60);
          setTimeout(() => {
            const queued = known.summary.state.kind === "working";
            this.item(params.chat, { kind: "user", text: params.text, attachments: params.attachments, pictures: params.pictures, queued, byLinkspan: false });
            this.summary(params.chat, queued ? { queued: known.summary.queued + 1 } : { state: { kind: "working" } });
          });
          return null;
        case "chat/cancel":
          setTimeout(() => this.summary(params.chat, { state: { kind: "idle" } }));
          return null;
        case "chat/setMode":
          setTimeout(() => this.summary(params.chat, { mode: params.mode }));
          return null;
        case "chat/close":
          setTimeout(() => {
            if (params.forget) {
              this.chats.delete(params.chat);
              this.update(params.chat, { kind: "forgotten" });
            } else {
              this.summary(params.chat, { state: { kind: "stopped" } });
            }
          });
          return null;
      }
    },
  };
  function page(items, before, limit = 200) {
    const first = Math.max(0, before - limit);
    return { first, items: items.slice(first, before) };
  }
  window.chatHub = hub;
  WebSocket.prototype.send = function (text) {
    const { id, method, params } = JSON.parse(text);
    if (!method?.startsWith("chat/")) {
      send.call(this, text);
      return;
    }
    hub.socket = this;
    hub.requests.push({ method, params });
    const refused = hub.refusals[method];
    const outcome = refused === undefined ? { result: hub.answer(method, params) } : { error: { code: -32000, message: refused } };
    const data = JSON.stringify({ jsonrpc: "2.0", id, ...outcome });
    setTimeout(() => this.dispatchEvent(new MessageEvent("message", { data })));
  };
})();
