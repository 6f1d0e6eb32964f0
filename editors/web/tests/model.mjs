// The page's model of reviews and its labels, without a browser. `node tests/model.mjs [SEED]`

import assert from "node:assert/strict";
import { test } from "node:test";
import { bundled } from "./bundled.mjs";

const {
  Reviews, FileNames, visible, isOver, isWaiting, relative, age, size, nextStep, HubSocket, HubError, ConnectionLost, NotSent, DecisionSender,
  needsOwnDecision, wouldBeLost, workOf, LARGEST_BYTES, ended, optionsOf, needsWriting, howItEnded,
} = await bundled(`
  export * from "./src/list/reviews.ts";
  export * from "./src/review/next_step.ts";
  export * from "./src/connection/socket.ts";
  export * from "./src/decision/decision_sender.ts";
  export * from "./src/shell/file_names.ts";
  export * from "./src/shell/visible.ts";
  export * from "./src/shell/labels.ts";
  export * from "./src/decision/decision_options.ts";
  export * from "./src/decision/file_write.ts";
`);

let seed = Number(process.argv[2] ?? Date.now() % 1_000_000);
console.log(`seed ${seed}`);

function below(limit) {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((seed / 2 ** 32) * limit);
}

function summary(review, phase = "pending", revision = 1) {
  return {
    review, phase, window: "w1", agent: "a", dialect: "claude", path: `/w/${review}.rs`, label: "", ageMs: 0,
    hunks: 1, added: 1, removed: 0, newFile: false, conflicts: 0, ownerGone: false, agentWrites: false, bytes: 10, revision,
  };
}

const CHANGES = [
  [{ kind: "decided", verdict: "accept", by: "Neovim" }, "accepted"],
  [{ kind: "decided", verdict: "reject", by: "Neovim" }, "rejected"],
  [{ kind: "decided", verdict: "acceptEdited", by: "Neovim" }, "settling"],
  [{ kind: "written" }, "accepted"],
  [{ kind: "withdrawn" }, "withdrawn"],
  [{ kind: "superseded", by: "r9" }, "superseded"],
  [{ kind: "failed", error: "disk full" }, "failed"],
  [{ kind: "rebased", revision: 2, conflicts: 1 }, "conflict"],
  [{ kind: "edited", revision: 3 }, "pending"],
  [{ kind: "reopened", error: "disk full" }, "pending"],
  [{ kind: "delivered" }, undefined],
  [{ kind: "agentGone" }, "pending"],
  [{ kind: "agentBack" }, "pending"],
  [{ kind: "onDisk" }, "accepted"],
  [{ kind: "notOnDisk" }, undefined],
];

test("rows never move and never disappear, whatever events arrive", () => {
  for (let round = 0; round < 500; round++) {
    const reviews = new Reviews();
    let order = [];
    for (let step = 0; step < 30; step++) {
      const id = `r${below(8)}`;
      if (below(4) === 0) {
        reviews.listed([summary(id)]);
      } else if (below(3) === 0) {
        reviews.handleEvent(id, { kind: "proposed" }, summary(id));
      } else {
        const [change, phase] = CHANGES[below(CHANGES.length)];
        reviews.handleEvent(id, change, phase === undefined ? undefined : summary(id, phase));
      }
      const now = reviews.entries.map((entry) => entry.id);
      assert.deepEqual(now.slice(0, order.length), order);
      assert.equal(new Set(now).size, now.length);
      order = now;
      for (const entry of reviews.entries) {
        assert.ok(!isWaiting(entry) || entry.how === "", "what waits has not ended somehow");
        assert.ok(!isOver(entry) || entry.how !== "", "what is over says how");
      }
    }
  }
});

test("a decision made elsewhere says where, and our own says here", () => {
  const reviews = new Reviews();
  reviews.listed([summary("r1"), summary("r2")]);
  const [elsewhere, here] = reviews.entries;
  reviews.handleEvent("r1", { kind: "decided", verdict: "acceptHunks", by: "Neo\u202evim" }, summary("r1", "accepted"));
  assert.deepEqual([elsewhere.state, elsewhere.how], ["accepted", "accepted in part in Neo\\u{202e}vim"]);
  here.sending = true;
  reviews.taken(here, "reject");
  reviews.handleEvent("r2", { kind: "decided", verdict: "reject", by: "the browser page" }, summary("r2", "rejected"));
  assert.deepEqual([here.state, here.how], ["rejected", "rejected here"]);
});

test("a review that is being written is not accepted until the hub reports it", () => {
  const reviews = new Reviews();
  reviews.listed([summary("r1")]);
  const [entry] = reviews.entries;
  reviews.handleEvent("r1", { kind: "decided", verdict: "accept", by: "Neovim" }, summary("r1", "settling"));
  assert.equal(entry.state, "settling");
  reviews.handleEvent("r1", { kind: "reopened", error: "disk full" }, summary("r1"));
  assert.ok(isWaiting(entry));
});

test("a review that is missing from the list has ended, and only those", () => {
  const reviews = new Reviews();
  reviews.listed([summary("r1"), summary("r2"), summary("r3")]);
  reviews.handleEvent("r3", { kind: "withdrawn" }, undefined);
  const { arrived, missing } = reviews.listed([summary("r2"), summary("r4"), summary("r5", "settling")]);
  assert.deepEqual(missing.map((entry) => entry.id), ["r1"]);
  assert.deepEqual(arrived.map((entry) => entry.id), ["r4"]);
});

test("the next review is the next one that waits, around the end", () => {
  const reviews = new Reviews();
  reviews.listed([summary("r1"), summary("r2"), summary("r3")]);
  reviews.handleEvent("r3", { kind: "withdrawn" }, undefined);
  assert.equal(reviews.nextWaiting("r2").id, "r1");
  assert.equal(reviews.nextWaiting(null).id, "r1");
  reviews.handleEvent("r1", { kind: "withdrawn" }, undefined);
  assert.equal(reviews.nextWaiting("r2"), undefined);
});

test("invisible, bidirectional and control characters are made visible", () => {
  assert.equal(visible("a\u001b[2J\r\n\u009b"), "a\\u{1b}[2J\\r\\n\\u{9b}");
  assert.equal(visible("x\u202ey\u200bz\u2066\ufeff\u{e0041}"), "x\\u{202e}y\\u{200b}z\\u{2066}\\u{feff}\\u{e0041}");
  assert.equal(visible("let é = 日本語 🚀"), "let é = 日本語 🚀");
});

test("a path is named from its innermost folder, and its window where there are several", () => {
  assert.equal(relative("/w/deep/src/a.rs", ["/w", "/w/deep"]), "src/a.rs");
  assert.equal(relative("/web/a.rs", ["/w"]), "/web/a.rs");
  const fileNames = new FileNames();
  const file = { path: "/home/one/src/a.rs", window: "w1" };
  fileNames.learn([{ window: "w1", folders: ["/home/one"] }]);
  assert.equal(fileNames.of(file).whole, "src/a.rs");
  fileNames.learn([{ window: "w2", folders: ["/home/two"] }]);
  assert.equal(fileNames.of(file).whole, "one: src/a.rs");
});

test("ages and sizes have one unit", () => {
  assert.deepEqual([0, 59_999, 60_000, 7_200_000, 172_800_000].map(age), ["0s", "59s", "1m", "2h", "2d"]);
  assert.deepEqual([1, 900, 2048, 9 << 20].map(size), ["1 byte", "900 bytes", "2.0 KiB", "9.0 MiB"]);
});

function oneReview() {
  const reviews = new Reviews();
  reviews.listed([summary("r1")]);
  return { reviews, entry: reviews.entries[0] };
}

const NOTHING_YET = { tooLarge: null, fetched: null, takesChoices: null, refused: null };

test("a newer revision is fetched, and one that the hub refused is not requested again", () => {
  const { reviews, entry } = oneReview();
  const shown = { ...NOTHING_YET, fetched: 1, takesChoices: true };
  assert.equal(nextStep(entry, NOTHING_YET), "fetch");
  assert.equal(nextStep(entry, shown), "nothing");
  reviews.handleEvent("r1", { kind: "edited", revision: 2 }, summary("r1", "pending", 2));
  assert.equal(nextStep(entry, shown), "fetch");
  assert.equal(nextStep(entry, { ...shown, refused: 2 }), "nothing");
  reviews.handleEvent("r1", { kind: "edited", revision: 3 }, summary("r1", "pending", 3));
  assert.equal(nextStep(entry, { ...shown, refused: 2 }), "fetch");
});

test("nothing can be chosen while a decision is being sent, and again if it was refused", () => {
  const { reviews, entry } = oneReview();
  const open = { ...NOTHING_YET, fetched: 1, takesChoices: true };
  const closed = { ...open, takesChoices: false };
  entry.sending = true;
  assert.equal(nextStep(entry, open), "close");
  assert.equal(nextStep(entry, closed), "nothing");
  entry.sending = false;
  assert.equal(nextStep(entry, closed), "reopen");
  reviews.handleEvent("r1", { kind: "decided", verdict: "reject", by: "Neovim" }, summary("r1", "rejected"));
  assert.equal(nextStep(entry, open), "close");
});

test("an oversized change is shown as such in every revision; one that fits again is fetched", () => {
  const { reviews, entry } = oneReview();
  const shown = { ...NOTHING_YET, fetched: 1, takesChoices: true };
  const large = (revision) => ({ ...summary("r1", "pending", revision), bytes: LARGEST_BYTES + 1 });
  reviews.handleEvent("r1", { kind: "edited", revision: 2 }, large(2));
  assert.equal(nextStep(entry, shown), "sayTooLarge");
  const said = { ...NOTHING_YET, tooLarge: 2 };
  assert.equal(nextStep(entry, said), "nothing");
  reviews.handleEvent("r1", { kind: "edited", revision: 3 }, large(3));
  assert.equal(nextStep(entry, said), "sayTooLarge");
  reviews.handleEvent("r1", { kind: "edited", revision: 4 }, summary("r1", "pending", 4));
  assert.equal(nextStep(entry, { ...NOTHING_YET, tooLarge: 3 }), "fetch");
});

test("work on a review needs a decision of its own, and would be lost", () => {
  const { entry } = oneReview();
  const on = { revision: 1, base: "a", proposed: "b" };
  const draft = { left: [], comments: [] };
  entry.work = workOf(draft, on);
  assert.deepEqual([needsOwnDecision(entry, true), wouldBeLost(entry)], [false, false]);
  entry.work = workOf({ ...draft, left: ["h1"] }, on);
  assert.deepEqual([needsOwnDecision(entry, true), needsOwnDecision(entry, false), wouldBeLost(entry)], [true, false, true]);
  entry.work = workOf({ ...draft, comments: [{ line: 1, text: "why?" }] }, on);
  assert.deepEqual([needsOwnDecision(entry, true), needsOwnDecision(entry, false), wouldBeLost(entry)], [false, false, true]);
  entry.revision = 2;
  assert.deepEqual([needsOwnDecision(entry, true), needsOwnDecision(entry, false)], [true, true], "its lines are others now");
});

test("a request on a closing socket fails as lost, not as connected", async (context) => {
  const { WebSocket } = globalThis;
  context.after(() => (globalThis.WebSocket = WebSocket));
  let made;
  globalThis.WebSocket = class {
    static CONNECTING = 0;
    static OPEN = 1;
    readyState = 0;
    constructor() {
      made = this;
    }
    close() {}
  };
  const heard = [];
  const socket = new HubSocket("ws://here", { opened() {}, handleEvent() {}, closed: (code) => heard.push(code) });
  await assert.rejects(socket.request("ping", {}), NotSent);
  assert.deepEqual(heard, [], "one that is still opening may yet open");
  made.readyState = 2;
  await socket.request("ping", {}).catch((error) => heard.push(error.constructor));
  assert.deepEqual(heard, [1006, NotSent], "lost first");
});

test("a decision whose response was lost is looked up, and sent again only if the review is pending and unchanged", async () => {
  const cases = [
    ["pending", 1, "a", "taken"],
    ["pending", 2, "b", "again"],
    // The same name and number for something else.
    ["pending", 1, "b", "again"],
    ["accepted", 1, "a", "over"],
  ];
  for (const [phase, revision, digest, expected] of cases) {
    const { reviews, entry } = oneReview();
    const asked = [];
    let falls = true;
    const answers = {
      "reviews/decide": () => ({ kind: "taken" }),
      "reviews/get": () => ({ phase, shown: { revision, digest } }),
      "history/list": () => ({ entries: [{ review: "r1", ended: { kind: "accepted", taken: "all" } }] }),
    };
    const connection = {
      connected: async () => {},
      review: () => connection.request("reviews/get"),
      request: async (method, params) => {
        asked.push(method);
        if (method === "reviews/decide") {
          assert.deepEqual([params.revision, params.digest], [1, "a"], "what was seen is sent with it");
        }
        if (falls) {
          falls = false;
          throw new ConnectionLost("fell");
        }
        return answers[method]();
      },
    };
    const answer = await new DecisionSender(connection, reviews).decide(entry, { revision: 1, digest: "a" }, { verdict: { kind: "accept" }, comments: [] });
    assert.equal(answer.kind, expected);
    assert.equal(asked.filter((method) => method === "reviews/decide").length, expected === "taken" ? 2 : 1);
    assert.equal(entry.sending, false);
  }
});

test("the end of many reviews is requested once, and a hub that cannot answer is an error, not a loop", async () => {
  const reviews = new Reviews();
  reviews.listed([summary("r1"), summary("r2"), summary("r3")]);
  let asked = 0;
  const entries = [{ review: "r1", ended: { kind: "rejected" }, decidedBy: "Neovim" }];
  const request = async () => ((asked += 1), { entries });
  await new DecisionSender({ request }, reviews).past(reviews.entries);
  assert.equal(asked, 1);
  assert.deepEqual(reviews.entries.map((entry) => entry.state), ["rejected", "withdrawn", "withdrawn"]);
  const refuse = async () => {
    throw new HubError(-32000, "the journal is damaged");
  };
  await assert.rejects(new DecisionSender({ request: refuse }, reviews).past(reviews.entries), /damaged/);
});

/** A review of an agent that writes what is accepted. */
function agentWrites(ownerGone = false, phase = "pending") {
  return { ...summary("r1", phase), agent: "claude-code", agentWrites: true, ownerGone };
}

function contextOf(entry) {
  const view = { isEditing: () => false, verdict: () => ({ kind: "accept" }), draft: () => ({ comments: [] }) };
  return { entry, shown: { hunks: [] }, view, isChoosing: false, isConnected: true, late: "", hasNext: false };
}

test("accepting is offered as a write by Linkspan while the agent that should write does not wait", () => {
  const reviews = new Reviews();
  reviews.listed([agentWrites()]);
  const [entry] = reviews.entries;
  assert.equal(optionsOf(contextOf(entry)).label, "Accept");
  reviews.handleEvent("r1", { kind: "agentGone" }, agentWrites(true));
  assert.deepEqual(
    [optionsOf(contextOf(entry)).label, optionsOf(contextOf(entry)).writes],
    ["Write file", "claude-code no longer waits, so Linkspan will write the file."],
  );
  reviews.handleEvent("r1", { kind: "agentBack" }, agentWrites());
  assert.deepEqual([optionsOf(contextOf(entry)).label, optionsOf(contextOf(entry)).writes], ["Accept", undefined]);
  reviews.handleEvent("r1", { kind: "agentGone" }, { ...summary("r1"), ownerGone: true });
  assert.equal(optionsOf(contextOf(entry)).label, "Accept", "the hub writes that one anyway");
});

test("an accept that is refused because the agent no longer waits is offered as a write by Linkspan", async () => {
  const reviews = new Reviews();
  reviews.listed([agentWrites()]);
  const [entry] = reviews.entries;
  const request = async () => ({ kind: "refused", message: "claude-code no longer waits", canWriteHere: true });
  const decision = { verdict: { kind: "accept" }, comments: [] };
  const answer = await new DecisionSender({ request }, reviews).decide(entry, 1, decision);
  assert.deepEqual([answer.kind, entry.state, entry.how], ["again", "pending", ""]);
  assert.ok(needsWriting(entry));
  assert.equal(optionsOf(contextOf(entry)).label, "Write file");
});

test("a change that the agent writes is shown as on disk only after it was seen there", () => {
  for (const verdict of ["accept", "acceptHunks"]) {
    const reviews = new Reviews();
    reviews.listed([agentWrites()]);
    const [entry] = reviews.entries;
    reviews.taken(entry, verdict);
    assert.match(howItEnded(entry), /^accepted.* here, not on disk yet: claude-code was told to write it$/);
    assert.equal(optionsOf(contextOf(entry)).tone, "plain");
    reviews.handleEvent("r1", { kind: "notOnDisk" }, agentWrites(false, "accepted"));
    assert.match(howItEnded(entry), /^accepted.* here, not on disk: claude-code has not written it$/);
    assert.equal(optionsOf(contextOf(entry)).tone, "bad");
    reviews.handleEvent("r1", { kind: "onDisk" }, undefined);
    assert.equal(howItEnded(entry), entry.how);
    assert.equal(optionsOf(contextOf(entry)).tone, "good");
  }
  const reviews = new Reviews();
  reviews.listed([agentWrites(true)]);
  reviews.taken(reviews.entries[0], "accept");
  assert.equal(howItEnded(reviews.entries[0]), "accepted here", "Linkspan wrote it");
  assert.equal(ended({ ended: { kind: "accepted", taken: "all" }, onDisk: false }), "accepted, not on disk");
  const elsewhere = { ended: { kind: "accepted", taken: "all" }, decidedBy: "Neovim" };
  assert.equal(ended({ ...elsewhere, onDisk: false }), "accepted, not on disk, in Neovim");
  assert.equal(ended({ ...elsewhere, onDisk: true }), "accepted in Neovim");
});
