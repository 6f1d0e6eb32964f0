// The chat's model, Markdown and texts, without a browser. `node tests/chat.mjs [SEED]`

import assert from "node:assert/strict";
import { test } from "node:test";
import { bundled } from "./bundled.mjs";

const {
  EMPTY, listed, opened, older, applied, pathsOf, reviewsOf, parseBlocks, parseAppended, parseInline, readable, output, find, toMarkdown,
  exportName, mentionAt, matching, candidates, chosen, usageText,
} = await bundled(`
  export * from "./src/chat/model.ts";
  export * from "./src/chat/markdown.ts";
  export * from "./src/chat/inline_markdown.ts";
  export * from "./src/chat/readable.ts";
  export * from "./src/chat/plain_text.ts";
  export * from "./src/chat/mention.ts";
  export { usageText } from "./src/chat/conversation_head.ts";
`);

let seed = Number(process.argv[2] ?? Date.now() % 1_000_000);
console.log(`seed ${seed}`);

function below(limit) {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((seed / 2 ** 32) * limit);
}

function summary(chat, more = {}) {
  return {
    chat, agent: "gemini", agentName: "Gemini CLI", folder: "/w", title: "A title", state: { kind: "idle" }, queued: 0,
    startedMs: Date.UTC(2026, 7, 1), changedMs: 1, ...more,
  };
}

const agent = (text) => ({ kind: "agent", text });
const update = (change, chat = "t1") => ({ chat, change });

test("updates change one item and leave the state before as it was", () => {
  const before = opened(EMPTY, { summary: summary("t1"), first: 0, items: [agent("one")] });
  const { model, touched } = applied(before, update({ kind: "text", index: 0, text: " two" }));
  assert.deepEqual(touched, { kind: "text", index: 0 });
  assert.equal(model.open.get("t1").items[0].text, "one two");
  assert.equal(before.open.get("t1").items[0].text, "one");
  const added = applied(model, update({ kind: "item", index: 1, item: agent("three") }));
  assert.deepEqual(added.touched, { kind: "item", index: 1, isNew: true });
  assert.equal(added.model.open.get("t1").items[0], model.open.get("t1").items[0], "what did not change is shared");
});

test("an update that does not fit makes the conversation stale until it is opened again", () => {
  for (const change of [
    { kind: "item", index: 7, item: agent("late") },
    { kind: "item", index: -1, item: agent("early") },
    { kind: "item", index: 0.5, item: agent("between") },
    { kind: "text", index: 3, text: "x" },
    { kind: "text", index: 1, text: "x" },
  ]) {
    const before = opened(EMPTY, { summary: summary("t1"), first: 0, items: [agent("one"), { kind: "notice", text: "n", isError: false }] });
    const { model, touched } = applied(before, update(change));
    assert.equal(touched.kind, "stale", JSON.stringify(change));
    assert.equal(applied(model, update({ kind: "text", index: 0, text: "x" })).touched.kind, "nothing");
    const again = opened(model, { summary: summary("t1"), first: 0, items: [agent("all")] });
    assert.equal(applied(again, update({ kind: "text", index: 0, text: "!" })).model.open.get("t1").items[0].text, "all!");
  }
});

test("older items come before those that are known, and places count from the first item of all", () => {
  const before = opened(EMPTY, { summary: summary("t1"), first: 2, items: [agent("two"), agent("three")] });
  const { model, touched } = applied(before, update({ kind: "text", index: 3, text: "!" }));
  assert.deepEqual(touched, { kind: "text", index: 3 });
  assert.deepEqual(model.open.get("t1").items.map(({ text }) => text), ["two", "three!"]);
  for (const change of [{ kind: "text", index: 1, text: "x" }, { kind: "item", index: 0, item: agent("x") }]) {
    assert.equal(applied(model, update(change)).touched.kind, "nothing", "it is requested when it is needed");
  }
  assert.deepEqual(applied(model, update({ kind: "item", index: 4, item: agent("four") })).touched, { kind: "item", index: 4, isNew: true });
  assert.equal(applied(model, update({ kind: "item", index: 5, item: agent("five") })).touched.kind, "stale");
  const all = older(model, "t1", { first: 0, items: [agent("zero"), agent("one")] });
  assert.deepEqual(all.open.get("t1").items.map(({ text }) => text), ["zero", "one", "two", "three!"]);
  assert.equal(all.open.get("t1").first, 0);
  assert.equal(older(all, "t1", { first: 0, items: [agent("zero")] }), all, "a page that came twice");
  assert.equal(older(model, "t1", { first: 0, items: [agent("zero")] }), model, "a page with a gap");
});

test("an @ may mean the selection, files and symbols, in this order", () => {
  const selection = { path: "/w/a.rs", firstLine: 3, lastLine: 9 };
  const symbols = [{ name: "select", path: "/w/b.rs", firstLine: 1, lastLine: 4 }];
  const found = candidates({ paths: ["/w/selector.rs", "/w/other.rs"], selection, symbols }, "Sel");
  assert.deepEqual(found.map(({ name, where }) => [name, where]), [["selection", "/w/a.rs:3-9"], ["selector.rs", "/w/selector.rs"], ["select", "/w/b.rs:1-4"]]);
  assert.deepEqual(found[0].attachment, selection);
  assert.deepEqual(found[2].attachment, { path: "/w/b.rs", firstLine: 1, lastLine: 4 });
  assert.deepEqual(candidates({ paths: ["/w/x.rs"], selection }, "x").map(({ name }) => name), ["x.rs"]);
});

test("unknown changes and conversations that are not open are passed over", () => {
  const before = listed(EMPTY, [summary("t1")]);
  for (const change of [{ kind: "text", index: 0, text: "x" }, { kind: "item", index: 0, item: agent("x") }, { kind: "newer" }]) {
    assert.equal(applied(before, update(change)).model, before);
  }
});

test("the conversation that changed last comes first, and a forgotten one is gone", () => {
  let model = listed(EMPTY, [summary("t1", { changedMs: 1 }), summary("t2", { changedMs: 5 })]);
  assert.deepEqual(model.chats.map(({ chat }) => chat), ["t2", "t1"]);
  model = applied(model, update({ kind: "summary", summary: summary("t1", { changedMs: 9 }) })).model;
  assert.deepEqual(model.chats.map(({ chat }) => chat), ["t1", "t2"]);
  model = opened(model, { summary: summary("t1"), first: 0, items: [] });
  const { model: after, touched } = applied(model, update({ kind: "forgotten" }));
  assert.equal(touched.kind, "forgotten");
  assert.deepEqual(after.chats.map(({ chat }) => chat), ["t2"]);
  assert.equal(after.open.has("t1"), false);
});

test("any order of updates gives the same as opening the conversation afterwards", () => {
  for (let round = 0; round < 300; round++) {
    let model = opened(EMPTY, { summary: summary("t1"), first: 0, items: [] });
    const truth = [];
    for (let step = 0; step < 30; step++) {
      const index = below(truth.length + 1);
      if (index < truth.length && below(2) === 0) {
        truth[index] = agent(`${truth[index].text}${step}`);
        model = applied(model, update({ kind: "text", index, text: String(step) })).model;
      } else {
        truth[index] = agent(`item ${step} `);
        model = applied(model, update({ kind: "item", index, item: agent(`item ${step} `) })).model;
      }
    }
    assert.deepEqual(model.open.get("t1").items, truth);
  }
});

test("files and reviews of a conversation are found", () => {
  const items = [
    { kind: "user", text: "x", attachments: [{ path: "/w/a.rs" }], queued: false, byLinkspan: false },
    { kind: "tool", title: "Edit", state: "done", paths: ["/w/b.rs", "/w/a.rs"], reviews: ["r1", "r2"] },
  ];
  assert.deepEqual(pathsOf(items), ["/w/b.rs", "/w/a.rs"]);
  assert.deepEqual(reviewsOf(items), ["r1", "r2"]);
});

const PIECES = [
  "a", " ", "\n", "\n\n", "- ", "1. ", "# ", "> ", "```", "```rs\n", "| a | b |\n", "|---|---|\n", "---", "    ", "\t", "* ", "**", "`",
  "[x](", ")", "word", "~~~", "\r\n", "==", "- [ ] ", "é🚀",
];

test("a text that grows is parsed as if it had come at once", () => {
  for (let round = 0; round < 3000; round++) {
    let text = "";
    let blocks = [];
    for (let step = below(30); step >= 0; step--) {
      text += PIECES[below(PIECES.length)];
      blocks = parseAppended(blocks, text);
      assert.deepEqual(blocks, parseBlocks(text), JSON.stringify(text));
    }
  }
});

/** Every text in a tree, in order. */
function words(nodes) {
  return nodes.map((node) => (node.kind === "break" ? "\n" : "text" in node ? node.text : words(node.children))).join("");
}

test("Markdown that people write reads as they mean it", () => {
  const kinds = (source) => parseBlocks(source).map(({ kind }) => kind);
  assert.deepEqual(kinds("# T\n\ntext\nmore\n\n- a\n- b\n\n> q\n\n---\n\n```rs\nfn\n```\n"), ["heading", "paragraph", "list", "quote", "rule", "code"]);
  const [list] = parseBlocks("3. a\n   - b\n     c\n4. d\n\n   e\n");
  assert.equal(list.first, 3);
  assert.deepEqual(list.items.map(({ blocks }) => blocks.map(({ kind }) => kind)), [["paragraph", "list"], ["paragraph", "paragraph"]]);
  const [tasks] = parseBlocks("- [x] done\n- [ ] open");
  assert.deepEqual(tasks.items.map(({ done }) => done), [true, false]);
  const [table] = parseBlocks("| a | b |\n|:--|--:|\n| 1 | 2 \\| 3 |\n| 4 |\n");
  assert.deepEqual(table.aligned, ["left", "right"]);
  assert.deepEqual(table.rows, [["1", "2 | 3"], ["4", ""]]);
  const [code] = parseBlocks("```ts title=x\nlet a = `b`;\n");
  assert.deepEqual([code.language, code.text], ["ts", "let a = `b`;"]);
  assert.deepEqual(parseInline("a **b *c* d** `e` ~~f~~ snake_case_name"), [
    { kind: "text", text: "a " },
    { kind: "strong", children: [{ kind: "text", text: "b " }, { kind: "emphasis", children: [{ kind: "text", text: "c" }] }, { kind: "text", text: " d" }] },
    { kind: "text", text: " " },
    { kind: "code", text: "e" },
    { kind: "text", text: " " },
    { kind: "deleted", children: [{ kind: "text", text: "f" }] },
    { kind: "text", text: " snake_case_name" },
  ]);
  assert.deepEqual(parseInline("see https://a.org/x_(y), or"), [
    { kind: "text", text: "see " },
    { kind: "link", href: "https://a.org/x_(y", children: [{ kind: "text", text: "https://a.org/x_(y" }] },
    { kind: "text", text: "), or" },
  ]);
});

/** Every address that could be followed. */
function addresses(nodes) {
  return nodes.flatMap((node) => [...(node.kind === "link" ? [node.href] : []), ...("children" in node ? addresses(node.children) : [])]);
}

test("only web and mail addresses can be followed", () => {
  for (const address of [
    "javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:x", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "blob:x", "//evil.org",
    "java\tscript:x", "&#106;avascript:x", "command:workbench.action.quit", "vscode://x", "src/main.rs",
  ]) {
    for (const source of [`[a](${address})`, `[a](<${address}>)`, `![a](${address})`, `<${address}>`, `[**a**](${address} "t")`]) {
      assert.deepEqual(addresses(parseInline(source)), [], source);
    }
  }
  assert.deepEqual(addresses(parseInline("[a](https://a.org) <b@c.org> http://d.org")), ["https://a.org/", "mailto:b@c.org", "http://d.org/"]);
});

test("markup in a text stays text", () => {
  for (const source of ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<a href='javascript:x'>y</a>"]) {
    const [block] = parseBlocks(source);
    assert.equal(block.kind, "paragraph");
    assert.equal(words(parseInline(block.text)), source);
  }
});

test("a long text of plain words takes no longer for each of them", () => {
  for (const piece of ["h ", "x\n"]) {
    const begun = performance.now();
    parseInline(piece.repeat(150_000));
    const tookMs = performance.now() - begun;
    assert.ok(tookMs < 2_000, `${JSON.stringify(piece)} took ${tookMs} ms`);
  }
});

test("an address begins where a word does", () => {
  assert.deepEqual(addresses(parseInline("see http://a.org, (http://b.org) and xhttp://c.org")), ["http://a.org/", "http://b.org/"]);
});

test("no text takes long, however it is made", () => {
  const large = 100_000;
  for (const piece of ["*", "_", "**a ", "[", "](", "`", "``a`", "~~", "<", "[a](", "!", "> ", "- ", "| ", "\\", "https://", "* a\n", "1. ", "# ", "```\n", "  - a\n"]) {
    const text = piece.repeat(Math.floor(large / piece.length));
    const begun = performance.now();
    for (const block of parseBlocks(text)) {
      if (block.kind === "paragraph") parseInline(block.text);
    }
    parseInline(text);
    const tookMs = performance.now() - begun;
    assert.ok(tookMs < 2_000, `${JSON.stringify(piece)} took ${tookMs} ms`);
  }
});

test("hidden characters are visible, and emoji, tabs and line ends stay", () => {
  assert.equal(readable("a\tb\r\nc"), "a\tb\nc");
  assert.equal(readable("x\u202ey\u200bz"), "x\\u{202e}y\\u{200b}z");
  assert.equal(readable("\u001b[31mred"), "\\u{1b}[31mred");
  assert.equal(readable("❤️ 👩‍💻"), "❤️ 👩‍💻");
  assert.equal(readable("a\u200db\ufe0f"), "a\\u{200d}b\\u{fe0f}");
  assert.equal(output("\u001b[31mred\u001b[0m\u001b]0;title\u0007"), "red\\u{1b}]0;title\\u{7}");
});

test("a search finds items of every kind", () => {
  const items = [
    agent("Needle"),
    { kind: "tool", title: "Run", state: "done", output: "a needle here" },
    { kind: "plan", steps: [{ text: "needle", state: "pending" }] },
    agent("hay"),
    { kind: "newer", text: "needle" },
  ];
  assert.deepEqual(find(items, "needle"), [0, 1, 2]);
  assert.deepEqual(find(items, ""), []);
});

test("an exported conversation keeps every word, and no output can end its block", () => {
  const items = [
    { kind: "user", text: "Do it", attachments: [{ path: "/w/a.rs", firstLine: 3, lastLine: 9 }], queued: false, byLinkspan: false },
    { kind: "thought", text: "hm\nso" },
    { kind: "tool", title: "Run\n# it", state: "failed", output: "```\n# not a heading\n````" },
    agent("Done."),
    { kind: "newer" },
  ];
  const text = toMarkdown(summary("t1"), items);
  for (const part of ["# A title", "## You\n\nDo it", "`/w/a.rs:3-9`", "> hm\n> so", "**Run # it** (failed)", "## Gemini CLI\n\nDone."]) {
    assert.ok(text.includes(part), part);
  }
  const code = parseBlocks(text).filter(({ kind }) => kind === "code");
  assert.deepEqual(code.map((block) => block.text), ["```\n# not a heading\n````"]);
  assert.equal(exportName(summary("t1", { title: "../../Étude: a/b" })), "2026-08-01-étude-a-b.md");
});

test("a name after an at sign is completed, and nothing else is", () => {
  assert.deepEqual(mentionAt("see @ma", 7), { at: 4, words: "ma" });
  assert.equal(mentionAt("mail@ma", 7), null);
  assert.equal(mentionAt("see @ma x", 9), null);
  assert.deepEqual(matching(["/w/x/domain.rs", "/w/main.rs", "/w/main.rs", "/main/b.rs", "/w/c.rs"], "ma"), ["/w/main.rs", "/w/x/domain.rs", "/main/b.rs"]);
  assert.deepEqual(chosen("see @ma now", { at: 4, words: "ma" }, "/w/main.rs"), { text: "see @main.rs now", caret: 13 });
});

test("usage is short", () => {
  assert.equal(usageText({ used: 12_345, size: 200_000, cost: "0.12 USD" }), "12k of 200k tokens, 0.12 USD");
  assert.equal(usageText({ used: 900 }), "900 tokens");
  assert.equal(usageText(undefined), "");
});
