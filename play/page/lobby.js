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
    el("p", {}, game.words),
    el("a", { href: `#new/${game.id}`, "data-setup": game.id }, "players and rules …")));
  const parts = [el("h2", { class: "lead" }, "Which game?"), el("div", { class: "cards" }, ...cards)];
  if (lobby.files.length) parts.push(files(lobby.files));
  main.replaceChildren(...parts);
}

function files(rows) {
  const items = rows.map((row) => {
    const names = row.names.map((name, seat) => `${name} ${signed(row.returns[seat])}`).join(", ");
    return el("li", {}, el("a", { href: `#open/${encodeURIComponent(row.name)}` }, row.title), el("span", {}, ` ${names}`));
  });
  return el("details", { class: "files" }, el("summary", {}, `Games that were kept (${rows.length})`), el("ul", {}, ...items));
}
