// Small helpers to make elements; text is never read as HTML.

export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// A picture that the server has drawn, as elements.
export function picture(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  return document.importNode(parsed, true);
}

export function number(value, digits = 3) {
  if (value === null || value === undefined) return "";
  const text = Math.abs(value) >= 1000 ? value.toFixed(0) : Number(value.toPrecision(digits)).toString();
  return text.replace("-", "\u2212");
}

export function signed(value, digits = 3) {
  return (value > 0 ? "+" : "") + number(value, digits);
}

// What a toast is about: a game of a table, or nothing that can pass.
export function toast(words, link = null, about = "") {
  const box = document.getElementById("toasts");
  const item = el("div", { class: "toast", "data-about": about }, words, link ? el("a", { href: link }, " Go there") : null);
  box.append(item);
  setTimeout(() => item.remove(), link ? 20_000 : 6000);
}

// Another game or another place is shown: what was said of the last one goes.
export function dropToasts(about) {
  for (const item of document.querySelectorAll(".toast")) {
    if (item.dataset.about && item.dataset.about !== about) item.remove();
  }
}

// Pictures are laid out for a narrow page, or for a wide one.
export const isNarrow = () => innerWidth <= 560;

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
