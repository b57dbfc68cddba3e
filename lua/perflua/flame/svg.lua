-- A flame graph as an SVG document of its own: drawn, so that it can be seen and printed as it
-- is, and with a script that draws it anew as wide as the window, and lets one zoom and search.

local palette = require "perflua.flame.palette"
local xml = require "perflua.flame.xml"

local svg = {}

local directory = debug.getinfo(1, "S").source:match("^@(.*/)") -- of this file

local ROW = 18 -- pixels from one row to the next
local HEAD = 86 -- above the frames
local FOOT = 34 -- below
local PAD = 16 -- left and right
local LETTER = 6.7 -- a letter's width, about; the script measures
local LEAST_DRAWN = 0.5 -- pixels of a frame that is drawn without the script
local LEAST_LABEL = 28 -- pixels of a frame with its name in it

local labels = { { "u", "user" }, { "k", "kernel" }, { "j", "JIT" }, { "i", "inlined" } }

local function format_number(value)
  return math.type(value) == "integer" and ("%d"):format(value) or ("%.17g"):format(value)
end

local function format_fixed(value) return (("%.2f"):format(value):gsub("%.?0+$", "")) end

-- Cuts a text to about the width that it has.
local function fit_text(text, width)
  local room = width // LETTER
  local length = utf8.len(text)
  if not length then return "" end -- the script will tell
  if length <= room then return text end
  if room < 3 then return "" end
  return text:sub(1, utf8.offset(text, room) - 1) .. "…"
end

-- Frames that are large enough to be seen, in percents of the width, so that any width suits
-- them.
local function add_frames(out, graph)
  local t, width, whole = graph.tree, graph.width - 2 * PAD, graph.tree.total[1]
  for _, frame in ipairs(graph.frames) do
    local total = t.total[frame.node]
    local pixels = total / whole * width
    if pixels >= LEAST_DRAWN then
      local name = t.names[t.name[frame.node]]
      local row = graph.inverted and frame.depth or graph.rows - 1 - frame.depth
      local x, y = PAD + frame.start / whole * width, HEAD + row * ROW
      out(('<rect class="%s%d" x="%s" y="%d" width="%s" height="%d" rx="2"/>\n'):format(
        t.kind[frame.node], palette.shade(name), format_fixed(x), y,
        format_fixed(math.max(pixels - 0.7, 0.4)), ROW - 1))
      local label = pixels >= LEAST_LABEL and fit_text(name, pixels - 8) or ""
      if label ~= "" then
        out(('<text x="%s" y="%d">%s</text>\n'):format(format_fixed(x + 4), y + 13,
          xml.escape(label)))
      end
    end
  end
end

local function add_legend(out, graph)
  local seen, x = {}, PAD
  for _, kind in pairs(graph.tree.kind) do seen[kind] = true end
  out '<g class="legend">\n'
  for _, label in ipairs(labels) do
    if graph.by_kind and seen[label[1]] then
      out(('<rect class="%s3" x="%d" y="60" width="12" height="12" rx="2"/>'):format(label[1],
        x))
      out(('<text x="%d" y="70">%s</text>\n'):format(x + 17, label[2]))
      x = x + 32 + #label[2] * 7
    end
  end
  out(('<text id="note" x="%d" y="70">%s</text>\n</g>\n'):format(x, xml.escape(graph.note)))
end

-- Adds the head after the frames, which pass under it when the page is scrolled.
local function add_head(out, graph)
  out(('<g id="head">\n<rect class="paper" width="100%%" height="%d"/>\n'):format(HEAD - 4))
  out(('<text class="title" id="title" x="%d" y="27">%s</text>\n'):format(PAD,
    xml.escape(graph.title)))
  out(('<text class="about" id="about" x="%d" y="47">%s</text>\n'):format(PAD,
    xml.escape(graph.about)))
  add_legend(out, graph)
  out "</g>\n"
end

local function write_list(out, name, list)
  out(("const %s = [\n"):format(name))
  for i = 1, #list, 16 do out(table.concat(list, ",", i, math.min(i + 15, #list)) .. ",\n") end
  out "];\n"
end

-- Names once each; of a frame how much deeper it is than the one before, name * 8 + kind,
-- total.
local function add_data(out, graph)
  local t, ids, names, shades, flat = graph.tree, {}, {}, {}, {}
  local kind_of = { n = 0, u = 1, k = 2, j = 3, i = 4 }
  local depth = -1
  for _, frame in ipairs(graph.frames) do
    local name = t.name[frame.node]
    if not ids[name] then
      names[#names + 1] = xml.script_string(t.names[name])
      shades[#names] = palette.shade(t.names[name])
      ids[name] = #names - 1
    end
    flat[#flat + 1] = ("%d,%d,%s"):format(frame.depth - depth,
      ids[name] << 3 | kind_of[t.kind[frame.node]],
      format_number(t.total[frame.node]))
    depth = frame.depth
  end
  out(("const ROW = %d, HEAD = %d, FOOT = %d, PAD = %d, ROWS = %d;\n"):format(ROW, HEAD, FOOT,
    PAD, graph.rows))
  out(("const INVERTED = %s, UNIT = %s;\n"):format(graph.inverted or false,
    xml.script_string(graph.unit)))
  out(("const SHADES = \"%s\";\n"):format(table.concat(shades)))
  write_list(out, "NAMES", names)
  write_list(out, "FRAMES", flat)
end

local function read_asset(path)
  local file <close> = assert(io.open(path, "rb"))
  return assert(file:read "a")
end

-- Returns the text of a file beside this one, without the comment that it begins with. In the
-- interpreter it is embedded, as a module of that name.
local function text_of(name)
  local embedded = "perflua/flame/" .. name
  local text = package.preload[embedded] and require(embedded) or read_asset(directory .. name)
  return (text:gsub("^.-\n\n", "", 1))
end

local scripts = { "frames", "text", "draw", "status", "search", "keys", "start" }

---@param out fun(text: string)
---@param graph table { tree, frames, rows, inverted, width, fixed, scheme, by_kind, title,
--- about, note, unit }
function svg.write(out, graph)
  local height = HEAD + graph.rows * ROW + FOOT
  out(('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '):format(graph.width,
    height))
  out(('viewBox="0 0 %d %d"%s>\n'):format(graph.width, height,
    graph.fixed and ' data-fixed=""' or ""))
  out(("<title>%s</title>\n<desc>%s</desc>\n"):format(xml.escape(graph.title),
    xml.escape(graph.about)))
  out(("<style>\n%s%s\n"):format(text_of "style.css",
    table.concat(palette.css(graph.scheme, "light"), "\n")))
  out(("@media (prefers-color-scheme: dark) {\n%s\n}\n</style>\n"):format(
    table.concat(palette.css(graph.scheme, "dark"), "\n")))
  out '<rect class="paper" width="100%" height="100%"/>\n<g id="frames">\n'
  add_frames(out, graph)
  out "</g>\n"
  add_head(out, graph)
  out "<script><![CDATA[\n(function () {\n\"use strict\";\n"
  add_data(out, graph)
  for _, name in ipairs(scripts) do out("\n" .. text_of("js/" .. name .. ".js")) end
  out "})();\n]]></script>\n</svg>\n"
end

return svg
