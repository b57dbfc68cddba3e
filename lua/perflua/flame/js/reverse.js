// Builds the graph of callers: the same frames from the callee on, below each function those
// that called it.

// Returns the own part of each frame, with that of callees too small to be frames.
function parts_of_frames() {
  const parts = Float64Array.from(total);
  for (let i = 1; i < N; i++) parts[parent[i]] -= total[i];
  return parts;
}

function child_of(node, key) {
  let child = node.children.get(key);
  if (!child) {
    child = { key, total: 0, own: 0, children: new Map() };
    node.children.set(key, child);
  }
  return child;
}

function reversed_tree() {
  const top = { key: name[0] << 3 | kind[0], total: 0, own: 0, children: new Map() };
  parts_of_frames().forEach((part, i) => {
    if (part <= 0 || i === 0) return;
    let node = top;
    top.total += part;
    for (let at = i; at > 0; at = parent[at]) {
      node = child_of(node, name[at] << 3 | kind[at]);
      node.total += part;
    }
    node.own += part;
  });
  return top;
}

// Returns the frames of a tree as use_frames() takes them, siblings by name.
function flatten(top) {
  const flat = [], open = [[top, 0]];
  let before = -1;
  while (open.length) {
    const [node, d] = open.pop();
    flat.push(d - before, node.key, node.total, node.own);
    before = d;
    const children = Array.from(node.children.values());
    children.sort((a, b) => NAMES[a.key >> 3] < NAMES[b.key >> 3] ? 1 : -1);
    for (const child of children) open.push([child, d + 1]);
  }
  return flat;
}

function use_direction(reversed) {
  use_frames(PAGE.frames, COUNTED);
  if (reversed !== PAGE.reversed) use_frames(flatten(reversed_tree()), false);
}
