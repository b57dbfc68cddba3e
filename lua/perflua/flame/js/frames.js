// The frames as the script has them: an array for each property, a caller before what it calls.

const NAMES = PAGE.names, SHADES = PAGE.shades, COUNTED = PAGE.counted;
const graph = body;
let N, depth, name, kind, total, own, count, start;
let parent, end; // end: the first frame that is not below it

// Takes frames as numbers: of each how much deeper it is than the one before, its name * 8 + kind, total, own part, and
// if they are `counted` the number of samples.
function use_frames(flat, counted) {
  const size = counted ? 5 : 4, last = []; // of each depth its last frame
  let d = -1;
  N = flat.length / size;
  depth = new Int32Array(N);
  name = new Int32Array(N);
  kind = new Uint8Array(N);
  total = new Float64Array(N);
  own = new Float64Array(N);
  count = counted ? new Float64Array(N) : null;
  start = new Float64Array(N);
  parent = new Int32Array(N);
  end = new Int32Array(N).fill(N);
  n_rows = 0;
  const next = new Float64Array(N); // where a next child starts
  for (let i = 0, at = 0; i < N; i++, at += size) {
    const deeper = flat[at], p = d + deeper ? last[d + deeper - 1] : -1;
    for (let above = d; above >= d + deeper; above--) end[last[above]] = i;
    d += deeper;
    depth[i] = d;
    name[i] = flat[at + 1] >> 3;
    kind[i] = flat[at + 1] & 7;
    total[i] = flat[at + 2];
    own[i] = flat[at + 3];
    if (counted) count[i] = flat[at + 4];
    parent[i] = p;
    start[i] = next[i] = p < 0 ? 0 : next[p];
    if (p >= 0) next[p] += total[i];
    last[d] = i;
    n_rows = Math.max(n_rows, d + 1);
  }
}

function inside(i, j) { return i >= j && i < end[j]; }

use_frames(PAGE.frames, COUNTED);
