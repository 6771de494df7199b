// All games as cards, and games that were kept.

import { el, signed } from "./dom.js";

export function showLobby(main, lobby, start) {
  const cards = lobby.games.map((game) => el("article", { class: "card" },
    el("button", {
      class: "cover", type: "button", "data-play": game.id, "aria-label": `Play ${game.title}`,
      onclick: () => start({ type: "create", game: game.id }),
    },
    el("img", { src: `/pictures/${game.id}.svg`, alt: "", loading: "lazy" }),
    el("span", { class: "go" }, "Play")),
    el("h2", {}, game.title),
    el("p", {}, game.words, lobby.cold.includes(game.id) ? el("em", { class: "cold" }, " Being compiled, once.") : null),
    el("a", { href: `#new/${game.id}`, "data-setup": game.id }, "players and rules …")));
  const parts = [el("h2", { class: "lead" }, "Which game?"), el("div", { class: "cards" }, ...cards)];
  if (lobby.files.length) parts.push(files(lobby.files));
  if (lobby.tournaments.length) parts.push(tournaments(lobby.tournaments));
  // News of the lobby must not close a list under the hand that has just opened it.
  const open = [...main.querySelectorAll("details[open]")].map((list) => list.className);
  main.replaceChildren(...parts);
  for (const list of main.querySelectorAll("details")) list.open = open.includes(list.className);
}

function files(rows) {
  const items = rows.map((row) => {
    const names = row.names.map((name, seat) => `${name} ${signed(row.returns[seat])}`).join(", ");
    return el("li", {}, el("a", { href: `#open/${encodeURIComponent(row.name)}` }, row.title), el("span", {}, ` ${names}`));
  });
  return el("details", { class: "files" }, el("summary", {}, `Games that were kept (${rows.length})`), el("ul", {}, ...items));
}

function tournaments(rows) {
  const items = rows.map((row) => el("li", {}, el("a", { href: `#tournament/${encodeURIComponent(row.name)}` }, row.name),
    el("span", {}, ` ${row.title}: ${row.players.join(", ")}`)));
  return el("details", { class: "files tournaments" }, el("summary", {}, `Tournaments (${rows.length})`), el("ul", {}, ...items));
}

// The games of one tournament: samples, and any other by who met whom and the number of the deal.
export function showTournament(main, about) {
  const open = (name) => { location.hash = `#open/${encodeURIComponent(name)}`; };
  const items = about.samples.map((game) => el("li", {},
    el("a", { href: `#open/${encodeURIComponent(game.name)}` }, `deal ${game.deal}`), el("span", {}, ` ${game.players.join(", ")}`)));
  const tables = el("select", { "aria-label": "Who sits where", "data-tables": "" }, ...about.groups.flatMap((seatings, group) =>
    seatings.map((names, seating) => el("option", { value: `${group} ${seating}` }, names.join(", ")))));
  const deal = el("input", { type: "number", min: "0", max: String(about.deals - 1), value: "0", "aria-label": `Deal, 0 to ${about.deals - 1}` });
  const go = el("button", { type: "button", class: "primary", "data-open-game": "", onclick: () => {
    const [group, seating] = tables.value.split(" ");
    open(`tournament:${about.folder}/${group}/${deal.value || 0}/${seating}`);
  } }, "Open");
  main.replaceChildren(el("h2", { class: "lead" }, about.folder), el("p", {}, `${about.title}, ${about.deals} deals for every seating`),
    el("div", { class: "row" }, tables, el("label", {}, "deal ", deal), go),
    el("h2", {}, "Sample games"), el("ul", { class: "files samples" }, ...items),
    el("p", {}, el("a", { class: "plain", href: "#" }, "Back")));
}
