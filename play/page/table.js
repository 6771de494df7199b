// One table: the board, the choices, who sits where, the game so far.

import { Board } from "./board.js";
import { Choices } from "./choices.js";
import { dropToasts, el, number, signed, toast } from "./dom.js";
import { Learn } from "./learn.js";
import { send } from "./net.js";
import { Stepper } from "./stepper.js";

const OVER = -2;
const CHANCE = -1;

export class TableView {
  constructor(id, invites, places, pending) {
    this.id = id;
    this.invites = invites;
    this.places = places;
    this.pending = pending;
    this.views = new Map();
    this.seat = null;
    this.shownFor = undefined;
    this.sent = null;
    this.isBack = false;
    this.board = new Board((action) => this.play(action));
    this.choices = new Choices((action) => this.play(action), this.board);
    this.learn = new Learn(this);
    this.stepper = new Stepper(this);
    this.status = el("p", { class: "status", role: "status", "aria-live": "polite" });
    this.people = el("ol", { class: "people", "aria-label": "Players" });
    this.log = el("ol", { class: "log", "aria-label": "The game so far", tabindex: "0" });
    this.figures = el("div", { class: "figures" });
    this.layers = el("div", { class: "chips layers", role: "group", "aria-label": "Show" });
    this.text = el("pre", { class: "sr-only", "aria-label": "The board in words" });
    this.rules_ = el("details", { class: "rules", hidden: true });
    this.render();
  }

  render() {
    const side = el("aside", {},
      this.people, this.figures, this.learn.element,
      el("h2", {}, "The game so far"), el("div", { role: "log", "aria-label": "The game so far" }, this.log), this.rules_);
    this.places.main.replaceChildren(el("div", { class: "table" },
      el("div", { class: "play" }, el("div", { class: "row bar-row" }, this.status, this.layers, this.board.tools), this.board.element, this.text, this.choices.element, this.stepper.element), side));
    this.places.main.focus({ preventScroll: true });
  }

  close() {
    this.stepper.stop();
  }

  // ---- messages ----------------------------------------------------------------------------------

  table(message) {
    this.info = message;
    this.places.title.textContent = message.title;
    this.tools();
    this.showPeople();
    this.showFigures(message.statistics);
    this.learn.table(message);
  }

  view(message) {
    if (this.number !== message.number) this.anew(message.number);
    this.views.set(message.seat, message);
    if (this.sent?.seat === message.seat) this.follow(message);
    if (message.statistics) this.showFigures(message.statistics);
    this.choose();
  }

  // Another game, perhaps in other seats, whoever began it: nothing of the last one stays.
  anew(number) {
    if (this.number !== undefined) this.pending = [];
    this.number = number;
    this.views.clear();
    this.shownFor = undefined;
    this.sent = null;
    dropToasts(this.about());
  }

  hint(message) { this.learn.hint(message); }
  review(message) { this.learn.review(message); }
  advisers(message) { this.learn.list(message.advisers); }
  rules(message) {
    this.rules_.hidden = !message.rules.length;
    this.rules_.replaceChildren(el("summary", {}, "Rules"), ...message.rules.map((words) => el("p", {}, words)));
  }

  look(message) { this.stepper.look(message); }
  learnt(message) { this.learn.exhibits(message); }

  about() { return `${this.id} ${this.number}`; }
  isAbout(message) { return message.table === this.id && (message.number ?? this.number) === this.number; }
  say(type, message) { send({ type, table: this.id, number: this.number, ...message }); }

  // Where we come back and the table stands as when we moved, the move was lost on its way.
  follow(view) {
    const isLost = this.isBack && view.number === this.sent.number && view.turn === this.sent.turn && view.to_move === view.seat;
    if (isLost) send(this.sent);
    else this.sent = null;
    this.isBack = false;
  }

  error(message) {
    if (message.about === "move") this.sent = null;
    if (message.about === "hint" || message.about === "review") {
      this.learn.failed(message.text);
      return true;
    }
    if (message.about === "learnt") {
      this.learn.viewer.failed(message.text);
      return true;
    }
    if (message.about === "move") {
      toast(message.text, null, this.about());
      this.show();
      return true;
    }
    return false;
  }

  // Whose eyes: of several own seats the one that is to move.
  choose() {
    const own = [...this.views.keys()];
    const mover = own.find((seat) => seat !== null && this.views.get(seat).to_move === seat);
    const seat = mover ?? (this.views.has(this.seat) ? this.seat : own[0]);
    const isOther = own.length > 1 && mover !== undefined && mover !== this.shownFor && this.shownFor !== undefined && !this.isOver();
    this.seat = seat;
    if (isOther) {
      this.board.cover(`Now it is the turn of ${this.name(seat)}.`, "Show the table", () => this.show());
      this.choices.show([], false);
    } else this.show();
    if (mover !== undefined) this.shownFor = mover;
  }

  current() { return this.views.get(this.seat); }
  isOver() { return this.current()?.to_move === OVER; }
  isMine() { const view = this.current(); return view !== undefined && view.seat !== null && view.to_move === view.seat; }
  name(seat) { return seat === CHANCE ? "chance" : this.info?.seats[seat]?.name ?? `Player ${seat}`; }

  // ---- showing -----------------------------------------------------------------------------------

  show() {
    const view = this.current();
    if (!view) return;
    if (this.pending.length && view.to_move === OVER) {
      const [step, viewer] = this.pending;
      this.pending = [];
      this.stepper.begin(view, Number(step), viewer === undefined || viewer === "" ? null : Number(viewer));
    }
    const isMine = this.isMine();
    document.title = `${isMine ? "● " : ""}${this.info.title}`;
    if (!this.stepper.isOn) {
      this.board.show(view.svg, isMine);
      this.showLog(view.log);
      this.text.textContent = view.text;
    }
    this.choices.show(view.choices, isMine);
    this.showStatus(view, isMine);
    this.showPeople();
    this.showLayers();
    this.tools();
    this.learn.turn(view, isMine);
    this.stepper.offer(view);
  }

  showStatus(view, isMine) {
    let words;
    let kind = "";
    if (view.to_move === OVER) {
      [words, kind] = this.endWords(view);
    } else if (isMine) {
      words = this.views.size > 1 ? `${this.name(view.seat)}, your turn` : "Your turn";
      kind = "mine";
    } else {
      const who = this.info.seats[view.to_move];
      words = who?.is_waiting ? `Waiting for ${who.name} to come` : `${this.name(view.to_move)} ${who?.agent ? "is thinking" : "is to move"} …`;
    }
    this.status.className = `status ${kind}`;
    this.status.textContent = words;
    this.startClock(view);
  }

  endWords(view) {
    if (view.fault) return [`${this.name(view.fault[0])} forfeits: ${view.fault[1]}`, "over"];
    if (view.seat === null) {
      const results = view.returns.map((value, seat) => `${this.name(seat)} ${signed(value)}`);
      return [`The end: ${results.join(", ")}`, "over"];
    }
    const own = view.returns[view.seat];
    const best = Math.max(...view.returns);
    const isZeroSum = Math.min(...view.returns) < 0;
    const verdict = isZeroSum ? (own > 0 ? "You win" : own < 0 ? "You lose" : "A draw") : own === best ? "You win" : "The end";
    const kind = verdict === "A draw" ? "" : own > 0 || own === best ? " good" : " bad";
    return [`${verdict}: ${signed(own)}`, `over${kind}`];
  }

  // Thinking time of whoever is to move.
  startClock(view) {
    clearInterval(this.clock);
    if (view.to_move === OVER) return;
    const began = performance.now();
    const clock = el("span", { class: "seconds", "aria-hidden": "true" });
    this.status.append(" ", clock);
    this.clock = setInterval(() => {
      const seconds = Math.floor((performance.now() - began) / 1000);
      if (seconds >= 3) clock.textContent = `${seconds} s`;
      if (!this.status.isConnected) clearInterval(this.clock);
    }, 1000);
  }

  showPeople() {
    if (!this.info) return;
    const view = this.current();
    this.people.replaceChildren(...this.info.seats.map((seat, i) => {
      const isYours = this.info.yours.includes(i);
      const isNow = view?.to_move === i;
      const role = seat.role === "player" ? "" : seat.role;
      const result = view?.returns ? el("b", {}, signed(view.returns[i])) : null;
      const link = this.invites[i] && seat.is_waiting ? this.inviteLink(i) : null;
      return el("li", { class: isNow ? "now" : "", "aria-current": isNow ? "true" : undefined },
        el("span", { class: "number", "aria-hidden": "true" }, String(i)),
        el("span", { class: "who" }, seat.name, isYours && seat.name !== "You" ? " (you)" : "", role ? el("small", {}, ` ${role}`) : null), result, link);
    }));
  }

  inviteLink(seat) {
    const link = `${location.origin}/#t/${this.id}/${this.invites[seat]}`;
    return el("button", {
      type: "button", class: "chip", "data-invite": link,
      onclick: async () => {
        try {
          await navigator.clipboard.writeText(link);
          toast("The link is copied: whoever opens it sits here.", null, this.about());
        } catch {
          prompt("Send this link:", link);
        }
      },
    }, "copy link");
  }

  showFigures(rows) {
    const counted = rows.filter((row) => row.games > 0);
    if (!counted.length) return this.figures.replaceChildren();
    const unit = this.info?.unit ?? "";
    const body = counted.map((row) => el("tr", {}, el("th", { scope: "row" }, row.name), el("td", {}, signed(row.mean)),
      el("td", {}, row.half_width === null ? "" : `± ${number(row.half_width)}`)));
    const games = Math.max(...counted.map((row) => row.games));
    const what = unit.includes("/") ? unit : `${unit} a game`;
    const words = `${games} game${games === 1 ? "" : "s"}: ${what}${games > 1 ? ", with 95 % intervals" : ""}`;
    this.figures.replaceChildren(el("table", {}, el("caption", {}, words), el("tbody", {}, ...body)));
  }

  showLog(lines) {
    const isAtEnd = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 40;
    const old = this.log.children.length;
    const make = ([actor, words]) => el("li", { class: actor === CHANCE ? "chance" : "" },
      actor === CHANCE ? words : el("b", {}, `${this.name(actor)}: `), actor === CHANCE ? "" : words);
    const isLonger = old > 0 && lines.length >= old && this.logKey === lines.slice(0, old).join("\n");
    if (isLonger) this.log.append(...lines.slice(old).map(make));
    else this.log.replaceChildren(...lines.map(make));
    this.logKey = lines.join("\n");
    if (isAtEnd || !isLonger) this.log.scrollTop = this.log.scrollHeight;
  }

  showLayers() {
    const names = this.board.layerNames();
    this.layers.replaceChildren(...names.map((name) => el("button", {
      type: "button", class: "chip", "aria-pressed": String(this.board.layers.has(name)), "data-show-layer": name,
      onclick: (event) => {
        const isOn = !this.board.layers.has(name);
        this.board.toggleLayer(name, isOn);
        event.currentTarget.setAttribute("aria-pressed", String(isOn));
      },
    }, name)));
  }

  tools() {
    if (!this.info) return;
    const view = this.current();
    const tool = (words, key, run, isOn = true) => el("button", {
      type: "button", class: "plain", disabled: !isOn, onclick: run, "data-tool": key, "aria-keyshortcuts": key, title: `${words} (${key})`,
    }, words);
    const buttons = [];
    const isRecorded = this.info.seats.every((seat) => seat.agent === "recorded");
    if (this.info.yours.length) {
      buttons.push(tool("Take back", "u", () => this.takeBack(), Boolean(view?.can_take_back)));
      buttons.push(tool("New game", "n", () => this.again(false)));
      buttons.push(tool("Swap seats", "s", () => this.again(true)));
      if (this.info.yours.length > 1) buttons.push(tool("Hide", "x", () => this.hide()));
    } else if (!isRecorded && this.info.is_watched) {
      buttons.push(tool(this.info.is_paused ? "Go on" : "Pause", "p", () => this.pause()));
      buttons.push(tool("One move", ".", () => this.say("pace", { has_step: true, is_paused: true })));
      buttons.push(tool("New game", "n", () => this.again(false)));
      buttons.push(this.speed());
    }
    if (this.info.has_map && this.info.seats.every((seat) => seat.agent !== "recorded")) buttons.push(tool("Save map", "m", () => this.saveMap()));
    if (this.info.yours.length && this.info.seats.some((seat) => seat.agent)) buttons.push(this.speed());
    buttons.push(el("a", { class: "plain", href: `#new/${this.info.game}` }, "Table …"));
    this.places.tools.replaceChildren(...buttons);
  }

  speed() {
    const range = el("input", {
      type: "range", min: "0", max: "100", value: String(Math.round(100 - 100 * Math.sqrt(this.info.pace / 3000))), "aria-label": "Speed of the agents", title: "speed of the agents",
      onchange: (event) => this.say("pace", { pace: Math.round(3000 * ((100 - Number(event.target.value)) / 100) ** 2) }),
    });
    return el("label", { class: "speed" }, "speed ", range);
  }

  // ---- doing -------------------------------------------------------------------------------------

  play(action) {
    const view = this.current();
    if (!this.isMine() || this.sent || this.stepper.isOn) return;
    const isThere = view.choices.some((c) => c.action === action || (c.last !== undefined && action >= c.action && action <= c.last));
    if (!isThere) return;
    this.sent = { type: "move", table: this.id, number: view.number, seat: view.seat, turn: view.turn, action };
    this.learn.clear();
    send(this.sent);
  }

  takeBack() {
    const own = this.info.yours;
    const seat = own.includes(this.seat) ? this.seat : own[0];
    this.stepper.stop();
    this.say("take_back", { seat });
  }

  again(swap) {
    this.stepper.stop();
    this.learn.clear();
    this.board.uncover();
    this.say("again", { seat: this.info.yours[0] ?? null, swap });
  }

  saveMap() {
    const name = prompt("Name of the map:", `${this.info.game.replace(/_v\d+$/, "")} ${new Date().toISOString().slice(0, 10)}`);
    if (name) this.say("save_map", { name });
  }

  maps(message) { toast(`The map is saved as ${message.saved}: choose it under “Table …”, map and rules.`, null, this.about()); }

  pause() { this.say("pace", { is_paused: !this.info.is_paused }); }

  hide() { this.board.cover("The table is hidden.", "Show it"); }

  key(event) {
    if (!this.board.curtain.hidden) return false;
    if (event.target.closest?.("[data-action], button, a, summary") && (event.key === "Enter" || event.key === " ")) return false;
    if (this.stepper.key(event)) return true;
    if (this.choices.key(event)) return true;
    const tool = this.places.tools.querySelector(`[data-tool="${CSS.escape(event.key)}"]`);
    if (tool && !tool.disabled) {
      tool.click();
      return true;
    }
    if (event.key === "h") return this.learn.ask();
    if (event.key === "l") return this.learn.askLearnt();
    if (event.key === "+" || event.key === "=") { this.board.zoomBy(1.4); return true; }
    if (event.key === "-") { this.board.zoomBy(1 / 1.4); return true; }
    const pans = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] };
    if (event.key in pans && this.board.zoom.scale > 1) { this.board.pan(...pans[event.key]); return true; }
    return false;
  }

  help() {
    return [
      ["1 2 3 …", "play the move with that number"], ["arrows", "from move to move, Enter plays it; the map when it is enlarged"],
      ["h", "a hint"], ["l", "what the adviser has learnt"], ["u", "take back"], ["n", "new game"], ["s", "swap seats"], ["p  .", "pause, one move (watching)"],
      ["\u2190 \u2192", "step through a game that is over"], ["m", "save the map"], ["+ −", "zoom"], ["?", "this list"],
    ];
  }
}
