// Every legal action as a button in words with a key; a slider for amounts.

import { el } from "./dom.js";

const MANY = 9;
const FEW = 4;

export class Choices {
  constructor(onAction, board) {
    this.onAction = onAction;
    this.board = board;
    this.element = el("section", { class: "choices", "aria-label": "Your move" });
    this.byCode = new Map();
    this.typed = "";
  }

  show(choices, isLive) {
    this.byCode.clear();
    this.typed = "";
    this.items = isLive ? choices : [];
    this.kind = null;
    this.board.setFilter(null);
    this.render();
  }

  render() {
    const kinds = groups(this.items);
    const shown = this.items.filter((item) => !this.kind || kindOf(item) === this.kind);
    this.byCode.clear();
    const digits = String(shown.length).length;
    const parts = [];
    if (kinds.length) parts.push(this.chips(kinds));
    const list = el("div", { class: this.items.length > 24 ? "buttons many" : "buttons" });
    let place = 0;
    for (const item of shown) {
      if (item.last !== undefined) {
        parts.push(this.slider(item));
        continue;
      }
      place += 1;
      const code = shown.length > MANY ? String(place).padStart(digits, "0") : String(place);
      this.byCode.set(code, item.action);
      list.append(this.button(item, code));
    }
    if (list.children.length) parts.push(list);
    this.element.replaceChildren(...parts);
    this.element.hidden = parts.length === 0;
  }

  button(item, code) {
    const light = (isOn) => () => this.board.point(item.action, isOn);
    return el("button", {
      type: "button", class: "choice", "data-choice": String(item.action), "aria-keyshortcuts": code,
      onclick: () => this.onAction(item.action),
      onfocus: light(true), onblur: light(false), onpointerenter: light(true), onpointerleave: light(false),
    }, el("span", {}, item.words), el("kbd", { "aria-hidden": "true" }, code));
  }

  chips(kinds) {
    const chip = (name, label) => el("button", {
      type: "button", class: "chip", "aria-pressed": String(this.kind === name),
      onclick: () => this.choose(name),
    }, label);
    return el("div", { class: "chips", role: "group", "aria-label": "Show only" },
      chip(null, "all"), ...kinds.map((kind) => chip(kind, kind)));
  }

  choose(kind) {
    this.kind = kind;
    const of = this.items.filter((item) => !kind || kindOf(item) === kind);
    this.board.setFilter(kind ? new Set(of.map((item) => item.action)) : null);
    this.render();
  }

  // Amounts: the slider goes by steps that grow, as chips do; the field takes every one.
  slider(item) {
    const low = item.amount;
    const high = item.amount + (item.last - item.action);
    const field = el("input", { type: "number", min: String(low), max: String(high), value: String(low), "aria-label": `${item.words.replace("{}", "")} (${low} to ${high})` });
    const range = el("input", { type: "range", min: "0", max: "200", value: "0", "aria-label": "amount" });
    const go = el("button", { type: "button", class: "choice", "data-range": String(item.action) });
    const amount = () => Math.round(Math.min(high, Math.max(low, Number(field.value) || low)));
    const label = () => go.replaceChildren(el("span", {}, item.words.replace("{}", String(amount()))));
    range.addEventListener("input", () => {
      const share = Number(range.value) / 200;
      const value = low > 0 ? low * (high / low) ** share : low + (high - low) * share;
      const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(value, 1))) - 1);
      field.value = String(share === 0 ? low : share === 1 ? high : Math.min(high, Math.max(low, Math.round(value / step) * step)));
      label();
    });
    field.addEventListener("input", label);
    const play = () => this.onAction(item.action + amount() - low);
    field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") play();
    });
    go.addEventListener("click", play);
    label();
    return el("div", { class: "amount" }, range, field, go);
  }

  // ---- keyboard ----------------------------------------------------------------------------------

  key(event) {
    if (/^\d$/.test(event.key) && this.byCode.size) {
      const typed = this.typed + event.key;
      const codes = [...this.byCode.keys()];
      if (this.byCode.has(typed)) {
        this.typed = "";
        this.mark("");
        this.onAction(this.byCode.get(typed));
      } else if (codes.some((code) => code.startsWith(typed))) {
        this.typed = typed;
        this.mark(typed);
      } else {
        this.typed = "";
        this.mark("");
      }
      return true;
    }
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    if (event.key in steps && this.element.contains(document.activeElement)) {
      const buttons = [...this.element.querySelectorAll("button.choice")];
      const place = buttons.indexOf(document.activeElement);
      if (place >= 0) {
        buttons[(place + steps[event.key] + buttons.length) % buttons.length].focus();
        return true;
      }
    }
    if (event.key === "Escape" && this.typed) {
      this.typed = "";
      this.mark("");
      return true;
    }
    return false;
  }

  mark(typed) {
    for (const button of this.element.querySelectorAll("button.choice")) {
      const code = button.getAttribute("aria-keyshortcuts") ?? "";
      button.classList.toggle("typed", typed !== "" && code.startsWith(typed));
    }
  }
}

function kindOf(item) {
  return item.words.split(" ")[0];
}

function groups(items) {
  if (items.length < FEW) return [];
  const kinds = [...new Set(items.map(kindOf))];
  const isMany = (kind) => items.filter((item) => kindOf(item) === kind).length > 1;
  const isUseful = kinds.filter(isMany).length > 1 && kinds.length <= 7 && kinds.length < items.length;
  return isUseful && kinds.every((kind) => /^[a-z]/i.test(kind)) ? kinds : [];
}
