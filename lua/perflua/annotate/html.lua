-- One function as a page for any browser: its source beside its instructions. It needs nothing
-- else, and a policy lets the browser run this script only.

local fmt = require "perflua.text.fmt"
local Listing = require "perflua.annotate.listing"
local origin = require "perflua.annotate.origin"
local page = require "perflua.flame.page"
local rows = require "perflua.annotate.rows"
local text = require "perflua.annotate.text"

local html = {}

local AROUND <const> = 5 -- source lines around those of the code
local MOST <const> = 20000 -- instructions, and source lines

local SCRIPT <const> = [[
(function () {
"use strict";
const rows = document.querySelectorAll("tr[data-line]");
function show(row) {
  const line = row.dataset.line;
  rows.forEach((one) => one.classList.toggle("on", one.dataset.line === line));
  const other = row.closest("#code") ? "#source" : "#code";
  const found = document.querySelector(other + " tr.on");
  if (found) found.scrollIntoView({ block: "center" });
}
rows.forEach((row) => {
  row.tabIndex = 0;
  row.addEventListener("click", () => show(row));
  row.addEventListener("keydown", (event) => { if (event.key === "Enter") show(row); });
});
})();
]]

local STYLE <const> = [[
body { margin: 0; height: 100vh; display: flex; flex-direction: column;
  font: 13px system-ui, sans-serif; background: #fff; color: #1c1e24 }
header { padding: 10px 16px } h1 { font-size: 17px; margin: 0 0 4px; overflow-wrap: anywhere }
header p { margin: 0; color: #5d6270; overflow-wrap: anywhere }
main { display: grid; grid-template-columns: 1fr 1fr; flex: 1; min-height: 0 }
section { overflow: auto; border-top: 1px solid #dfe1e7 }
#code { border-left: 1px solid #dfe1e7 }
table { border-collapse: collapse; min-width: 100%; font: 12px ui-monospace, monospace }
th { position: sticky; top: 0; padding: 4px 8px; background: #f3f4f7; text-align: left;
  font: 12px system-ui, sans-serif; color: #5d6270 }
td { padding: 1px 8px; white-space: pre; vertical-align: top }
td.text:last-child { width: 100% }
td.place { color: #5d6270 }
td.share, td.number { text-align: right; color: #5d6270 } tr[data-line] { cursor: pointer }
tr.h1 { background: #fff4ea } tr.h2 { background: #ffe4cc } tr.h3 { background: #ffcfa3 }
tr.h4 { background: #ffb070 } tr.on { outline: 2px solid #1f6feb; outline-offset: -2px }
@media (prefers-color-scheme: dark) {
body { background: #15171c; color: #eef0f4 } header p, td.share, td.number { color: #a3a9b8 }
section, #code { border-color: #2e323c } th { background: #1f222a; color: #a3a9b8 }
td.place { color: #a3a9b8 }
tr.h1 { background: #2a2018 } tr.h2 { background: #42291a } tr.h3 { background: #66371b }
tr.h4 { background: #8f4a1c }
}
]]

-- Returns the class of the colour for a share in percent.
local function heat_of(share)
  return not share and "" or share >= 20 and "h4" or share >= 10 and "h3" or share >= 2 and "h2"
    or "h1"
end

local function write_row(out, share, line, cells)
  out(('<tr class="%s"%s><td class="share">%s</td>'):format(heat_of(share),
    line and (' data-line="%d"'):format(line) or "", share and ("%.2f"):format(share) or ""))
  for _, cell in ipairs(cells) do
    out(('<td class="%s">%s</td>'):format(cell[1], page.escape(cell[2])))
  end
  out "</tr>\n"
end

local function write_heading(out, columns, title)
  out(('<tr><th colspan="%d">%s</th></tr>\n'):format(columns, page.escape(fmt.escape(title))))
end

-- Returns the file that most of the function's own code is of, and the first and last of its
-- lines.
local function extent_of(listing)
  local file, first, last
  for i = 1, math.min(#listing, MOST) do
    local frames = listing:place(i).frames
    local own = frames and frames[#frames]
    file = file or own and own.file
    if own and own.file == file and own.line then
      first, last = math.min(first or own.line, own.line), math.max(last or own.line, own.line)
    end
  end
  return file, first, last
end

local function write_source(out, listing, event, options, file, first, last)
  local shares = {}
  for _, row in ipairs(rows.summary(listing, event)) do
    if row.path == file then
      shares[row.number] = Listing.share(row.sums, event, options.percent_type)
    end
  end
  for number = math.max(first - AROUND, 1), math.min(last + AROUND, first + MOST) do
    local line = listing.sources:line(file, number)
    if not line then break end
    write_row(out, shares[number], number, { { "number", tostring(number) }, { "text", line } })
  end
end

local function write_code(out, listing, event, options, file)
  for i = 1, math.min(#listing, MOST) do
    local line = listing[i]
    write_row(out, Listing.share(listing.hits[i], event, options.percent_type),
      line.path == file and line.number or nil, { { "number", ("%x"):format(line.address) },
        { "place", fmt.escape(line.srcline or "") },
        { "text", line.text and text.instruction(line, listing) or "" } })
  end
end

---Writes a page.
---@param listing perflua.Listing
---@param event table one of listing.events
---@param options { percent_type: string }
---@param out fun(text: string)
function html.write(listing, event, options, out)
  local file, first, last = extent_of(listing)
  local script, style = "\n" .. SCRIPT, "\n" .. STYLE
  page.open_html(out, listing.symbol, script, style)
  out(("<style>%s</style>\n<header><h1>%s</h1>\n<p>%s</p>\n"):format(style,
    page.escape(listing.symbol), page.escape(("%s samples of %s in %s"):format(
      fmt.unsigned(event.samples), event.name, listing.dso))))
  for _, line in ipairs(origin.lines(listing)) do
    out(("<p>%s</p>\n"):format(page.escape(line)))
  end
  if #listing > MOST then out(("<p>the first %d of %d lines</p>\n"):format(MOST, #listing)) end
  out '</header>\n<main><section id="source"><table>\n'
  write_heading(out, 3, file and listing.sources:file(file).path or "no source")
  if first then write_source(out, listing, event, options, file, first, last) end
  out '</table></section>\n<section id="code"><table>\n'
  write_heading(out, 4, listing.symbol)
  write_code(out, listing, event, options, file)
  out(("</table></section></main>\n<script>%s</script>\n</body>\n</html>\n"):format(script))
end

return html
