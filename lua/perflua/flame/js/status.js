// Status of a frame: in the line at the bottom, and where the pointer rests.

const HINT = "Click or Enter zooms, Esc goes back, arrows move, / searches";
const status_name = element("text", { class: "name", x: PAD, y: 21 });
const status_value = element("text", { x: PAD, y: 21 });
const tip = element("title");

// Its shares, what it spent itself, its samples or what else is counted, where it is.
function parts_of(i) {
  if (has_changes()) return change_parts(i);
  const list = [amount(total[i]), percent(total[i], total[0]) + " of all"];
  if (zoomed !== 0 && inside(i, zoomed)) list.push(percent(total[i], total[zoomed]) + " of this view");
  list.push("self " + (own[i] ? amount(own[i]) : "0"));
  if (count && PAGE.unit !== "samples") list.push(thousands(count[i]) + " " + COUNTED + (count[i] === 1 ? "" : "s"));
  const binary = kind[i] && PAGE.binaries && PAGE.binary_of[name[i]]; // kind 0 is not code
  if (binary) list.push(PAGE.binaries[binary - 1]);
  const file = PAGE.lines && reversed === PAGE.reversed && PAGE.lines[2 * i];
  if (file) list.push(PAGE.files[file - 1] + ":" + PAGE.lines[2 * i + 1]);
  return list;
}

function shares(i) { return parts_of(i).join(" · "); }

// The name on the left, its numbers behind it, or whole and alone if there is no room for both.
function show(i) {
  const value = i === null ? HINT : shares(i), style = "status";
  const room = width - measure(value, style) - 24;
  const text = i === null ? "" : fit(NAMES[name[i]], Math.max(room, 60), "name");
  status_name.textContent = text;
  status_value.textContent = value;
  status_value.setAttribute("x", PAD + (text ? measure(text, "name") + 16 : 0));
}

function point_at(i) {
  const rect = drawn.get(i);
  tip.textContent = NAMES[name[i]] + "\n" + parts_of(i).join("\n");
  if (tip.parentNode !== rect) rect.appendChild(tip);
  mark(i, "");
  show(i);
}
