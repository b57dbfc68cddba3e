// Searching the names of frames.

// What the frames that match hold of a frame, each part once though it be inside several of them.
function matched_of(top) {
  let sum = 0;
  for (let i = top; i < end[top];) {
    if (hits[name[i]]) {
      sum += total[i];
      i = end[i];
    } else {
      i++;
    }
  }
  return sum;
}

function show_matched() {
  if (!hits) {
    matched.textContent = "";
    return;
  }
  const found = hits.reduce((sum, hit) => sum + hit, 0);
  let text = found + (found === 1 ? " name" : " names") + ": " + percent(matched_of(0), total[0]) + " of all";
  if (zoomed !== 0) text += ", " + percent(matched_of(zoomed), total[zoomed]) + " of this view";
  matched.textContent = text;
}

function search(text) {
  const wanted = text === "" ? null : compile(text);
  hits = wanted && Uint8Array.from(NAMES, wanted);
  draw();
  show_matched();
  keep_state();
}

// The next frame that matches, in the order of the frames, around the end.
function next_match(step) {
  if (!hits) return;
  const shown = Array.from(drawn.keys()).filter((i) => hits[name[i]]).sort((a, b) => a - b);
  if (!shown.length) return;
  if (step < 0) shown.reverse();
  const after = shown.find((i) => step > 0 ? i > current : i < current);
  go(after === undefined ? shown[0] : after);
}
