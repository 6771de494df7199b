// Hints while playing, and a review of one's own decisions at the end.

import { el, number } from "./dom.js";
import { Viewer } from "./viewer.js";

export class Learn {
  constructor(table) {
    this.table_ = table;
    this.select = el("select", { "aria-label": "Who gives advice" });
    this.button = el("button", { type: "button", "data-tool-hint": "", onclick: () => this.ask() }, "Hint ", el("kbd", { "aria-hidden": "true" }, "h"));
    this.learnt = el("button", { type: "button", class: "plain", "data-learnt": "", onclick: () => this.askLearnt() }, "What it has learnt ", el("kbd", { "aria-hidden": "true" }, "l"));
    this.viewer = new Viewer();
    this.body = el("div", { class: "advice", "aria-live": "polite" });
    this.element = el("section", { class: "learn", "aria-label": "Advice" }, el("div", { class: "row" }, this.button, this.select, this.learnt), this.body, this.viewer.element);
    this.element.hidden = true;
  }

  table(info) {
    // Who watches or opens a game of others can ask, too, but has no moves for a hint or a review.
    this.button.hidden = !info.yours.length;
    this.element.hidden = false;
    this.advisers ??= [];
    this.learnt.disabled = !this.advisers.length;
  }

  list(advisers) {
    this.advisers = advisers;
    this.learnt.disabled = false;
    const wanted = localStorage.getItem(`adviser ${this.table_.info.game}`) ?? this.select.value;
    this.select.replaceChildren(...advisers.map((p) => el("option", { value: p.spec, selected: p.spec === wanted }, p.label)));
    if (this.view) this.turn(this.view, this.table_.isMine());
    this.select.onchange = () => localStorage.setItem(`adviser ${this.table_.info.game}`, this.select.value);
  }

  turn(view, isMine) {
    if (this.view && this.view.number !== view.number) this.viewer.element.close();
    this.view = view;
    this.button.disabled = !this.advisers.length || (!isMine && view.to_move !== -2);
    this.button.firstChild.textContent = view.to_move === -2 ? "Review my moves " : "Hint ";
    if (this.shown !== `${view.number} ${view.turn}`) this.clear();
  }

  clear() {
    this.body.replaceChildren();
    this.shown = "";
  }

  ask() {
    if (!this.table_.info.yours.length || this.button.disabled) return false;
    const agent = this.select.value;
    const seat = this.table_.seat ?? this.table_.info.yours[0];
    const isOver = this.view.to_move === -2;
    this.shown = `${this.view.number} ${this.view.turn}`;
    this.body.replaceChildren(el("p", {}, el("span", { class: "spinner", "aria-hidden": "true" }), isOver ? " looking at your moves …" : " thinking …"));
    this.table_.say(isOver ? "review" : "hint", { seat, agent });
    return true;
  }

  askLearnt() {
    if (!this.advisers.length) return false;
    const { stepper, seat, info } = this.table_;
    const message = { agent: this.select.value };
    if (this.view.to_move === -2) message.step = stepper.now();
    else if (info.yours.length) message.seat = seat;
    this.asked = message.agent;
    this.viewer.open(label(this, message.agent));
    this.table_.say("learnt", message);
    return true;
  }

  failed(text) {
    this.body.replaceChildren(el("p", { class: "error" }, text));
  }

  // We are back after a break, in which no answer has come.
  lost() {
    for (const place of [this, this.viewer]) {
      if (place.body.querySelector(".spinner")) place.failed("The answer was lost with the connection: ask again.");
    }
  }

  exhibits(message) {
    if (message.agent === this.asked) this.viewer.show(message.exhibits);
  }

  hint(message) {
    if (message.turn !== this.view.turn) return;
    const sources = { policy: "plays", search: "looks most at", samples: "chose when asked many times", choice: "would play" };
    const top = message.bars.slice(0, 8);
    const hasValues = top.some((bar) => bar.value !== null);
    const rows = top.map((bar) => el("tr", {},
      el("th", { scope: "row" }, el("button", { type: "button", class: "chip", onclick: () => this.table_.play(bar.action),
        onpointerenter: () => this.table_.board.point(bar.action, true), onpointerleave: () => this.table_.board.point(bar.action, false) }, bar.words)),
      el("td", { class: "bar" }, el("span", { style: `width:${(100 * bar.share).toFixed(1)}%` })),
      el("td", {}, `${(100 * bar.share).toFixed(bar.share < 0.1 && bar.share > 0 ? 1 : 0)} %`),
      hasValues ? el("td", {}, number(bar.value)) : null));
    this.body.replaceChildren(el("table", { class: "bars" },
      el("caption", {}, `What ${label(this, message.agent)} ${sources[message.source]}${hasValues ? `; values in ${message.unit}` : ""}`),
      el("tbody", {}, ...rows)));
  }

  review(message) {
    if (message.turn !== this.view.turn) return;
    if (!message.verdicts.length) {
      this.body.replaceChildren(el("p", {}, "You had nothing to decide."));
      return;
    }
    const hasCosts = message.verdicts.some((v) => v.cost !== null);
    const rows = message.verdicts.map((v) => {
      const isSame = v.words === v.best || v.share >= 0.3;
      return el("tr", { class: isSame ? "same" : "other" },
        el("th", { scope: "row" }, v.words),
        el("td", {}, isSame ? `✓ ${percent(v.share)}` : `${percent(v.share)}; rather ${v.best} ${percent(v.best_share)}`),
        hasCosts ? el("td", {}, v.cost === null ? "" : number(v.cost, 2)) : null);
    });
    const total = message.verdicts.reduce((sum, v) => sum + (v.cost ?? 0), 0);
    const agreed = message.verdicts.filter((v) => v.words === v.best).length;
    const words = `${agreed} of ${message.verdicts.length} moves as ${label(this, message.agent)} would most likely play`;
    this.body.replaceChildren(el("table", { class: "verdicts" },
      el("caption", {}, hasCosts ? `${words}; they cost ${number(total, 2)} ${message.unit} in all` : words),
      el("tbody", {}, ...rows)));
  }
}

function percent(share) {
  return `${Math.round(100 * share)} %`;
}

function label(learn, spec) {
  return learn.advisers.find((p) => p.spec === spec)?.label ?? spec;
}
