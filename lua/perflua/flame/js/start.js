// The page: its size, what stays in sight when it is scrolled, who listens to what.

const texts = ["title", "about", "note"].map((id) => {
  const text = head.querySelector("#" + id);
  return { text, whole: text.textContent, style: text.getAttribute("class") || "" };
});

function place() {
  const height = HEAD + ROWS * ROW + FOOT, bottom = Math.min(height, scrollY + innerHeight);
  head.setAttribute("transform", "translate(0," + Math.max(0, scrollY) + ")");
  status.setAttribute("transform", "translate(0," + (bottom - FOOT + 2) + ")");
}

function layout() {
  const outer = root.getBoundingClientRect().width, room = Math.min(360, outer / 2);
  width = Math.max(outer - 2 * PAD, 100);
  tools.setAttribute("x", outer - PAD - room);
  tools.setAttribute("width", room);
  matched.setAttribute("x", outer - PAD);
  for (const { text, whole, style } of texts) {
    const x = Number(text.getAttribute("x"));
    const taken = text.id === "title" ? room + 16 : text.id === "note" ? 250 : 0;
    text.textContent = fit(whole, outer - PAD - x - taken, style);
  }
  draw();
  place();
}

function frame_of(event) {
  const frame = event.target.frame;
  return frame === undefined ? null : frame;
}

function listen() {
  let asked = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(layout);
  });
  addEventListener("scroll", place, { passive: true });
  addEventListener("beforeprint", () => head.removeAttribute("transform"));
  addEventListener("afterprint", place);
  addEventListener("keydown", on_key);
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
}

function start_page() {
  const height = HEAD + ROWS * ROW + FOOT;
  root.removeAttribute("viewBox");
  root.setAttribute("height", height);
  if (!root.hasAttribute("data-fixed")) root.setAttribute("width", "100%");
  matched.setAttribute("y", 70);
  matched.setAttribute("text-anchor", "end");
  reset.textContent = "Reset zoom";
  reset.disabled = true;
  box.append(input, reset);
  tools.appendChild(box);
  head.append(tools, matched);
  root.insertBefore(ring, head);
  status.append(element("rect", { class: "paper", width: "100%", height: FOOT }),
    element("rect", { class: "rule", width: "100%", height: 1 }), status_name, status_value);
  root.appendChild(status);
  listen();
  layout();
  show(null);
  if (!INVERTED) scrollTo(0, height); // to where it starts
}

start_page();
