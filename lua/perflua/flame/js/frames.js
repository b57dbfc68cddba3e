// The frames as the script has them: an array for each property, a caller before what it calls.

const N = FRAMES.length / 3;
const depth = new Int32Array(N), name = new Int32Array(N), kind = new Uint8Array(N);
const total = new Float64Array(N), start = new Float64Array(N);
const parent = new Int32Array(N), end = new Int32Array(N).fill(N); // end: the first frame that is not below it

(function decode() {
  const last = [], next = new Float64Array(N); // of each depth its last frame; where a next child starts
  let d = -1;
  for (let i = 0; i < N; i++) {
    const deeper = FRAMES[3 * i], named = FRAMES[3 * i + 1];
    for (let above = d; above >= d + deeper; above--) end[last[above]] = i;
    d += deeper;
    depth[i] = d;
    name[i] = named >> 3;
    kind[i] = named & 7;
    total[i] = FRAMES[3 * i + 2];
    const p = d ? last[d - 1] : -1;
    parent[i] = p;
    start[i] = next[i] = p < 0 ? 0 : next[p];
    if (p >= 0) next[p] += total[i];
    last[d] = i;
  }
})();

function inside(i, j) { return i >= j && i < end[j]; }
