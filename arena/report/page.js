"use strict";
// Tables whose titles sort, the cross table's switch, a copy button, and games to step through.
// Texts are only ever set as text, never as HTML; drawings are shown as images, which run nothing.

for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const last = table.classList.contains("total") ? rows.pop() : null;
  const value = (row, column) => {
    const cell = row.cells[column];
    return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
  };
  [...table.tHead.rows[0].cells].forEach((title, column) => {
    title.tabIndex = 0;
    const sort = () => {
      const isNumber = rows.some((row) => typeof value(row, column) === "number");
      const before = title.getAttribute("aria-sort");
      const isUp = before ? before === "descending" : !isNumber;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      title.setAttribute("aria-sort", isUp ? "ascending" : "descending");
      const sign = isUp ? 1 : -1;
      rows.sort((a, b) => {
        const x = value(a, column), y = value(b, column);
        return sign * (isNumber ? x - y : x.localeCompare(y));
      });
      body.append(...rows, ...(last ? [last] : []));
    };
    title.addEventListener("click", sort);
    title.addEventListener("keydown", (event) => {
      if (event.key === "Enter") sort();
    });
  });
}

for (const button of document.querySelectorAll("[data-show]")) {
  button.addEventListener("click", () => {
    const isScore = button.dataset.show === "score";
    document.getElementById("cross").classList.toggle("scores", isScore);
    for (const other of document.querySelectorAll("[data-show]")) {
      other.setAttribute("aria-pressed", String(other === button));
    }
  });
}

// What does not fit says that it scrolls, until it has been scrolled.
for (const box of document.querySelectorAll(".scroll")) {
  const hint = Object.assign(document.createElement("p"), { className: "more", textContent: "scroll sideways for more →" });
  const look = () => { hint.hidden = box.scrollWidth <= box.clientWidth + 1; };
  box.after(hint);
  box.addEventListener("scroll", () => hint.remove(), { once: true });
  new ResizeObserver(look).observe(box);
  look();
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(source); // a page from a disk may not write the clipboard
    }
  });
}

function startViewer(viewer, data) {
  const find = (selector) => viewer.querySelector(selector);
  const make = (tag, text, properties = {}) =>
    Object.assign(document.createElement(tag), { textContent: text }, properties);
  const select = find("select"), views = find(".views"), board = make("img", "");
  const moves = find(".moves"), slider = find("input"), output = find("output");
  const CHANCE = -1;
  find(".board").append(board);
  const sign = (value) => (value > 0 ? "+" : "") + +value.toFixed(3);
  let game, step = 0, view = 0;

  const isUnique = (number) => game.names.indexOf(game.names[number]) === game.names.lastIndexOf(game.names[number]);
  const seat = (number) => `${game.names[number]} (player ${number})`;

  function choose(number) {
    game = data.games[number];
    view = 0;
    views.replaceChildren(
      ...["spectator", ...game.names.map((_, i) => seat(i))].map((name, i) =>
        make("button", name, { type: "button", onclick: () => { view = i; list(); go(step); } })),
    );
    slider.max = game.steps.length - 1;
    const agents = [...new Set(game.names)].map(quote).join(" ");
    find(".again code").textContent =
      `${data.replay} --group ${agents} --deal ${game.deal} --seating ${game.seating}`;
    list();
    go(1); // the board before anything has happened is an empty one
  }

  function quote(name) {
    return /^[\w.:/-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
  }

  function list() {
    moves.replaceChildren(
      ...game.steps.map(([actor, seen], i) => {
        const item = make("li", "", { onclick: () => go(i) });
        const words = game.texts[seen[view][0]] || "nothing that can be seen";
        if (actor === null) item.append("start");
        else if (actor === CHANCE) item.append(make("span", words, { className: "chance" }));
        else item.append(make("b", isUnique(actor) ? game.names[actor] : seat(actor)), ` ${words}`);
        return item;
      }),
    );
    [...views.children].forEach((button, i) => button.setAttribute("aria-pressed", String(i === view)));
  }

  function drawing(number) {
    const runs = game.pictures[number];
    let svg = "";
    for (let i = 0; i < runs.length; i += 2) {
      svg += game.texts.slice(runs[i], runs[i] + runs[i + 1]).join("");
    }
    return svg;
  }

  function go(to) {
    step = Math.max(0, Math.min(game.steps.length - 1, to));
    const [, seen] = game.steps[step];
    const [, text, picture] = seen[view];
    board.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawing(picture))}`;
    board.alt = game.texts[text];
    slider.value = step;
    output.textContent = `${step} of ${game.steps.length - 1}`;
    [...moves.children].forEach((item, i) => item.toggleAttribute("aria-current", i === step));
    const current = moves.children[step];
    moves.scrollTop = current.offsetTop - (moves.clientHeight - current.offsetHeight) / 2;
    const isEnd = step === game.steps.length - 1;
    const returns = game.returns.map((value, i) => `${game.names[i]} ${sign(value)}`).join(", ");
    find(".end").textContent = isEnd ? `${game.end} ${returns}` : "";
  }

  const targets = { first: () => 0, back: () => step - 1, next: () => step + 1, last: () => Infinity };
  for (const button of viewer.querySelectorAll("[data-go]")) {
    button.addEventListener("click", () => go(targets[button.dataset.go]()));
  }
  slider.addEventListener("input", () => go(Number(slider.value)));
  const keys = { Home: "first", ArrowLeft: "back", ArrowRight: "next", End: "last" };
  viewer.addEventListener("keydown", (event) => {
    if (!(event.key in keys) || event.target === select || event.target === slider) return;
    event.preventDefault();
    go(targets[keys[event.key]]());
  });
  select.append(
    ...data.games.map((each, i) => {
      const players = each.names.join(" – ");
      const returns = each.returns.map(sign).join(" / ");
      return make("option", `${players}, deal ${each.deal}: ${returns}`, { value: i });
    }),
  );
  select.addEventListener("change", () => choose(Number(select.value)));
  choose(0);
}

const data = document.getElementById("data");
if (data) startViewer(document.getElementById("viewer"), JSON.parse(data.textContent));
