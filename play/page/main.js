// The page: which part of it is shown follows the part of the address behind the #.

import { dropToasts, el, toast } from "./dom.js";
import { showLobby, showTournament } from "./lobby.js";
import { connect, keepKey, keyOf, on, send } from "./net.js";
import { showSetup } from "./setup.js";
import { TableView } from "./table.js";

const main = document.getElementById("main");
const title = document.getElementById("title");
const tools = document.getElementById("tools");
// What is awaited: a table of a game, one that is known, or a file; whatever else comes is for later.
const app = { lobby: null, view: null, awaited: null, pending: null };

function route() {
  const [where, ...rest] = location.hash.slice(1).split("/").map(decodeURIComponent);
  app.view?.close?.();
  app.view = null;
  app.awaited = null;
  app.pending = null;
  dropToasts("");
  title.textContent = "";
  tools.replaceChildren();
  if (where === "t" && rest[0]) openTable(rest[0], rest[1] ?? "", rest.slice(2));
  else if (where === "new" && rest[0]) openSetup(rest[0]);
  else if (where === "tournament" && rest[0]) {
    title.textContent = "Tournament";
    wait("Reading the tournament");
    app.awaited = { name: rest[0] };
    send({ type: "tournament", name: rest[0] });
  } else if (where === "open" && rest[0]) {
    app.pending = rest.slice(1);
    wait("Opening the game");
    app.awaited = { name: rest[0] };
    send({ type: "open", name: rest[0] });
  } else {
    document.title = "Masquerade";
    title.textContent = "All games";
    if (app.lobby) showLobby(main, app.lobby, start);
    send({ type: "lobby" });
  }
}

function wait(words) {
  main.replaceChildren(el("p", { class: "empty", role: "status" }, el("span", { class: "spinner", "aria-hidden": "true" }), ` ${words} …`));
}

function start(message) {
  wait("Setting up the table");
  app.awaited = { game: message.game, name: undefined };
  send(message);
}

function isAwaited(message) {
  return app.awaited !== null && Object.entries(app.awaited).every(([name, value]) => message[name] === value);
}

function openTable(table, invite, place) {
  app.awaited = { table };
  app.pending = place;
  if (app.view?.id !== table) wait("Coming to the table");
  send({ type: "join", table, key: keyOf(table), invite });
}

function openSetup(game) {
  app.view = showSetup(main, game, start);
}

// ---- what the server says ------------------------------------------------------------------------

on("open", () => {
  document.getElementById("offline").hidden = true;
  if (app.view instanceof TableView) {
    send({ type: "join", table: app.view.id, key: keyOf(app.view.id) });
  } else route();
});
on("closed", () => { document.getElementById("offline").hidden = false; });
on("error", (message) => {
  const isAbout = message.table && message.about !== "join";
  // Of a table or a game that is not shown any more nobody wants to hear.
  if (isAbout && !(app.view instanceof TableView && app.view.isAbout(message))) return;
  if (app.view?.error?.(message)) return;
  toast(message.text, null, isAbout ? app.view.about() : "");
  // What has failed may have been left for something else, such as a game in play.
  if (!isAwaited(message) && !(message.table && app.view?.id === message.table)) return;
  if (["join", "open", "tournament"].includes(message.about)) {
    main.replaceChildren(el("p", { class: "empty" }, message.text), el("p", { class: "empty" }, el("a", { class: "button", href: "#" }, "All games")));
  } else if (message.about === "create" && app.lobby && !app.view) showLobby(main, app.lobby, start);
});
on("lobby", (message) => {
  app.lobby = message;
  if (location.hash === "#first" && message.first) {
    history.replaceState(null, "", "#");
    start(message.first);
  } else if (["", "#", "#main"].includes(location.hash)) showLobby(main, message, start);
});
on("compiling", (message) => {
  if (message.game !== (app.awaited?.game ?? app.view?.game)) return;
  const line = main.querySelector("[data-compiling]");
  const words = `Compiling ${message.title} for the first time on this machine: ${message.done} of ${message.total} files.`;
  const bar = el("progress", { max: message.total, value: message.done, "aria-label": "compiled" });
  const parts = [el("p", { role: "status" }, words), bar, el("p", {}, "This happens once and takes a minute or so. Meanwhile other games can be opened; this one goes on being made.")];
  if (line) line.replaceChildren(...parts);
  else if (!(app.view instanceof TableView)) main.querySelector(".empty, .setup")?.prepend(el("div", { class: "compiling", "data-compiling": "" }, ...parts));
});
on("tournament", (message) => { if (isAwaited({ name: message.folder })) showTournament(main, message); });
on("maps", (message) => { if (!message.table || app.view?.id === message.table) app.view?.maps?.(message); });
on("players", (message) => { if (app.view?.game === message.game) app.view.players(message); });
on("joined", (message) => {
  keepKey(message.table, message.key);
  if (app.view instanceof TableView && app.view.id === message.table) {
    app.view.invites = { ...app.view.invites, ...message.invites };
    app.view.isBack = true;
    app.view.learn.lost();
    return;
  }
  if (!isAwaited(message)) {
    toast(`A table of ${app.lobby?.games.find((game) => game.id === message.game)?.title ?? message.game} is ready.`, `#t/${message.table}`);
    return;
  }
  app.awaited = null;
  app.view?.close?.();
  app.view = new TableView(message.table, message.invites, { main, title, tools }, app.pending ?? []);
  app.pending = null;
  const here = `#t/${message.table}`;
  if (!location.hash.startsWith("#open/")) history.replaceState(null, "", here);
});
for (const type of ["table", "view", "hint", "look", "review", "learnt", "advisers", "rules"]) {
  on(type, (message) => {
    if (!(app.view instanceof TableView)) return;
    // Answers are about the game they were asked in; the table and its views tell which one is on.
    const isAnswer = ["hint", "look", "review", "learnt"].includes(type);
    if (isAnswer ? app.view.isAbout(message) : app.view.id === message.table) app.view[type](message);
  });
}

window.addEventListener("hashchange", () => {
  const [where, table] = location.hash.slice(1).split("/");
  // Our own notes of a step in the address change nothing.
  if (where === "t" && app.view?.id === table) return;
  if (where === "main") return;
  route();
});
document.addEventListener("keydown", (event) => {
  const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "?") {
    showHelp();
    event.preventDefault();
  } else if (app.view?.key?.(event)) event.preventDefault();
});

function showHelp() {
  const rows = app.view?.help?.() ?? [["Tab, Enter", "choose a game"], ["?", "this list"]];
  document.getElementById("help-list").replaceChildren(
    ...rows.flatMap(([keys, words]) => [el("dt", {}, el("kbd", {}, keys)), el("dd", {}, words)]));
  document.getElementById("help").showModal();
}

connect();
