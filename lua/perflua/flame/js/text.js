// The page's data, text that fits, and values for people.

const SVG = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
const script = document.currentScript;
const root = (script && script.ownerSVGElement) || document.querySelector("svg");
const PAGE = JSON.parse(root.querySelector("metadata").textContent);
const ROW = PAGE.row, HEAD = PAGE.head, FOOT = PAGE.foot, PAD = PAGE.pad;

function element(tag, attributes, space) {
  const made = document.createElementNS(space || SVG, tag);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  return made;
}

const rulers = {};

// Measures text in the font of an element of this class.
function measure(text, style) {
  if (!rulers[style]) {
    const probe = root.appendChild(element("text", { class: style })), css = getComputedStyle(probe);
    rulers[style] = element("canvas", {}, HTML).getContext("2d");
    rulers[style].font = css.fontWeight + " " + css.fontSize + " " + css.fontFamily;
    probe.remove();
  }
  return rulers[style].measureText(text).width;
}

// As much of a text as is that wide.
function fit(text, width, style) {
  if (measure(text.length > 4096 ? text.slice(0, 4096) : text, style) <= width) return text.slice(0, 4096);
  let low = 0, high = Math.min(text.length, 4096);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(text.slice(0, middle) + "…", style) <= width) low = middle;
    else high = middle - 1;
  }
  if (low > 0 && /[\ud800-\udbff]/.test(text[low - 1])) low--; // never half of a pair
  return low < 2 ? "" : text.slice(0, low) + "…";
}

function percent(part, whole) {
  const share = whole > 0 ? 100 * part / whole : 0;
  return (share >= 99.995 ? "100" : share.toFixed(share < 0.095 ? 3 : 2)) + "\u2009%";
}

const times = [["s", 1e9], ["ms", 1e6], ["µs", 1e3]];

function duration(value) {
  const unit = times.find(([, size]) => value >= size) || ["ns", 1];
  return (value / unit[1]).toPrecision(Math.max(4, String(Math.floor(value / unit[1])).length)) + " " + unit[0];
}

function thousands(value) {
  return Number.isSafeInteger(value) ? String(value).replace(/\B(?=(\d{3})+$)/g, ",") : value.toPrecision(6);
}

function amount(value) {
  return PAGE.unit === "ns" ? duration(value) : thousands(value) + " " + PAGE.unit;
}
