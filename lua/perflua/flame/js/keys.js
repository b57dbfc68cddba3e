// The keyboard: one frame is the current one, and has the focus.

function go(i) {
  if (i < 0 || !drawn.has(i)) return;
  drawn.get(current).setAttribute("tabindex", -1);
  current = i;
  const rect = drawn.get(i);
  rect.setAttribute("tabindex", 0);
  rect.setAttribute("role", "button");
  rect.setAttribute("aria-label", NAMES[name[i]] + ", " + shares(i));
  rect.focus({ preventScroll: true });
  into_sight(i);
}

function into_sight(i) {
  const top = top_of(i) - HEAD - ROW, bottom = top_of(i) + 2 * ROW + FOOT;
  if (top < scrollY) scrollTo(0, top);
  else if (bottom > scrollY + innerHeight) scrollTo(0, bottom - innerHeight);
}

function largest_child(i) {
  let best = -1;
  for (let j = i + 1; j < end[i]; j = end[j]) {
    if (drawn.has(j) && (best < 0 || total[j] > total[best])) best = j;
  }
  return best;
}

// The frame beside this one in its row.
function beside(i, step) {
  for (let j = i + step; j >= 0 && j < N; j += step) {
    if (depth[j] === depth[i] && drawn.has(j)) return j;
  }
  return -1;
}

const moves = {
  ArrowLeft: () => beside(current, -1),
  ArrowRight: () => beside(current, 1),
  ArrowUp: () => INVERTED ? parent[current] : largest_child(current),
  ArrowDown: () => INVERTED ? largest_child(current) : parent[current],
  Home: () => zoomed,
};

function escape() {
  if (hits || input.value) {
    input.value = "";
    search("");
    if (document.activeElement === input) go(current);
  } else if (zoomed !== 0) {
    zoom(0);
  }
}

function open_search() {
  input.focus();
  input.select();
}

function on_key(event) {
  const typing = event.target === input, key = event.key;
  const find = key.toLowerCase() === "f" && (event.ctrlKey || event.metaKey) && !event.altKey;
  if (find && !typing) open_search(); // a second time it is the browser's own
  else if (event.ctrlKey || event.metaKey || event.altKey) return;
  else if (key === "Escape") escape();
  else if (typing && key === "Enter") next_match(event.shiftKey ? -1 : 1);
  else if (typing || event.target === reset) return;
  else if (key === "/") open_search();
  else if (key === "Enter" || key === " ") zoom(current);
  else if (key === "n" || key === "N") next_match(key === "n" ? 1 : -1);
  else if (moves[key]) go(moves[key]());
  else return;
  event.preventDefault();
}
