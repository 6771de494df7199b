// Stepping through a game that is over, as any seat saw it or as it was.

import { el } from "./dom.js";

export class Stepper {
  constructor(table) {
    this.table = table;
    this.isOn = false;
    this.element = el("section", { class: "stepper", "aria-label": "Step through the game", hidden: true });
    this.range = el("input", { type: "range", min: "0", "aria-label": "step", oninput: (event) => this.go(Number(event.target.value)) });
    this.viewers = el("select", { "aria-label": "as seen by", onchange: () => this.go(this.step) });
    this.words = el("output", { class: "words", "aria-live": "polite" });
    this.link = el("button", { type: "button", class: "chip", onclick: () => this.copy() }, "link to this position");
  }

  offer(view) {
    if (view.num_steps === undefined) {
      this.stop();
      return;
    }
    if (this.last === view.number && this.kept === view.kept && !this.element.hidden) return;
    if (this.last !== view.number) this.stop();
    this.last = view.number;
    this.kept = view.kept;
    this.count = view.num_steps;
    const button = (words, label, run) => el("button", { type: "button", class: "plain", "aria-label": label, onclick: run }, words);
    const files = view.kept ? [el("a", { class: "chip", href: `/games/${encodeURIComponent(view.kept)}`, download: "" }, "save as a file")] : [];
    if (view.kept && this.table.info.game === "holdem_v0") files.push(el("a", { class: "chip", href: `/games/${encodeURIComponent(view.kept.replace(/\.json$/, ".phh"))}`, download: "" }, "as PHH"));
    this.range.max = String(this.count);
    this.range.value = String(this.now());
    this.viewers.replaceChildren(el("option", { value: "" }, "everything"),
      ...this.table.info.seats.map((seat, i) => el("option", { value: String(i) }, `as ${seat.name} saw it`)));
    const again = this.table.info.yours.length ? el("button", { type: "button", class: "primary", "data-again": "", onclick: () => this.table.again(false) }, "Play again") : null;
    this.element.replaceChildren(
      el("div", { class: "row" }, again, button("\u25C0", "a step back", () => this.go(this.now() - 1)), this.range, button("\u25B6", "a step on", () => this.go(this.now() + 1)), this.viewers),
      this.words, el("div", { class: "row" }, this.link, ...files));
    this.element.hidden = false;
  }

  now() { return this.isOn ? this.step : this.count; }

  begin(view, step, viewer) {
    this.offer(view);
    this.viewers.value = viewer === null ? "" : String(viewer);
    this.go(Number.isNaN(step) ? this.count : step);
  }

  go(step) {
    this.step = Math.min(Math.max(step, 0), this.count);
    this.isOn = true;
    this.range.value = String(this.step);
    const viewer = this.viewers.value === "" ? null : Number(this.viewers.value);
    this.table.say("look", { step: this.step, viewer });
  }

  look(message) {
    if (!this.isOn || message.step !== this.step) return;
    this.table.board.show(message.svg, false);
    this.table.text.textContent = message.text;
    this.table.showLayers();
    const words = message.log.map(([actor, text]) => (actor < 0 ? text : `${this.table.name(actor)}: ${text}`)).join(", ");
    this.words.textContent = `${message.step} of ${message.num_steps}${words ? ` · ${words}` : ""}`;
    if (location.hash.startsWith("#t/")) {
      history.replaceState(null, "", `#t/${this.table.id}//${this.step}/${this.viewers.value}`);
    }
  }

  async copy() {
    const where = location.hash.startsWith("#open/") ? `${location.hash.split("/").slice(0, 2).join("/")}/${this.now()}/${this.viewers.value}` : `#t/${this.table.id}//${this.now()}/${this.viewers.value}`;
    const link = `${location.origin}/${where}`;
    try {
      await navigator.clipboard.writeText(link);
      this.link.textContent = "copied";
    } catch {
      prompt("The link:", link);
    }
  }

  stop() {
    if (this.isOn && location.hash.startsWith("#t/")) history.replaceState(null, "", `#t/${this.table.id}`);
    this.isOn = false;
    this.element.hidden = true;
  }

  key(event) {
    if (this.element.hidden) return false;
    if (event.key === "ArrowLeft") this.go(this.now() - 1);
    else if (event.key === "ArrowRight") this.go(this.now() + 1);
    else if (event.key === "Home") this.go(0);
    else if (event.key === "End") this.go(this.count);
    else return false;
    return true;
  }
}
