// The axis of a timechart.

// A round step of time, of which at most n fit into the span.
function step_of(span, n) {
  const least = span / n, power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least);
}

function seconds(time) {
  const ns = ORIGIN + BigInt(Math.round(time)), whole = ns / 1000000000n;
  return whole + "." + String(ns % 1000000000n).padStart(9, "0");
}

// Draws the times from `from` to `to` above the rows, and lines through these.
function draw_axis(axis, grid, from, to, left, room, height) {
  const step = step_of(to - from, room / 110), scale = room / (to - from), marks = [], lines = [];
  for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
    const x = left + (time - from) * scale, text = element("text", { x, y: HEAD - 8, "text-anchor": "middle" });
    text.textContent = time === 0 ? seconds(0) : "+" + duration(time);
    if (x + 50 < left + room || marks.length === 0) marks.push(text);
    lines.push(element("line", { class: "grid", x1: x, x2: x, y1: HEAD - 4, y2: HEAD + height }));
  }
  axis.replaceChildren(...marks);
  grid.replaceChildren(...lines);
}
