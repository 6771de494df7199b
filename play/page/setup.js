// A new table: who sits where, and the options of the game, a form made from their schema.

import { el, picture } from "./dom.js";
import { send } from "./net.js";

export function showSetup(main, game, start) {
  const setup = new Setup(main, game, start);
  setup.ask({});
  return setup;
}

class Setup {
  constructor(main, game, start) {
    this.main = main;
    this.game = game;
    this.start = start;
    this.options = {};
    this.seats = null;
    this.error_ = el("p", { class: "error", role: "alert" });
    this.body = el("div", { class: "setup" });
    main.replaceChildren(this.body);
  }

  ask(options) {
    send({ type: "players", game: this.game, options });
  }

  error(message) {
    if (!["players", "create", "load_map"].includes(message.about) || (message.game ?? this.game) !== this.game) return false;
    if (message.about === "create") {
      this.main.replaceChildren(this.body);
      this.render();
    }
    this.error_.textContent = message.text;
    return true;
  }

  players(message) {
    this.info = message;
    this.error_.textContent = "";
    const count = message.roles.length;
    const old = this.seats ?? message.usual;
    const other = message.usual.find((seat) => seat.who === "agent") ?? message.usual[0];
    this.seats = Array.from({ length: count }, (_, i) => ({ ...(old[i] ?? other) }));
    if (!this.seats.some((seat) => seat.who !== "agent") && !this.isWatching) {
      this.seats[0] = { who: "me", agent: "" };
    }
    document.getElementById("title").textContent = message.title;
    document.title = `${message.title}: new table`;
    this.render();
  }

  render() {
    if (!this.info) return;
    const open = this.body.querySelector("details")?.open ?? false;
    const go = el("button", { type: "button", class: "primary", "data-start": "", onclick: () => this.create() }, "Play");
    const options = el("details", { open }, el("summary", {}, this.info.maps ? "Map and rules" : "Rules"), this.map(), this.presets(), this.form());
    this.body.replaceChildren(
      el("h2", {}, "Who plays?"), el("div", { class: "seats" }, ...this.seats.map((seat, i) => this.seat(seat, i))),
      options, this.error_, el("p", { class: "row" }, go, el("a", { href: "#", class: "plain" }, "Back")));
  }

  seat(seat, i) {
    const role = this.info.roles[i];
    const label = role === "player" ? `Seat ${i}` : `Seat ${i}: ${role}`;
    const value = seat.who === "agent" ? `agent ${seat.agent}` : seat.who;
    const option = (key, words) => el("option", { value: key, selected: key === value }, words);
    const kinds = { own: "Your own", rules: "Rules", run: "Trained (runs/)", search: "Search" };
    const groups = Object.entries(kinds).map(([kind, words]) => {
      const fitting = this.info.players.filter((p) => p.kind === kind && (!p.roles.length || p.roles.includes(role) || role === "player"));
      return fitting.length ? el("optgroup", { label: words }, ...fitting.map((p) => option(`agent ${p.spec}`, p.label))) : null;
    });
    const select = el("select", {
      "aria-label": label, "data-seat": String(i),
      onchange: (event) => {
        const chosen = event.target.value;
        seat.who = chosen.startsWith("agent ") ? "agent" : chosen;
        seat.agent = seat.who === "agent" ? chosen.slice(6) : "";
        seat.seconds = null;
        this.isWatching = this.seats.every((one) => one.who === "agent");
        this.render();
      },
    }, option("me", "you, at this screen"), option("guest", "a guest, by link"), ...groups.filter(Boolean));
    const card = this.info.players.find((p) => p.spec === seat.agent);
    const clock = seat.who === "agent" && card?.has_clock ? el("label", { class: "clock" }, "seconds ", el("input", {
      type: "number", min: "0.1", max: "60", step: "0.1", value: seat.seconds ?? "", placeholder: "as usual",
      onchange: (event) => { seat.seconds = event.target.value ? Number(event.target.value) : null; },
    })) : null;
    return el("div", { class: "seat-row" }, el("strong", {}, label), select, clock, el("small", {}, seat.who === "agent" ? card?.words ?? "" : ""));
  }

  // The map that the options make, another one, and one from a file of the user's own.
  map() {
    if (!this.info.picture) return el("span", {});
    const { options } = this.info;
    const file = el("input", { type: "file", accept: ".json,application/json", "data-load-map": "", onchange: (event) => this.load(event.target.files[0]) });
    const saved = options.board.startsWith(this.info.maps) ? options.board.slice(this.info.maps.length + 1) : "";
    return el("div", { class: "map" }, el("div", { class: "chart", "data-map": "" }, picture(this.info.picture)),
      el("div", { class: "row" },
        options.board === "random" ? el("button", { type: "button", "data-next-map": "", onclick: () => this.change({ map_seed: options.map_seed + 1 }) }, "Another map") : null,
        el("label", {}, "Load a map ", file),
        saved ? el("a", { class: "chip", href: `/maps/${encodeURIComponent(saved)}`, download: "" }, "save as a file") : null));
  }

  async load(file) {
    if (!file) return;
    const name = file.name.replace(/\.json$/i, "").replace(/[^\p{L}\p{N}_ -]/gu, "-").slice(0, 40);
    send({ type: "load_map", name, text: (await file.text()).slice(0, 190_000) });
  }

  maps(message) {
    if (message.saved) this.change({ board: message.saved });
  }

  presets() {
    const names = Object.keys(this.info.presets);
    if (!names.length) return el("span", {});
    return el("p", { class: "chips", role: "group", "aria-label": "Rules by name" },
      el("button", { type: "button", class: "chip", onclick: () => this.change({}, true) }, "as usual"),
      ...names.map((name) => el("button", { type: "button", class: "chip", onclick: () => this.change(this.info.presets[name], true) }, name.replaceAll("_", " "))));
  }

  change(options, isFresh) {
    this.options = isFresh ? { ...options } : { ...this.options, ...options };
    this.ask(this.options);
  }

  form() {
    const fields = Object.entries(this.info.schema.properties).map(([name, schema]) => field(name, schema, this.info.options[name], (value) => this.change({ [name]: value })));
    return el("div", { class: "options" }, ...fields);
  }

  create() {
    const seats = this.seats.map((seat) => {
      const choice = { who: seat.who };
      if (seat.who === "agent") choice.agent = seat.agent;
      if (seat.who === "agent" && seat.seconds) choice.seconds = seat.seconds;
      return choice;
    });
    this.start({ type: "create", game: this.game, options: this.options, seats });
  }
}

// ---- one option ----------------------------------------------------------------------------------

function field(name, schema, value, onChange) {
  const ways = schema.anyOf ?? [schema];
  const choices = ways.flatMap((way) => way.enum ?? []);
  const range = ways.find((way) => way.type === "integer" || way.type === "number");
  const isList = ways.some((way) => way.type === "array");
  const id = `option-${name}`;
  let input;
  if (ways.some((way) => way.type === "boolean")) {
    input = el("input", { id, type: "checkbox", checked: value === true, onchange: (event) => onChange(event.target.checked) });
  } else if (choices.length && !range) {
    input = el("select", { id, onchange: (event) => onChange(event.target.value) },
      ...choices.map((choice) => el("option", { value: choice, selected: choice === value }, String(choice))));
  } else if (range && !isList && !choices.length && value !== null) {
    input = el("input", {
      id, type: "number", min: String(range.minimum), max: String(range.maximum), step: range.type === "integer" ? "1" : "any",
      value: String(value), onchange: (event) => onChange(Number(event.target.value)),
    });
  } else if (schema.examples?.length && !isList && !range) {
    const names = [...new Set([...schema.examples, value])];
    input = el("select", { id, onchange: (event) => onChange(event.target.value) },
      ...names.map((one) => el("option", { value: one, selected: one === value }, one.split("/").at(-1).replace(/\.json$/, ""))));
  } else {
    const examples = schema.examples ?? choices;
    const list = examples.length ? el("datalist", { id: `${id}-list` }, ...examples.map((one) => el("option", { value: String(one) }))) : null;
    input = el("span", {}, el("input", {
      id, type: "text", value: value === null ? "" : [value].flat().join(", "), list: list ? `${id}-list` : undefined,
      onchange: (event) => onChange(read(event.target.value, isList)),
    }), list);
  }
  return el("div", { class: "option" }, el("label", { for: id }, name.replaceAll("_", " ")), input, el("small", {}, schema.description ?? ""));
}

function read(text, isList) {
  const one = (part) => (part !== "" && !Number.isNaN(Number(part)) ? Number(part) : part);
  const parts = text.split(",").map((part) => one(part.trim()));
  if (text.trim() === "") return null;
  return isList && parts.length > 1 ? parts : parts[0];
}
