// A timechart's page: zoomed to a range of time, which is drawn anew.

const MOST_WAKES = 2000; // lines; more cannot be told apart
const CLEAR_WAKES = 60; // lines that do not hide what is below them; the more there are, the fainter they are
const FAINT = 0.1; // of the faintest
const HINT = "Drag over a range or click a run to zoom, Esc goes back, arrows move, / searches";
const axis = root.querySelector("#axis"), grid = element("g"), lanes = element("g"), arrows = element("g");
const range = element("rect", { class: "range", visibility: "hidden", y: HEAD });
const ring = element("rect", { id: "ring", rx: 2, visibility: "hidden" });
const told = element("text", { x: PAD, y: 21 });
const left = PAD + LABELS;
const note = texts.find(({ text }) => text.id === "note"), left_out = note.whole;
let from = 0, to = SPAN, room = 0, hits = null, dragged = null;
let seen = []; // wake-ups in the range
let shown = []; // rows that are drawn, from the top
let place_of = []; // of each row among them; -1: it is folded away

function is_zoomed() { return from !== 0 || to !== SPAN; }
function scale() { return room / (to - from); }
function time_at(x) { return from + Math.min(Math.max(x - left, 0), room) / scale(); }
function top_of(i) { return HEAD + place_of[i] * ROW; }

function has_any(list) {
  const i = first_after(list, from);
  return i < list.n && list.start[i] < to;
}

// Folds away the rows without anything in the range, unless no row has anything.
function fold_rows() {
  const all = Array.from(rows.keys());
  shown = all;
  if (is_zoomed()) {
    const woken = new Set(seen.flatMap((wake) => [wake.from, wake.to]));
    const kept = all.filter((i) => woken.has(i) || [rows[i].runs, rows[i].waits, rows[i].gaps].some(has_any));
    if (kept.length) shown = kept;
  }
  place_of = Array(rows.length).fill(-1);
  shown.forEach((i, place) => { place_of[i] = place; });
  const folded = rows.length - shown.length;
  note.whole = (folded ? folded + (folded === 1 ? " row has" : " rows have") + " nothing in this range" : "")
    + (folded && left_out ? "; " : "") + left_out;
}

function draw_row(i) {
  const row = rows[i], label = element("text", { x: PAD, y: top_of(i) + 12, class: hits && hits[i] ? "found" : "" });
  label.textContent = fit(row.name, LABELS - 8, "label");
  const lane = element("g", { transform: "translate(" + left + ")", opacity: hits && !hits[i] ? 0.35 : 1 });
  lane.append(element("rect", { class: "lane", y: top_of(i), width: room, height: ROW - 2 }),
    element("path", { class: "wait", d: path_of(row.waits, from, to, scale(), top_of(i) + 5, ROW - 12) }),
    element("path", { class: "gap", d: path_of(row.gaps, from, to, scale(), top_of(i), ROW - 2) }),
    element("path", { class: row.is_cpu ? "cpu" : "run",
      d: path_of(row.runs, from, to, scale(), top_of(i), ROW - 2) }));
  return [label, lane];
}

// Arrows are fainter where there are many, and those that a search does not find are hardly seen.
function draw_wakes() {
  const found = hits ? seen.filter((wake) => hits[wake.from] || hits[wake.to]).length : seen.length;
  const clear = Math.max(FAINT, Math.min(1, CLEAR_WAKES / found));
  arrows.replaceChildren(...(seen.length > MOST_WAKES ? [] : seen.map((wake) => {
    const x = left + (wake.time - from) * scale(), y = top_of(wake.to) + (wake.to > wake.from ? 0 : ROW - 2);
    const tip = wake.to > wake.from ? -4 : 4, is_found = !hits || hits[wake.from] || hits[wake.to];
    return element("path", { class: "wake", opacity: is_found ? clear : FAINT / 2,
      d: "M" + x + " " + (top_of(wake.from) + ROW / 2) + "V" + y + "m-3 " + tip + "l3 " + -tip + "l3 " + tip });
  })));
}

function draw() {
  const outer = root.getBoundingClientRect().width;
  room = Math.max(outer - left - PAD, 100);
  seen = wakes.filter((wake) => wake.time >= from && wake.time <= to);
  fold_rows();
  n_rows = shown.length;
  layout_head(outer, Math.min(360, outer / 2));
  draw_axis(axis, grid, from, to, left, room, n_rows * ROW);
  lanes.replaceChildren(...shown.flatMap(draw_row));
  draw_wakes();
  place();
  reset.disabled = !is_zoomed();
}

function zoom(start, stop) {
  const length = Math.min(Math.max(stop - start, 10), SPAN);
  from = Math.min(Math.max(start, 0), SPAN - length);
  to = from + length;
  ring.setAttribute("visibility", "hidden");
  draw();
  show(null);
  keep_state();
}

function keep_state() {
  const text = (time) => is_zoomed() ? String(Math.round(time)) : "";
  write_state({ search: input.value, from: text(from), to: text(to) });
}

// The segment at a place of the rows: { row, list, i }.
function segment_at(event) {
  const y = event.clientY - root.getBoundingClientRect().top + offset - HEAD, i = shown[Math.floor(y / ROW)];
  const x = event.clientX - root.getBoundingClientRect().left;
  if (event.clientY < HEAD || i === undefined || x < left) return null;
  const time = time_at(x), near = 2 / scale();
  for (const list of [rows[i].runs, rows[i].waits, rows[i].gaps]) {
    const at = first_after(list, time - near);
    if (at < list.n && list.start[at] <= time + near) return { row: i, list, i: at };
  }
  return { row: i, list: null };
}

function text_of(at) {
  const row = rows[at.row], { list, i } = at;
  if (!list) {
    return row.name + ": ran " + duration(row.ran) + ", " + percent(row.ran, SPAN)
      + (row.unknown ? "; not known " + duration(row.unknown) + ", " + percent(row.unknown, SPAN) : "");
  }
  const other = list.other[i], length = list.stop[i] - list.start[i];
  let what = "waited for a processor";
  if (list === row.runs && row.is_cpu) what = other < 0 ? "several threads" : NAMES[other];
  else if (list === row.gaps) what = "not known who ran";
  else if (list === row.runs) what = other < 0 ? "ran on several processors" : "ran on cpu " + other;
  if (list.ran[i] < length) what += ", " + percent(list.ran[i], length) + " of";
  return row.name + ": " + what + " " + duration(length) + " from " + seconds(list.start[i]);
}

function show(at) {
  told.textContent = at ? text_of(at) : HINT + (seen.length > MOST_WAKES ? "; zoom in to see wake-ups" : "");
  ring.setAttribute("visibility", at && at.list ? "visible" : "hidden");
  if (!at || !at.list) return;
  const x = Math.max(at.list.start[at.i], from), stop = Math.min(at.list.stop[at.i], to);
  for (const [key, value] of [["x", left + (x - from) * scale()], ["y", top_of(at.row)],
    ["width", Math.max((stop - x) * scale(), 2)], ["height", ROW - 2]]) ring.setAttribute(key, value);
}

function search(text) {
  const wanted = text === "" ? null : compile(text);
  hits = wanted && rows.map((row) => wanted(row.name));
  const found = hits ? hits.filter((hit) => hit).length : 0;
  matched.textContent = hits ? found + (found === 1 ? " row" : " rows") : "";
  draw();
  keep_state();
  const first = hits ? shown.find((i) => hits[i]) : undefined;
  if (first !== undefined) into_sight(top_of(first), top_of(first) + ROW);
}

function drag(event) {
  const x = Math.min(Math.max(event.clientX, left), left + room);
  range.setAttribute("visibility", Math.abs(x - dragged) > 3 ? "visible" : "hidden");
  range.setAttribute("x", Math.min(x, dragged));
  range.setAttribute("width", Math.abs(x - dragged));
  range.setAttribute("height", n_rows * ROW);
}

function end_drag(event) {
  const x = Math.min(Math.max(event.clientX, left), left + room), start = dragged, at = segment_at(event);
  dragged = null;
  range.setAttribute("visibility", "hidden");
  if (Math.abs(x - start) > 3) {
    zoom(time_at(Math.min(x, start)), time_at(Math.max(x, start)));
  } else if (at && at.list) {
    const length = at.list.stop[at.i] - at.list.start[at.i];
    zoom(at.list.start[at.i] - 2 * length, at.list.stop[at.i] + 2 * length);
  }
}

const moves = {
  ArrowLeft: () => zoom(from - (to - from) / 5, to - (to - from) / 5),
  ArrowRight: () => zoom(from + (to - from) / 5, to + (to - from) / 5),
  ArrowUp: () => scroll_to(offset - ROW),
  ArrowDown: () => scroll_to(offset + ROW),
  "+": () => zoom(from + (to - from) / 4, to - (to - from) / 4),
  "-": () => zoom(from - (to - from) / 2, to + (to - from) / 2),
  Home: () => zoom(0, SPAN),
};

// Returns whether the key meant something.
function on_key(key, typing) {
  if (key === "Escape" && input.value) {
    input.value = "";
    input.blur();
    search("");
  } else if (key === "Escape") zoom(0, SPAN);
  else if (typing || !moves[key]) return false;
  else moves[key]();
  return true;
}

function restore_state() {
  const state = read_state();
  if (state.has("to")) zoom(Number(state.get("from")) || 0, Number(state.get("to")) || SPAN);
  if (state.has("search")) {
    input.value = state.get("search");
    search(input.value);
  }
}

function listen() {
  listen_to_view(draw);
  listen_to_keys(on_key);
  addEventListener("hashchange", restore_state);
  root.addEventListener("pointermove", (event) => dragged === null ? show(segment_at(event)) : drag(event));
  root.addEventListener("pointerdown", (event) => {
    if (event.button === 0 && event.clientY > HEAD && event.clientX >= left && event.target !== thumb) {
      dragged = event.clientX;
      event.preventDefault();
    }
  });
  addEventListener("pointerup", (event) => { if (dragged !== null) end_drag(event); });
  addEventListener("wheel", (event) => {
    const step = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (step) zoom(from + step * (to - from) / 1000, to + step * (to - from) / 1000);
  });
  input.addEventListener("input", () => search(input.value));
  reset.addEventListener("click", () => zoom(0, SPAN));
}

fill_window();
body.replaceChildren(lanes, arrows, ring, range);
body.before(grid);
head.appendChild(axis);
status.append(element("rect", { class: "paper", width: "100%", height: FOOT }),
  element("rect", { class: "rule", width: "100%", height: 1 }), told);
add_tools(reset);
listen();
draw();
show(null);
restore_state();
