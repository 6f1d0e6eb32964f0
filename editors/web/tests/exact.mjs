// No byte changes unless the user wants it: random texts through the diff's own code, without a browser.
// `node tests/exact.mjs [SEED]`

import assert from "node:assert/strict";
import { test } from "node:test";
import { bundled } from "./bundled.mjs";

const ROUNDS = 3000;
const {
  separatorOf, linesOf, composed, takenHunks, movedLine, chunksOf, reverting, chunksAfterEdit, chunksOfEdited,
  movesBetween, lineEnds, sameLineEnd, EditorState, EditorView, insertNewline, deleteCharBackward, deleteCharForward,
} = await bundled(`
  export * from "./src/diff/text.ts";
  export * from "./src/diff/chunks.ts";
  export * from "./src/diff/chunk_update.ts";
  export * from "./src/diff/line_moves.ts";
  export * from "./src/diff/line_endings.ts";
  export { EditorState } from "@codemirror/state";
  export { EditorView } from "@codemirror/view";
  export { insertNewline, deleteCharBackward, deleteCharForward } from "@codemirror/commands";
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

test("editing starts with the text that the hub would write for the included hunks", () => {
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

test("an edited text is compared in whole lines, and can be reverted", () => {
  eachPair(({ base, proposed, hunks }) => {
    const own = randomText();
    const separator = separatorOf(base, proposed, own);
    const [before, after] = [linesOf(base, separator), linesOf(proposed, separator)];
    const state = opened(own, separator);
    const chunks = chunksOfEdited(chunksOf(hunks, before, after), before, after, state.doc);
    checkApart(chunks, before, state.doc);
    assert.equal(putAllBack(state, chunks, before), base);
  });
});

/** Lines of a text without their ends. */
function wordsOf(text) {
  return text.split("\n").map((line) => line.replace(/\r$/, ""));
}

test("a line that an edit did not touch is found again, no matter what happened above it", () => {
  eachPair(({ base, proposed }) => {
    // All different: among equal lines it is undecidable which one stayed.
    const [above, under] = [base, proposed].map((text, which) => {
      return wordsOf(text).map((words, line) => `${which}.${line} ${words}\n`).join("");
    });
    const [gone, come] = [randomText(), randomText()].map((text) => text.replaceAll("\r", ""));
    const [one, other] = [`${above}${gone}\n${under}`, `${above}${come}\n${under}`];
    const [from, to] = [one, other].map((text) => linesOf(text, separatorOf(text)));
    const moved = movesBetween(from, to);
    const touched = [wordsOf(above).length - 1, wordsOf(`${above}${gone}`).length];
    const fileNames = wordsOf(one).map((words, line) => {
      const move = moved(line);
      assert.ok(move.line >= 0 && move.line < to.lines, "in the text");
      if (line >= touched[0] && line < touched[1]) return -1;
      assert.equal(move.gone, false);
      assert.equal(wordsOf(other)[move.line], words);
      return move.line;
    });
    const kept = fileNames.filter((line) => line >= 0);
    assert.deepEqual(kept, [...kept].sort((a, b) => a - b), "in the same order");
  });
});

test("a line whose words are there once before and after is found wherever it went", () => {
  eachPair(({ base, proposed }) => {
    const [before, after] = [base, proposed].map((text) => wordsOf(text));
    before.splice(below(before.length + 1), 0, "what was said is about this");
    after.splice(below(after.length + 1), 0, "what was said is about this");
    const [from, to] = [before, after].map((lines) => linesOf(lines.join("\n"), "\n"));
    const at = (lines) => lines.indexOf("what was said is about this");
    assert.deepEqual(movesBetween(from, to)(at(before)), { line: at(after), gone: false });
  });
});

test("a deleted line is reported as gone", () => {
  const [from, to] = ["a\nb\nc\nd", "a\nd"].map((text) => linesOf(text, "\n"));
  assert.deepEqual(movesBetween(from, to)(1), { line: 1, gone: true });
  assert.deepEqual(movesBetween(from, to)(3), { line: 1, gone: false });
  assert.deepEqual(movesBetween(from, linesOf("", "\n"))(3), { line: 0, gone: true });
});

test("editing begins with every line of a taken hunk where it is in the text", () => {
  eachPair(({ base, proposed, hunks, left }) => {
    const text = composed(base, proposed, hunks, left).split("\n");
    const isLeft = (line) => hunks.some((hunk) => {
      return left.has(hunk.id) && line >= hunk.afterStart && line < hunk.afterStart + hunk.afterCount;
    });
    split(proposed).forEach((words, line) => {
      const moved = movedLine(line, hunks, left);
      assert.ok(moved >= 0 && moved < text.length, "in the text");
      if (!isLeft(line)) assert.equal(text[moved], words.replace(/\n$/, ""));
    });
  });
});

/** An editor without a page: commands ask no more of one. */
function desk(text) {
  const separator = separatorOf(text);
  const extensions = [EditorState.lineSeparator.of(separator), lineEnds(separator)];
  let state = EditorState.create({ doc: linesOf(text, separator), extensions });
  return Object.create(EditorView.prototype, {
    state: { get: () => state },
    dispatch: { value: (transaction) => (state = transaction.state ?? state.update(transaction).state) },
  });
}

test("with mixed line endings, nothing typed at the end of a line splits a line ending", () => {
  eachPair(({ base }) => {
    const text = base.replace(/\r(?!\n)/g, "");
    const view = desk(text);
    const line = view.state.doc.line(1 + below(view.state.doc.lines));
    const end = text.split("\n")[line.number - 1].endsWith("\r") ? "\r\n" : "\n";
    const lines = split(text);
    const words = (lines[line.number - 1] ?? "").replace(/\r?\n$/, "");
    view.dispatch({ selection: { anchor: line.to } });
    const typed = pick(["enter", "word", "forward", "back over the next"]);
    let expected = [...lines];
    if (typed === "enter") {
      if (!sameLineEnd(view)) insertNewline(view);
      const own = separatorOf(text) === "\r\n" ? "\r\n" : end;
      expected.splice(line.number - 1, 1, words + own, (lines[line.number - 1] ?? "").slice(words.length));
    } else if (typed === "word") {
      view.dispatch(view.state.replaceSelection("z"));
      expected.splice(line.number - 1, 1, `${words}z${(lines[line.number - 1] ?? "").slice(words.length)}`);
    } else if (line.number < view.state.doc.lines) {
      if (typed === "forward") deleteCharForward(view);
      else {
        view.dispatch({ selection: { anchor: line.to + 1 } });
        deleteCharBackward(view);
      }
      expected.splice(line.number - 1, 1, words);
    }
    assert.equal(view.state.sliceDoc(), expected.join(""), `${typed} at line ${line.number}`);
    assert.ok(!/\r(?!\n)/.test(view.state.sliceDoc()), "no stray return");
  });
});
