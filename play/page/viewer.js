// What an agent has learnt: pictures and tables that the server has made.

import { el, picture } from "./dom.js";

export class Viewer {
  constructor() {
    this.body = el("div", { class: "exhibits", "aria-live": "polite" });
    this.title = el("h2", { id: "viewer-title" });
    this.element = el("dialog", { class: "viewer", "aria-labelledby": "viewer-title" },
      this.title, this.body, el("form", { method: "dialog" }, el("button", { class: "plain" }, "Close")));
  }

  open(name) {
    this.title.textContent = `What ${name} has learnt`;
    this.body.replaceChildren(el("p", {}, el("span", { class: "spinner", "aria-hidden": "true" }), " asking …"));
    if (!this.element.open) this.element.showModal();
  }

  show(exhibits) {
    const isWide = (one) => Number(/viewBox="0 0 (\d+)/.exec(one.svg)?.[1] ?? 0) > 800;
    const parts = exhibits.map((one) => el("section", { class: isWide(one) ? "exhibit wide" : "exhibit" }, el("h3", {}, one.title), one.words ? el("p", {}, one.words) : null,
      one.svg ? el("div", { class: "chart", tabindex: isWide(one) ? "0" : undefined, role: isWide(one) ? "region" : undefined, "aria-label": isWide(one) ? one.title : undefined }, picture(one.svg)) : null, one.rows.length ? grid(one) : null));
    this.body.replaceChildren(...(parts.length ? parts : [el("p", {}, "Nothing that it can show: it plays by rules, or thinks anew each time.")]));
  }

  failed(text) {
    this.body.replaceChildren(el("p", { class: "error" }, text));
  }
}

function grid(exhibit) {
  const [head, ...rows] = exhibit.rows;
  const table = el("table", {}, el("thead", {}, el("tr", {}, ...head.map((word) => el("th", { scope: "col" }, word)))),
    el("tbody", {}, ...rows.map(([first, ...rest]) => el("tr", {}, el("th", { scope: "row" }, first), ...rest.map((word) => el("td", {}, word))))));
  return exhibit.svg ? el("details", {}, el("summary", {}, "in numbers"), table) : table;
}
