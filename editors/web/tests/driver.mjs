// Controls a browser: one JSON object per line in, one out. Each calls a Playwright method on an object that an earlier
// response numbered. The test on the other end knows what to do and what to expect.
//
//   node driver.mjs NODE_MODULES CHROMIUM [FLAG…]
//   {"on": 0, "call": "newContext", "with": [{}]}   →  {"handle": 1}     0 is the browser
//   {"on": 1, "call": "newPage"}                    →  {"handle": 2}
//   {"on": 2, "call": "keyboard.press", "with": ["j"]}  →  {"value": null}   or {"error": "…"}
//   {"on": 1, "call": "route", "with": ["http://…", {"body": "…"}]}   answers that address from here on
//   {"on": 2, "call": "complaints"}                 →  {"value": ["…"]}   what went wrong in the page so far
//   {"on": 2, "call": "requests"}                   →  {"value": ["…"]}   every address it asked for

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [modules, executablePath, ...flags] = process.argv.slice(2);
const { chromium } = createRequire(`${modules}/`)("playwright-core");

const browser = await chromium.launch({
  executablePath,
  headless: true,
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    ...flags,
  ],
});

const things = [browser];
const seen = new Map();

/** Records a page's complaints and requests from its first moment, no matter what opened it. */
function listen(page) {
  const notes = { complaints: [], requests: [] };
  seen.set(page, notes);
  page.on("pageerror", (error) => notes.complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") notes.complaints.push(message.text());
  });
  page.on("request", (request) => notes.requests.push(request.url()));
}

const handles = new Map([[browser, 0]]);

/** Objects with methods stay here and get a number. */
function answer(value) {
  if (value === null || typeof value !== "object") return { value: value ?? null };
  if (Buffer.isBuffer(value)) return { value: null };
  if (Array.isArray(value) && value.some(hasMethods)) return { handles: value.map(number) };
  return hasMethods(value) ? { handle: number(value) } : { value };
}

function hasMethods(value) {
  return value !== null && typeof value === "object" && Object.getPrototypeOf(value) !== Object.prototype && !Array.isArray(value);
}

function number(thing) {
  if (!handles.has(thing)) {
    handles.set(thing, things.push(thing) - 1);
    if (typeof thing.newPage === "function") thing.on("page", listen);
  }
  return handles.get(thing);
}

async function carryOut(asked) {
  const thing = things[asked.on];
  if (asked.call === "complaints" || asked.call === "requests") return { value: seen.get(thing)?.[asked.call] ?? [] };
  if (asked.call === "route") return answer(await thing.route(asked.with[0], (route) => route.fulfill(asked.with[1])));
  const names = asked.call.split(".");
  const method = names.pop();
  const owner = names.reduce((part, name) => part[name], thing);
  return answer(await owner[method](...(asked.with ?? [])));
}

console.log(JSON.stringify({ value: browser.version() }));
for await (const line of createInterface({ input: process.stdin })) {
  let said;
  try {
    said = await carryOut(JSON.parse(line));
  } catch (error) {
    said = { error: error instanceof Error ? error.message : String(error) };
  }
  console.log(JSON.stringify(said));
}
await browser.close();
