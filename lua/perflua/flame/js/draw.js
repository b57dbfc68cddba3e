// Drawing the frames that can be seen, of the frame that is zoomed to and of those above it.

const KINDS = "nukjipml", LEAST = 0.3, LEAST_LABEL = 24;
const ring = element("rect", { id: "ring", rx: 2, visibility: "hidden" });

let zoomed = 0, current = 0, width = 0, inverted = PAGE.inverted, reversed = PAGE.reversed;
let drawn = new Map(); // frame → its rect
let hits = null; // for each name: does it match what is searched for?

function top_of(i) { return HEAD + (inverted ? depth[i] : n_rows - 1 - depth[i]) * ROW; }

function shade_of(i) { return has_changes() ? PAGE.changes[4 * i + 3] : SHADES[name[i]]; }

function draw_frame(to, i, x, w) {
  const hit = hits && hits[name[i]] ? " hit" : "", above = i !== zoomed && inside(zoomed, i) ? " above" : "";
  const rect = element("rect", {
    class: KINDS[kind[i]] + shade_of(i) + hit + above,
    x: PAD + x, y: top_of(i), width: Math.max(w - (w > 3 ? 0.8 : 0), 0.3), height: ROW - 1, rx: w > 6 ? 2 : 0,
    tabindex: i === current ? 0 : -1,
  });
  rect.frame = i;
  drawn.set(i, rect);
  to.appendChild(rect);
  const label = w >= LEAST_LABEL && fit(NAMES[name[i]], w - 8, "label");
  if (label) {
    const text = element("text", { class: "label" + hit, x: PAD + x + 4, y: top_of(i) + 13 });
    text.textContent = label;
    to.appendChild(text);
  }
}

function draw() {
  const focused = graph.contains(document.activeElement), to = document.createDocumentFragment();
  const scale = width / total[zoomed];
  drawn = new Map();
  if (!inside(current, zoomed) && !inside(zoomed, current)) current = zoomed;
  for (let i = parent[zoomed]; i >= 0; i = parent[i]) draw_frame(to, i, 0, width);
  for (let i = zoomed; i < end[zoomed];) {
    const w = total[i] * scale;
    if (w >= LEAST) draw_frame(to, i, (start[i] - start[zoomed]) * scale, w);
    i = w >= LEAST ? i + 1 : end[i];
  }
  if (!drawn.has(current)) current = zoomed;
  drawn.get(current).setAttribute("tabindex", 0);
  graph.replaceChildren(to, ring);
  graph.classList.toggle("searching", hits !== null);
  if (focused) drawn.get(current).focus({ preventScroll: true });
  mark(null);
}

// Puts the ring around a frame.
function mark(i, style) {
  const rect = i === null ? null : drawn.get(i);
  ring.setAttribute("visibility", rect ? "visible" : "hidden");
  if (!rect) return;
  for (const key of ["x", "y", "width", "height"]) ring.setAttribute(key, rect.getAttribute(key));
  ring.setAttribute("class", style);
}

function zoom(i) {
  zoomed = current = i;
  draw();
  reset.disabled = zoomed === 0;
  show_matched();
  show(i);
  keep_state();
}

// Turns the graph: callers at the top, or callees first.
function turn(to_inverted, to_reversed) {
  inverted = to_inverted;
  if (to_reversed !== reversed) {
    reversed = to_reversed;
    use_direction(reversed);
    zoomed = current = 0;
  }
  icicle.setAttribute("aria-pressed", inverted);
  callers.setAttribute("aria-pressed", reversed);
  zoom(zoomed);
  scroll_to(inverted ? 0 : farthest());
}
