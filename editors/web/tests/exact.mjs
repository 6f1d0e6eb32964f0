// Not a byte changes but where the person wants it: random texts through the diff's own code, without a browser.
// `node tests/exact.mjs [SEED]`

import assert from "node:assert/strict";
import { test } from "node:test";
import { bundled } from "./bundled.mjs";

const ROUNDS = 3000;
const { separatorOf, linesOf, composed, takenHunks, chunksOf, reverting, chunksAfterEdit, chunksOfAnother, EditorState } = await bundled(`
  export * from "./src/diff/text.ts";
  export * from "./src/diff/chunks.ts";
  export * from "./src/diff/edited.ts";
  export { EditorState } from "@codemirror/state";
`);

let seed = Number(process.argv[2] ?? Date.now() % 1_000_000);
console.log(`seed ${seed}`);

function below(limit) {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((seed / 2 ** 32) * limit);
}

function pick(list) {
  return list[below(list.length)];
}

/** Texts of one kind of line end, of both, with a lone CR, with and without a last line end, and empty ones. */
function randomText() {
  const ends = pick([["\n"], ["\n"], ["\r\n"], ["\r\n"], ["\n", "\r\n"]]);
  const words = ["a", "b", "", "", "}", "\tx y", "é🚀", "\u202e", "lone\rreturn", "\ufeff"].slice(0, pick([5, 5, 8, 10]));
  const lines = Array.from({ length: below(9) }, () => pick(words) + pick(ends));
  return lines.join("") + pick(["", "", "last", "\r"]);
}

function randomPair() {
  const base = randomText();
  if (below(4) === 0) return [base, randomText()];
  const lines = split(base);
  for (let edits = below(4); edits > 0; edits -= 1) {
    lines.splice(below(lines.length + 1), below(3), ...split(randomText()).slice(0, below(3)));
  }
  return [base, lines.join("")];
}

function split(text) {
  return text === "" ? [] : text.split(/(?<=\n)/);
}

/** The hunks as the hub makes them: at least one common line lies between two. */
function hunksOf(base, proposed) {
  const [a, b] = [split(base), split(proposed)];
  const common = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const hunks = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      i += 1;
      j += 1;
      continue;
    }
    const [beforeStart, afterStart] = [i, j];
    while ((i < a.length || j < b.length) && !(i < a.length && j < b.length && a[i] === b[j])) {
      if (j >= b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) i += 1;
      else j += 1;
    }
    hunks.push({ id: `h${hunks.length}`, beforeStart, beforeCount: i - beforeStart, afterStart, afterCount: j - afterStart, words: [] });
  }
  return hunks;
}

/** What the hub would write: the base with the hunks that are taken. */
function written(base, proposed, hunks, left) {
  const [a, b] = [split(base), split(proposed)];
  let text = "";
  let copied = 0;
  for (const hunk of hunks.filter(({ id }) => !left.has(id))) {
    text += a.slice(copied, hunk.beforeStart).join("") + b.slice(hunk.afterStart, hunk.afterStart + hunk.afterCount).join("");
    copied = hunk.beforeStart + hunk.beforeCount;
  }
  return text + a.slice(copied).join("");
}

function opened(text, separator) {
  return EditorState.create({ doc: linesOf(text, separator), extensions: EditorState.lineSeparator.of(separator) });
}

function putAllBack(state, chunks, base) {
  for (const chunk of [...chunks].reverse()) state = state.update({ changes: reverting(chunk, base, state.doc) }).state;
  return state.sliceDoc();
}

/** In order, each with something in it, and the same lines in between on both sides. */
function checkApart(chunks, before, after) {
  let [a, b] = [0, 0];
  for (const chunk of [...chunks, { fromA: before.length, toA: 0, fromB: after.length, toB: 0 }]) {
    assert.ok(chunk.fromA >= a || a > before.length, "in order");
    assert.equal(after.sliceString(Math.min(b, after.length), chunk.fromB), before.sliceString(Math.min(a, before.length), chunk.fromA));
    assert.ok(chunk.toA === 0 || chunk.fromA < chunk.toA || chunk.fromB < chunk.toB, "not empty");
    [a, b] = [chunk.toA, chunk.toB];
  }
}

function eachPair(check) {
  for (let round = 0; round < ROUNDS; round += 1) {
    const [base, proposed] = randomPair();
    const separator = separatorOf(base, proposed);
    const hunks = hunksOf(base, proposed);
    const left = new Set(hunks.filter(() => below(2) === 0).map(({ id }) => id));
    try {
      check({ base, proposed, separator, hunks, left });
    } catch (error) {
      error.message += `\n${JSON.stringify({ base, proposed, left: [...left] })}`;
      throw error;
    }
  }
}

test("a text that is opened and not edited is the same text, line by line as the hub counts them", () => {
  eachPair(({ base, proposed, separator }) => {
    for (const text of [base, proposed]) {
      const state = opened(text, separator);
      assert.equal(state.sliceDoc(), text);
      assert.equal(state.doc.lines, text.split("\n").length);
    }
  });
});

test("what editing begins with is what the hub would write for the hunks that are taken", () => {
  eachPair(({ base, proposed, hunks, left }) => {
    assert.equal(composed(base, proposed, hunks, left), written(base, proposed, hunks, left));
  });
});

test("every taken hunk is one chunk, and putting all of them back gives the base", () => {
  eachPair(({ base, proposed, separator, hunks, left }) => {
    const before = linesOf(base, separator);
    const state = opened(composed(base, proposed, hunks, left), separator);
    const chunks = chunksOf(takenHunks(hunks, left), before, state.doc);
    assert.equal(chunks.length, hunks.length - left.size);
    assert.equal(putAllBack(state, chunks, before), base);
  });
});

test("an edit changes what it touches and nothing else, and can be put back", () => {
  eachPair(({ base, proposed, separator, hunks }) => {
    const before = linesOf(base, separator);
    let state = opened(proposed, separator);
    let chunks = chunksOf(hunks, before, state.doc);
    for (let edits = 0; edits < 3; edits += 1) {
      const from = below(state.doc.length + 1);
      const to = Math.min(state.doc.length, from + below(5));
      const insert = pick(["", "z", `z${separator}`, separator]);
      const expected = state.sliceDoc(0, from) + insert + state.sliceDoc(to);
      const edit = state.update({ changes: { from, to, insert } });
      assert.equal(edit.state.sliceDoc(), expected);
      chunks = chunksAfterEdit(chunks, before, state.doc, edit.newDoc, edit.changes);
      checkApart(chunks, before, edit.newDoc);
      state = edit.state;
    }
    assert.equal(putAllBack(state, chunks, before), base);
  });
});

test("a text of her own is compared in whole lines, and can be put back", () => {
  eachPair(({ base, proposed, hunks }) => {
    const own = randomText();
    const separator = separatorOf(base, proposed, own);
    const [before, after] = [linesOf(base, separator), linesOf(proposed, separator)];
    const state = opened(own, separator);
    const chunks = chunksOfAnother(chunksOf(hunks, before, after), before, after, state.doc);
    checkApart(chunks, before, state.doc);
    assert.equal(putAllBack(state, chunks, before), base);
  });
});
