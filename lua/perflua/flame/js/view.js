// The part of the rows that is in sight. The page scrolls inside of the window by itself, so that a picture of the
// window has something in it wherever the rows begin.

const body = root.querySelector("#frames"), head = root.querySelector("#head");
const status = element("g", { class: "status", role: "status" });
const thumb = element("rect", { class: "thumb", width: 6, rx: 3 });
let n_rows = 0, offset = 0; // pixels of the rows that are above the window

function window_height() { return Math.max(root.getBoundingClientRect().height, HEAD + FOOT + ROW); }
function rows_height() { return HEAD + n_rows * ROW + FOOT; }
function farthest() { return Math.max(0, rows_height() - window_height()); }

// Places what stays in sight.
function place() {
  const height = window_height(), all = rows_height();
  offset = Math.min(Math.max(offset, 0), farthest());
  body.setAttribute("transform", "translate(0," + -offset + ")");
  status.setAttribute("transform", "translate(0," + (Math.min(height, all) - FOOT + 2) + ")");
  const track = height - HEAD - FOOT, size = Math.max(24, track * height / all);
  thumb.setAttribute("visibility", all > height ? "visible" : "hidden");
  thumb.setAttribute("x", root.getBoundingClientRect().width - 9);
  thumb.setAttribute("height", size);
  thumb.setAttribute("y", HEAD + (track - size) * (farthest() ? offset / farthest() : 0));
}

function scroll_to(to) {
  offset = to;
  place();
}

// Scrolls as little as needed for the rows between these pixels to be seen.
function into_sight(top, bottom) {
  const room = window_height() - FOOT;
  if (top - HEAD < offset) scroll_to(top - HEAD);
  else if (bottom - room > offset) scroll_to(bottom - room);
}

function drag_thumb(event) {
  const start = event.clientY, from = offset, track = window_height() - HEAD - FOOT;
  const size = Number(thumb.getAttribute("height"));
  thumb.setPointerCapture(event.pointerId);
  thumb.onpointermove = (now) => scroll_to(from + (now.clientY - start) * farthest() / (track - size));
  thumb.onpointerup = () => { thumb.onpointermove = null; };
}

// Printed are all rows.
function show_all() {
  root.setAttribute("height", rows_height());
  scroll_to(0);
}

function fill_window() {
  root.removeAttribute("viewBox");
  root.setAttribute("height", root === document.documentElement ? "100%" : "100vh");
  if (!root.hasAttribute("data-fixed")) root.setAttribute("width", "100%");
}

// Begins to scroll; draw(): draws the page anew.
function listen_to_view(draw) {
  let asked = 0, touched = null;
  addEventListener("resize", () => {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(draw);
  });
  addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.shiftKey || !event.deltaY) return;
    scroll_to(offset + event.deltaY * (event.deltaMode === 1 ? ROW : event.deltaMode === 2 ? window_height() : 1));
    event.preventDefault();
  }, { passive: false });
  addEventListener("touchstart", (event) => {
    touched = event.touches.length === 1 ? event.touches[0].clientY : null;
  });
  addEventListener("touchmove", (event) => {
    if (touched === null) return;
    scroll_to(offset + touched - event.touches[0].clientY);
    touched = event.touches[0].clientY;
    event.preventDefault();
  }, { passive: false });
  addEventListener("beforeprint", show_all);
  addEventListener("afterprint", () => {
    fill_window();
    draw();
  });
  thumb.addEventListener("pointerdown", drag_thumb);
}

function page_key(key) {
  const page = window_height() - HEAD - FOOT - ROW;
  if (key === "PageDown") scroll_to(offset + page);
  else if (key === "PageUp") scroll_to(offset - page);
  else return false;
  return true;
}
