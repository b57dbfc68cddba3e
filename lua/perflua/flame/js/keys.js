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
  into_sight(top_of(i) - ROW, top_of(i) + 2 * ROW);
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
  ArrowUp: () => inverted ? parent[current] : largest_child(current),
  ArrowDown: () => inverted ? largest_child(current) : parent[current],
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

// Returns whether the key meant something.
function on_key(key, typing, event) {
  if (key === "Escape") escape();
  else if (typing && key === "Enter") next_match(event.shiftKey ? -1 : 1);
  else if (typing || event.target.tagName === "BUTTON" || event.target.tagName === "button") return false;
  else if (key === "Enter" || key === " ") zoom(current);
  else if (key === "n" || key === "N") next_match(key === "n" ? 1 : -1);
  else if (moves[key]) go(moves[key]());
  else return false;
  return true;
}
