// The picture of a game: what carries data-action can be clicked and focused, maps can be zoomed.

import { calm, el, isNarrow, picture } from "./dom.js";

const MAX_ZOOM = 6;
const MAX_PANEL = 2.2;

export class Board {
  constructor(onAction) {
    this.onAction = onAction;
    this.frame = el("div", { class: "frame" });
    this.curtain = el("div", { class: "curtain", hidden: true });
    this.tools = el("div", { class: "zoom", role: "group", "aria-label": "Zoom" },
      el("button", { class: "plain", type: "button", "aria-label": "zoom in", onclick: () => this.zoomBy(1.4) }, "+"),
      el("button", { class: "plain", type: "button", "aria-label": "zoom out", onclick: () => this.zoomBy(1 / 1.4) }, "\u2212"),
      el("button", { class: "plain", type: "button", "aria-label": "the whole picture", onclick: () => this.reset() }, "\u2922"));
    this.element = el("section", { class: "board", "aria-label": "The table" }, this.frame, this.curtain);
    this.svg = null;
    this.layers = new Set();
    this.filter = null;
    this.box = null;
    this.zoom = { scale: 1, x: 0, y: 0 };
    this.listen();
  }

  listen() {
    this.frame.addEventListener("click", (event) => {
      const target = event.target.closest?.("[data-action]");
      if (target && !this.dragged) this.onAction(Number(target.dataset.action));
    });
    this.frame.addEventListener("keydown", (event) => {
      const target = event.target.closest?.("[data-action]");
      if (target && (event.key === "Enter" || event.key === " ")) {
        event.preventDefault();
        event.stopPropagation();
        this.onAction(Number(target.dataset.action));
      }
    });
    this.frame.addEventListener("wheel", (event) => {
      if (!this.isMap()) return;
      event.preventDefault();
      this.zoomBy(event.deltaY < 0 ? 1.2 : 1 / 1.2, event);
    }, { passive: false });
    this.pointers = new Map();
    this.frame.addEventListener("pointerdown", (event) => {
      this.pointers.set(event.pointerId, event);
      this.dragged = false;
    });
    window.addEventListener("pointermove", (event) => this.drag(event));
    for (const name of ["pointerup", "pointercancel"]) {
      window.addEventListener(name, (event) => {
        this.pointers.delete(event.pointerId);
        setTimeout(() => { this.dragged = false; }, 0);
      });
    }
  }

  isMap() {
    return this.svg !== null && (this.svg.dataset.zoom !== undefined || this.zoom.scale > 1);
  }

  // ---- showing a picture -------------------------------------------------------------------------

  show(text, isLive) {
    if (text === this.text && isLive === this.isLive) return;
    this.text = text;
    this.isLive = isLive;
    const svg = picture(text);
    const old = this.svg;
    const isSameSize = old && old.dataset.box === svg.getAttribute("viewBox");
    svg.dataset.box = svg.getAttribute("viewBox");
    this.box = layOut(svg);
    const { width, height } = this.box;
    svg.removeAttribute("width");
    svg.removeAttribute("height");
    svg.style.aspectRatio = `${width} / ${height}`;
    this.prepare(svg, isLive);
    this.frame.replaceChildren(svg);
    this.svg = svg;
    if (!isSameSize) this.zoom = { scale: 1, x: 0, y: 0 };
    this.tools.hidden = svg.dataset.zoom === undefined;
    this.applyZoom();
    this.applyLayers();
    this.applyFilter();
    if (isSameSize && !calm()) animate(old, svg);
  }

  prepare(svg, isLive) {
    for (const item of svg.querySelectorAll("[data-action]")) {
      if (!isLive) {
        item.removeAttribute("data-action");
        continue;
      }
      item.setAttribute("tabindex", "0");
      item.setAttribute("role", "button");
      const title = item.querySelector("title");
      if (title) item.setAttribute("aria-label", title.textContent);
    }
  }

  layerNames() {
    const found = this.svg ? [...this.svg.querySelectorAll("[data-layer]")] : [];
    return [...new Set(found.map((layer) => layer.dataset.layer))];
  }

  toggleLayer(name, isOn) {
    if (isOn) this.layers.add(name);
    else this.layers.delete(name);
    this.applyLayers();
  }

  applyLayers() {
    for (const layer of this.svg?.querySelectorAll("[data-layer]") ?? []) {
      if (this.layers.has(layer.dataset.layer)) layer.removeAttribute("display");
      else layer.setAttribute("display", "none");
    }
  }

  // Only these actions are lit, such as those of one ticket.
  setFilter(actions) {
    this.filter = actions;
    this.applyFilter();
  }

  applyFilter() {
    for (const item of this.svg?.querySelectorAll("[data-action]") ?? []) {
      const isOut = this.filter && !this.filter.has(Number(item.dataset.action));
      item.classList.toggle("out", Boolean(isOut));
      item.setAttribute("tabindex", isOut ? "-1" : "0");
    }
  }

  point(action, isOn) {
    for (const item of this.svg?.querySelectorAll(`[data-action="${action}"]`) ?? []) {
      item.classList.toggle("pointed", isOn);
    }
  }

  cover(words, button, onShow) {
    this.curtain.replaceChildren(el("p", {}, words), el("button", { type: "button", onclick: () => {
      this.uncover();
      onShow?.();
    } }, button));
    this.curtain.hidden = false;
    this.curtain.querySelector("button").focus();
  }

  uncover() {
    this.curtain.hidden = true;
  }

  // ---- zoom --------------------------------------------------------------------------------------

  zoomBy(factor, event) {
    if (!this.svg) return;
    const { width, height } = this.box;
    const old = this.zoom;
    const scale = Math.min(MAX_ZOOM, Math.max(1, old.scale * factor));
    let fx = 0.5;
    let fy = 0.5;
    if (event) {
      const rect = this.svg.getBoundingClientRect();
      fx = (event.clientX - rect.left) / rect.width;
      fy = (event.clientY - rect.top) / rect.height;
    }
    // The point under the pointer stays where it is.
    const x = old.x + fx * width * (1 / old.scale - 1 / scale);
    const y = old.y + fy * height * (1 / old.scale - 1 / scale);
    this.zoom = { scale, x, y };
    this.applyZoom();
  }

  pan(dx, dy) {
    this.zoom.x += dx * this.box.width / this.zoom.scale;
    this.zoom.y += dy * this.box.height / this.zoom.scale;
    this.applyZoom();
  }

  reset() {
    this.zoom = { scale: 1, x: 0, y: 0 };
    this.applyZoom();
  }

  drag(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before || !this.svg) return;
    const rect = this.svg.getBoundingClientRect();
    if (this.pointers.size === 2) {
      const [a, b] = [...this.pointers.values()];
      const other = before === a ? b : a;
      const was = Math.hypot(before.clientX - other.clientX, before.clientY - other.clientY);
      const is = Math.hypot(event.clientX - other.clientX, event.clientY - other.clientY);
      if (was > 0) this.zoomBy(is / was, event);
      this.dragged = true;
    } else if (this.zoom.scale > 1) {
      const dx = event.clientX - before.clientX;
      const dy = event.clientY - before.clientY;
      if (Math.abs(dx) + Math.abs(dy) > 3) this.dragged = true;
      this.pan(-dx / rect.width, -dy / rect.height);
    }
    this.pointers.set(event.pointerId, event);
  }

  applyZoom() {
    if (!this.svg) return;
    const { width, height } = this.box;
    const zoom = this.zoom;
    zoom.x = Math.min(Math.max(zoom.x, 0), width - width / zoom.scale);
    zoom.y = Math.min(Math.max(zoom.y, 0), height - height / zoom.scale);
    this.svg.setAttribute("viewBox", `${zoom.x} ${zoom.y} ${width / zoom.scale} ${height / zoom.scale}`);
    this.frame.classList.toggle("zoomed", zoom.scale > 1);
  }
}

// The size of a picture. On a narrow page what stands beside it is moved below, where it can be read.
function layOut(svg) {
  const [, , width, height] = svg.dataset.box.split(" ").map(Number);
  const beside = svg.querySelector("[data-beside]");
  if (!beside || !isNarrow()) return { width, height };
  const [left, wide, high] = beside.dataset.beside.split(" ").map(Number);
  const scale = Math.min(left / wide, MAX_PANEL);
  beside.setAttribute("transform", `translate(${(left - scale * wide) / 2 - scale * left} ${height}) scale(${scale})`);
  return { width: left, height: height + scale * high };
}

// ---- gentle movement -----------------------------------------------------------------------------

function asCss(transform) {
  return (transform ?? "").replace(/translate\(([-\d.]+) ([-\d.]+)\)/, "translate($1px, $2px)")
    .replace(/rotate\(([-\d.]+)\)/, "rotate($1deg)");
}

function animate(old, svg) {
  // Pieces glide from where they were.
  const places = new Map();
  for (const piece of old.querySelectorAll("[data-piece]")) {
    places.set(piece.dataset.piece, piece.getAttribute("transform"));
  }
  for (const piece of svg.querySelectorAll("[data-piece]")) {
    const from = places.get(piece.dataset.piece);
    const to = piece.getAttribute("transform");
    if (from && from !== to) {
      piece.animate([{ transform: asCss(from) }, { transform: asCss(to) }],
        { duration: 550, easing: "cubic-bezier(.3,.1,.2,1)" });
    }
  }
  // What was not there before fades in.
  const before = new Set([...old.children].map((child) => child.outerHTML));
  const fresh = [...svg.children].filter((child) => !before.has(child.outerHTML));
  if (fresh.length > 120) return;
  for (const child of fresh) {
    if (child.tagName !== "style" && !child.querySelector("[data-piece]") && !child.dataset.piece) {
      child.animate([{ opacity: 0.15 }, {}], { duration: 260, easing: "ease-out" });
    }
  }
}
