// What the page knows of reviews, and the words it has for them, without a browser. `node tests/model.mjs [SEED]`

import assert from "node:assert/strict";
import { test } from "node:test";
import { bundled } from "./bundled.mjs";

const { Reviews, Places, visible, isOver, isWaiting, relative, age, size } = await bundled(`
  export * from "./src/reviews.ts";
  export * from "./src/places.ts";
  export * from "./src/visible.ts";
  export * from "./src/wording.ts";
`);

let seed = Number(process.argv[2] ?? Date.now() % 1_000_000);
console.log(`seed ${seed}`);

function below(limit) {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((seed / 2 ** 32) * limit);
}

function summary(review, phase = "pending") {
  return {
    review, phase, window: "w1", agent: "a", dialect: "claude", path: `/w/${review}.rs`, label: "", ageMs: 0,
    hunks: 1, added: 1, removed: 0, newFile: false, conflicts: 0, ownerGone: false, bytes: 10,
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
