#!/usr/bin/env node
// A player in a process of its own, in JavaScript: random legal moves, from the seed of each row.
// The protocol is in docs/external_players.md.
//
//   python evaluate.py tournament kuhn_v0 random external:examples/external_player.js
"use strict";

const lines = require("node:readline").createInterface({ input: process.stdin });

function choose(row) {
  return row.legal[row.seed % row.legal.length];
}

lines.on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "hello") {
    console.log(JSON.stringify({ protocol: 1, name: "JavaScript", wants: [], max_rows: 64 }));
  } else if (message.type === "act") {
    console.log(JSON.stringify({ id: message.id, actions: message.rows.map(choose) }));
  } else {
    process.exit(0);
  }
});
