// What the page knows of reviews, and the words it has for them, without a browser. `node tests/model.mjs [SEED]`

import assert from "node:assert/strict";
import { test } from "node:test";
import { bundled } from "./bundled.mjs";

const {
  Reviews, Places, visible, isOver, isWaiting, relative, age, size, nextStep, HubSocket, HubError, Lost, NotAsked, Deciding,
  isHersToFinish, wouldBeLost, workOf, LARGEST_BYTES, ended, offerOf, needsWriting, howItEnded,
} = await bundled(`
  export * from "./src/reviews.ts";
  export * from "./src/following.ts";
  export * from "./src/socket.ts";
  export * from "./src/deciding.ts";
  export * from "./src/places.ts";
  export * from "./src/visible.ts";
  export * from "./src/wording.ts";
  export * from "./src/offers.ts";
  export * from "./src/writing.ts";
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

test("rows never move and never go by themselves, whatever the hub tells", () => {
  for (let round = 0; round < 500; round++) {
    const reviews = new Reviews();
    let order = [];
    for (let step = 0; step < 30; step++) {
      const id = `r${below(8)}`;
      if (below(4) === 0) {
        reviews.listed([summary(id)]);
      } else if (below(3) === 0) {
        reviews.told(id, { kind: "proposed" }, summary(id));
      } else {
        const [change, phase] = CHANGES[below(CHANGES.length)];
        reviews.told(id, change, phase === undefined ? undefined : summary(id, phase));
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

test("what somebody else decided says where, and what we decided says here", () => {
  const reviews = new Reviews();
  reviews.listed([summary("r1"), summary("r2")]);
  const [elsewhere, here] = reviews.entries;
  reviews.told("r1", { kind: "decided", verdict: "acceptHunks", by: "Neo\u202evim" }, summary("r1", "accepted"));
  assert.deepEqual([elsewhere.state, elsewhere.how], ["accepted", "accepted in part in Neo\\u{202e}vim"]);
  here.sending = true;
  reviews.taken(here, "reject");
  reviews.told("r2", { kind: "decided", verdict: "reject", by: "the browser page" }, summary("r2", "rejected"));
  assert.deepEqual([here.state, here.how], ["rejected", "rejected here"]);
});

test("what is being written is not accepted until the hub says so", () => {
  const reviews = new Reviews();
  reviews.listed([summary("r1")]);
  const [entry] = reviews.entries;
  reviews.told("r1", { kind: "decided", verdict: "accept", by: "Neovim" }, summary("r1", "settling"));
  assert.equal(entry.state, "settling");
  reviews.told("r1", { kind: "reopened", error: "disk full" }, summary("r1"));
  assert.ok(isWaiting(entry));
});

test("a review that is missing from the list has ended, and only those", () => {
  const reviews = new Reviews();
  reviews.listed([summary("r1"), summary("r2"), summary("r3")]);
  reviews.told("r3", { kind: "withdrawn" }, undefined);
  const { arrived, missing } = reviews.listed([summary("r2"), summary("r4"), summary("r5", "settling")]);
  assert.deepEqual(missing.map((entry) => entry.id), ["r1"]);
  assert.deepEqual(arrived.map((entry) => entry.id), ["r4"]);
});

test("the next review is the next one that waits, around the end", () => {
  const reviews = new Reviews();
  reviews.listed([summary("r1"), summary("r2"), summary("r3")]);
  reviews.told("r3", { kind: "withdrawn" }, undefined);
  assert.equal(reviews.nextWaiting("r2").id, "r1");
  assert.equal(reviews.nextWaiting(null).id, "r1");
  reviews.told("r1", { kind: "withdrawn" }, undefined);
  assert.equal(reviews.nextWaiting("r2"), undefined);
});

test("text that hides, turns around or moves the cursor is seen", () => {
  assert.equal(visible("a\u001b[2J\r\n\u009b"), "a\\u{1b}[2J\\r\\n\\u{9b}");
  assert.equal(visible("x\u202ey\u200bz\u2066\ufeff\u{e0041}"), "x\\u{202e}y\\u{200b}z\\u{2066}\\u{feff}\\u{e0041}");
  assert.equal(visible("let é = 日本語 🚀"), "let é = 日本語 🚀");
});

test("a path is named from its innermost folder, and its window where there are several", () => {
  assert.equal(relative("/w/deep/src/a.rs", ["/w", "/w/deep"]), "src/a.rs");
  assert.equal(relative("/web/a.rs", ["/w"]), "/web/a.rs");
  const places = new Places();
  const file = { path: "/home/one/src/a.rs", window: "w1" };
  places.learn([{ window: "w1", folders: ["/home/one"] }]);
  assert.equal(places.of(file).whole, "src/a.rs");
  places.learn([{ window: "w2", folders: ["/home/two"] }]);
  assert.equal(places.of(file).whole, "one: src/a.rs");
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

test("a newer revision is fetched, and one that the hub would not give is not asked for again", () => {
  const { reviews, entry } = oneReview();
  const shown = { ...NOTHING_YET, fetched: 1, takesChoices: true };
  assert.equal(nextStep(entry, NOTHING_YET), "fetch");
  assert.equal(nextStep(entry, shown), "nothing");
  reviews.told("r1", { kind: "edited", revision: 2 }, summary("r1", "pending", 2));
  assert.equal(nextStep(entry, shown), "fetch");
  assert.equal(nextStep(entry, { ...shown, refused: 2 }), "nothing");
  reviews.told("r1", { kind: "edited", revision: 3 }, summary("r1", "pending", 3));
  assert.equal(nextStep(entry, { ...shown, refused: 2 }), "fetch");
});

test("nothing can be chosen while a decision is on its way, and again if it was not taken", () => {
  const { reviews, entry } = oneReview();
  const open = { ...NOTHING_YET, fetched: 1, takesChoices: true };
  const closed = { ...open, takesChoices: false };
  entry.sending = true;
  assert.equal(nextStep(entry, open), "close");
  assert.equal(nextStep(entry, closed), "nothing");
  entry.sending = false;
  assert.equal(nextStep(entry, closed), "reopen");
  reviews.told("r1", { kind: "decided", verdict: "reject", by: "Neovim" }, summary("r1", "rejected"));
  assert.equal(nextStep(entry, open), "close");
});

test("a change that becomes too large, or stays so in another revision, is said to be; one that fits again is fetched", () => {
  const { reviews, entry } = oneReview();
  const shown = { ...NOTHING_YET, fetched: 1, takesChoices: true };
  const large = (revision) => ({ ...summary("r1", "pending", revision), bytes: LARGEST_BYTES + 1 });
  reviews.told("r1", { kind: "edited", revision: 2 }, large(2));
  assert.equal(nextStep(entry, shown), "sayTooLarge");
  const said = { ...NOTHING_YET, tooLarge: 2 };
  assert.equal(nextStep(entry, said), "nothing");
  reviews.told("r1", { kind: "edited", revision: 3 }, large(3));
  assert.equal(nextStep(entry, said), "sayTooLarge");
  reviews.told("r1", { kind: "edited", revision: 4 }, summary("r1", "pending", 4));
  assert.equal(nextStep(entry, { ...NOTHING_YET, tooLarge: 3 }), "fetch");
});

test("what she did to a review is hers to finish, and would be lost", () => {
  const { entry } = oneReview();
  const on = { revision: 1, base: "a", proposed: "b" };
  const draft = { left: [], comments: [] };
  entry.work = workOf(draft, on);
  assert.deepEqual([isHersToFinish(entry, true), wouldBeLost(entry)], [false, false]);
  entry.work = workOf({ ...draft, left: ["h1"] }, on);
  assert.deepEqual([isHersToFinish(entry, true), isHersToFinish(entry, false), wouldBeLost(entry)], [true, false, true]);
  entry.work = workOf({ ...draft, comments: [{ line: 1, text: "why?" }] }, on);
  assert.deepEqual([isHersToFinish(entry, true), isHersToFinish(entry, false), wouldBeLost(entry)], [false, false, true]);
  entry.revision = 2;
  assert.deepEqual([isHersToFinish(entry, true), isHersToFinish(entry, false)], [true, true], "its lines are others now");
});

test("what is asked on a socket that is closing finds it lost, not connected", async (context) => {
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
  const socket = new HubSocket("ws://here", { opened() {}, told() {}, closed: (code) => heard.push(code) });
  await assert.rejects(socket.request("ping", {}), NotAsked);
  assert.deepEqual(heard, [], "one that is still opening may yet open");
  made.readyState = 2;
  await socket.request("ping", {}).catch((error) => heard.push(error.constructor));
  assert.deepEqual(heard, [1006, NotAsked], "lost first");
});

test("a decision whose answer was lost is looked for, and sent once more only if it waits unchanged", async () => {
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
          throw new Lost("fell");
        }
        return answers[method]();
      },
    };
    const answer = await new Deciding(connection, reviews).decide(entry, { revision: 1, digest: "a" }, { verdict: { kind: "accept" }, comments: [] });
    assert.equal(answer.kind, expected);
    assert.equal(asked.filter((method) => method === "reviews/decide").length, expected === "taken" ? 2 : 1);
    assert.equal(entry.sending, false);
  }
});

test("how many reviews ended is asked for once, and a hub that cannot say is an error, not a loop", async () => {
  const reviews = new Reviews();
  reviews.listed([summary("r1"), summary("r2"), summary("r3")]);
  let asked = 0;
  const entries = [{ review: "r1", ended: { kind: "rejected" }, decidedBy: "Neovim" }];
  const request = async () => ((asked += 1), { entries });
  await new Deciding({ request }, reviews).past(reviews.entries);
  assert.equal(asked, 1);
  assert.deepEqual(reviews.entries.map((entry) => entry.state), ["rejected", "withdrawn", "withdrawn"]);
  const refuse = async () => {
    throw new HubError(-32000, "the journal is damaged");
  };
  await assert.rejects(new Deciding({ request: refuse }, reviews).past(reviews.entries), /damaged/);
});

/** A review of an agent that writes what is accepted. */
function agentWrites(ownerGone = false, phase = "pending") {
  return { ...summary("r1", phase), agent: "claude-code", agentWrites: true, ownerGone };
}

function sightOf(entry) {
  const view = { isEditing: () => false, verdict: () => ({ kind: "accept" }), draft: () => ({ comments: [] }) };
  return { entry, shown: { hunks: [] }, view, isChoosing: false, isConnected: true, late: "", hasNext: false };
}

test("accepting is offered as writing it here while the agent that writes does not wait", () => {
  const reviews = new Reviews();
  reviews.listed([agentWrites()]);
  const [entry] = reviews.entries;
  assert.equal(offerOf(sightOf(entry)).label, "Accept");
  reviews.told("r1", { kind: "agentGone" }, agentWrites(true));
  assert.deepEqual(
    [offerOf(sightOf(entry)).label, offerOf(sightOf(entry)).writes],
    ["Write it here", "claude-code no longer waits, so Linkspan writes the file."],
  );
  reviews.told("r1", { kind: "agentBack" }, agentWrites());
  assert.deepEqual([offerOf(sightOf(entry)).label, offerOf(sightOf(entry)).writes], ["Accept", undefined]);
  reviews.told("r1", { kind: "agentGone" }, { ...summary("r1"), ownerGone: true });
  assert.equal(offerOf(sightOf(entry)).label, "Accept", "the hub writes that one anyway");
});

test("an accept that is refused because nobody waits is not accepted, and is offered as writing it here", async () => {
  const reviews = new Reviews();
  reviews.listed([agentWrites()]);
  const [entry] = reviews.entries;
  const request = async () => ({ kind: "refused", message: "claude-code no longer waits", canWriteHere: true });
  const decision = { verdict: { kind: "accept" }, comments: [] };
  const answer = await new Deciding({ request }, reviews).decide(entry, 1, decision);
  assert.deepEqual([answer.kind, entry.state, entry.how], ["again", "pending", ""]);
  assert.ok(needsWriting(entry));
  assert.equal(offerOf(sightOf(entry)).label, "Write it here");
});

test("what the agent was told to write is said to be on disk only when it was seen there", () => {
  for (const verdict of ["accept", "acceptHunks"]) {
    const reviews = new Reviews();
    reviews.listed([agentWrites()]);
    const [entry] = reviews.entries;
    reviews.taken(entry, verdict);
    assert.match(howItEnded(entry), /^accepted.* here, not on disk yet: claude-code was told to write it$/);
    assert.equal(offerOf(sightOf(entry)).tone, "plain");
    reviews.told("r1", { kind: "notOnDisk" }, agentWrites(false, "accepted"));
    assert.match(howItEnded(entry), /^accepted.* here, not on disk: claude-code has not written it$/);
    assert.equal(offerOf(sightOf(entry)).tone, "bad");
    reviews.told("r1", { kind: "onDisk" }, undefined);
    assert.equal(howItEnded(entry), entry.how);
    assert.equal(offerOf(sightOf(entry)).tone, "good");
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
