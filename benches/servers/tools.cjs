// What the servers in Node have in common: the text that a call is answered with, and how they say where they are.
"use strict";

const text = process.argv[2];

module.exports = {
  folders: () => ({ content: [{ type: "text", text }] }),
  echo: ({ text }) => ({ content: [{ type: "text", text }] }),
  tell: (port) => console.log(port),
};
process.stdin.resume().on("end", () => process.exit(0));
