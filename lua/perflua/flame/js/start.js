// A flame graph's page: its size, who listens to what, and its state in a link.

const icicle = button("Icicle", "Callers at the top");
const callers = button("Reverse", "Callees first: who calls a function?");

function layout() {
  const outer = root.getBoundingClientRect().width;
  width = Math.max(outer - 2 * PAD, 100);
  layout_head(outer, Math.min(480, outer / 2));
  draw();
  place();
}

function keep_state() {
  write_state({
    search: input.value, zoom: zoomed === 0 ? "" : String(zoomed),
    view: (inverted ? "icicle" : "flame") + (reversed ? "-reversed" : ""),
  });
}

// Shows what the page's address asks for.
function restore_state() {
  const state = read_state(), view = state.get("view"), asked = Number(state.get("zoom"));
  if (view) turn(/^icicle/.test(view), /-reversed$/.test(view));
  if (asked > 0 && asked < N) zoom(asked);
  if (state.has("search")) {
    input.value = state.get("search");
    search(input.value);
  }
}

function frame_of(event) {
  const frame = event.target.frame;
  return frame === undefined ? null : frame;
}

function listen() {
  listen_to_view(layout);
  listen_to_keys(on_key);
  addEventListener("hashchange", restore_state);
  graph.addEventListener("click", (event) => {
    const i = frame_of(event);
    if (i !== null) zoom(i);
  });
  graph.addEventListener("pointerover", (event) => {
    const i = frame_of(event);
    if (i !== null) point_at(i);
  });
  graph.addEventListener("pointerleave", () => {
    mark(null);
    show(zoomed === 0 ? null : zoomed);
  });
  graph.addEventListener("focusin", (event) => {
    const i = frame_of(event);
    if (i === null) return;
    current = i;
    mark(i, "keyboard");
    show(i);
  });
  input.addEventListener("input", () => search(input.value));
  reset.addEventListener("click", () => zoom(0));
  icicle.addEventListener("click", () => turn(!inverted, reversed));
  callers.addEventListener("click", () => turn(inverted, !reversed));
}

fill_window();
reset.disabled = true;
icicle.setAttribute("aria-pressed", inverted);
callers.setAttribute("aria-pressed", reversed);
status.append(element("rect", { class: "paper", width: "100%", height: FOOT }),
  element("rect", { class: "rule", width: "100%", height: 1 }), status_name, status_value);
add_tools(reset, icicle, callers);
callers.hidden = Boolean(PAGE.changes); // other stacks than those that were compared
listen();
layout();
show(null);
scroll_to(inverted ? 0 : farthest());
restore_state();
