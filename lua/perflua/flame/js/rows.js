// The rows of a timechart: processors first, then threads. Times are ns since the first one.

const SPAN = PAGE.span, NAMES = PAGE.names, LABELS = PAGE.labels;
const ORIGIN = BigInt(PAGE.origin);

// Segments from numbers: of each the time since the stop before, its length, what of that was run, and its other end.
function decode(flat) {
  const n = flat.length / 4, list = { n, start: new Float64Array(n), stop: new Float64Array(n),
    ran: new Float64Array(n), other: new Int32Array(n) };
  for (let i = 0, at = 0, time = 0; i < n; i++, at += 4) {
    list.start[i] = time + flat[at];
    list.stop[i] = time = list.start[i] + flat[at + 1];
    list.ran[i] = flat[at + 2];
    list.other[i] = flat[at + 3];
  }
  return list;
}

const rows = PAGE.rows.map((row, i) => ({
  name: row.name, ran: row.ran, unknown: row.unknown, is_cpu: i < PAGE.cpus,
  runs: decode(row.runs), waits: decode(row.waits), gaps: decode(row.gaps),
}));

const wakes = [];
for (let at = 0, time = 0; at < PAGE.wakes.length; at += 3) {
  time += PAGE.wakes[at];
  wakes.push({ time, from: PAGE.wakes[at + 1], to: PAGE.wakes[at + 2] });
}

// The first segment that stops after that time.
function first_after(list, time) {
  let low = 0, high = list.n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list.stop[middle] > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The path of the segments from time to time, those of less than half a pixel between them joined.
function path_of(list, from, to, scale, y, height) {
  const parts = [];
  let left = null, right = 0;
  const flush = () => {
    if (left === null) return;
    parts.push("M" + left.toFixed(2) + " " + y + "h" + Math.max(right - left, 0.4).toFixed(2) + "v" + height
      + "H" + left.toFixed(2) + "z");
  };
  for (let i = first_after(list, from); i < list.n && list.start[i] < to; i++) {
    const x = (Math.max(list.start[i], from) - from) * scale, stop = (Math.min(list.stop[i], to) - from) * scale;
    if (left !== null && x - right < 0.5) {
      right = Math.max(right, stop);
    } else {
      flush();
      left = x;
      right = stop;
    }
  }
  flush();
  return parts.join("");
}
