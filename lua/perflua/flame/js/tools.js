// The tools at the top, the texts beside them, and the state that a link to the page keeps.

const tools = element("foreignObject", { y: 6, height: 36 });
const box = element("div", { class: "tools" }, HTML);
const input = element("input", { type: "search", placeholder: "Search: text or regex", "aria-label": "Search",
  spellcheck: "false", autocomplete: "off" }, HTML);
const reset = button("Reset zoom", "Escape");
const matched = element("text", { id: "matched", class: "legend-matched", y: 70, "text-anchor": "end" });
const texts = ["title", "about", "note"].map((id) => {
  const text = head.querySelector("#" + id);
  return { text, whole: text.textContent, style: text.getAttribute("class") || "" };
});

function button(label, title) {
  const made = element("button", { type: "button", title }, HTML);
  made.textContent = label;
  return made;
}

// Fits the head into that width; room: pixels for the tools.
function layout_head(outer, room) {
  tools.setAttribute("x", outer - PAD - room);
  tools.setAttribute("width", room);
  matched.setAttribute("x", outer - PAD);
  for (const { text, whole, style } of texts) {
    const x = Number(text.getAttribute("x"));
    const taken = text.id === "title" ? room + 16 : text.id === "note" ? 250 : 0;
    text.textContent = fit(whole, outer - PAD - x - taken, style);
  }
}

// A predicate of names: those that hold the text, and those that match it as an expression where it is one.
// Upper and lower case are told apart when upper case is asked for.
function compile(text) {
  const exact = /[A-Z]/.test(text);
  let expression = null;
  try {
    expression = new RegExp(text, exact ? "" : "i");
  } catch (wrong) {
    // text it is
  }
  return (one) => (exact ? one : one.toLowerCase()).includes(text) || (expression !== null && expression.test(one));
}

// The state after the "#" of the page's address: names and values, of which "" is the default.
function read_state() {
  return new Map(new URLSearchParams(location.hash.slice(1)));
}

function write_state(state) {
  const kept = Object.entries(state).filter(([, value]) => value !== "");
  const text = "#" + new URLSearchParams(kept);
  if (text === location.hash || (text === "#" && !location.hash)) return;
  history.replaceState(null, "", text);
}

function listen_to_keys(on_key) {
  addEventListener("keydown", (event) => {
    const typing = event.target === input, key = event.key;
    const find = key.toLowerCase() === "f" && (event.ctrlKey || event.metaKey) && !event.altKey;
    if (find && !typing) open_search(); // a second time it is the browser's own
    else if (event.ctrlKey || event.metaKey || event.altKey) return;
    else if (!typing && key === "/") open_search();
    else if (!typing && page_key(key)) return;
    else if (!on_key(key, typing, event)) return;
    event.preventDefault();
  });
}

function open_search() {
  input.focus();
  input.select();
}

function add_tools(...list) {
  box.append(input, ...list);
  tools.appendChild(box);
  head.append(tools, matched);
  root.append(status, thumb);
}
