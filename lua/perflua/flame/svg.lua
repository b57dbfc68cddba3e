-- A flame graph as a page: drawn, so that it can be seen and printed as it is, and with the
-- data from which the script draws it anew as wide as the window, and lets one zoom and search.

local fmt = require "perflua.text.fmt"
local page = require "perflua.flame.page"
local palette = require "perflua.flame.palette"

local svg = {}

local ROW <const>, PAD <const>, FOOT <const> = page.ROW, page.PAD, page.FOOT
local HEAD <const> = 86 -- pixels above the frames
local LEAST_DRAWN <const> = 0.5 -- pixels of a frame that is drawn without the script
local LEAST_LABEL <const> = 28 -- pixels of a frame with its name in it

local labels = { { "u", "user" }, { "k", "kernel" }, { "j", "JIT" }, { "i", "inlined" },
  { "p", "preempted" } }
local change_labels = { { "m", "more" }, { "l", "less" }, { "n", "no more than noise" } }

local function format_number(value)
  return math.type(value) == "integer" and ("%d"):format(value) or ("%.17g"):format(value)
end

-- Frames that are large enough to be seen, in percents of the width, so that any width suits
-- them.
local function add_frames(out, graph)
  local t, width, whole = graph.tree, graph.width - 2 * PAD, graph.tree.total[1]
  for i, total in ipairs(t.total) do
    local pixels = total / whole * width
    if pixels >= LEAST_DRAWN then
      local name = t.names[t.name[i]]
      local row = graph.inverted and t.depth[i] or graph.rows - 1 - t.depth[i]
      local x, y = PAD + t.start[i] / whole * width, HEAD + row * ROW
      local shade = graph.changes and graph.changes.list[i][4] or palette.shade(name)
      out(('<rect class="%s%d" x="%s" y="%d" width="%s" height="%d" rx="2"/>\n'):format(
        t.kind[i], shade, page.fixed(x), y,
        page.fixed(math.max(pixels - 0.7, 0.4)), ROW - 1))
      local label = pixels >= LEAST_LABEL and page.fit(name, pixels - 8) or ""
      if label ~= "" then
        out(('<text x="%s" y="%d">%s</text>\n'):format(page.fixed(x + 4), y + 13,
          page.escape(label)))
      end
    end
  end
end

-- Returns the kinds of frames that there are, with their colors.
local function legend_of(graph)
  local seen, legend = {}, {}
  for _, kind in ipairs(graph.tree.kind) do seen[kind] = true end
  for _, label in ipairs(graph.changes and change_labels or labels) do
    if graph.by_kind and seen[label[1]] then
      legend[#legend + 1] = { label[1] .. (graph.changes and "6" or "3"), label[2] }
    end
  end
  return legend
end

local function write_list(out, name, list)
  out((',\n"%s":[\n'):format(name))
  for i = 1, #list, 16 do
    out((i > 1 and ",\n" or "") .. table.concat(list, ",", i, math.min(i + 15, #list)))
  end
  out "\n]"
end

-- Writes the amounts on both sides of each frame, the number of its verdict, and its shade.
local function add_changes(out, changes)
  local flat, verdicts = {}, {}
  for i, change in ipairs(changes.list) do
    flat[i] = ("%s,%s,%d,%d"):format(format_number(change[1]), format_number(change[2]),
      change[3], change[4])
  end
  for i, verdict in ipairs(changes.verdicts) do verdicts[i] = page.script_string(verdict) end
  write_list(out, "verdicts", verdicts)
  write_list(out, "changes", flat)
end

-- Binaries once each, and for each name the number of its binary; 0: it has none, or several.
local function write_binaries(out, graph, ids)
  local list, numbers, binary_of = {}, {}, {}
  for name, id in pairs(ids) do
    local binary = graph.tree.binaries[graph.tree.names[name]]
    if binary and not numbers[binary] then
      list[#list + 1] = binary
      numbers[binary] = true
    end
    binary_of[id + 1] = binary or false
  end
  table.sort(list)
  for i, binary in ipairs(list) do numbers[binary], list[i] = i, page.script_string(binary) end
  for i, binary in ipairs(binary_of) do binary_of[i] = binary and numbers[binary] or 0 end
  write_list(out, "binaries", list)
  write_list(out, "binary_of", binary_of)
end

-- Writes files once each, and for each frame the number of its file and its line; 0,0: not
-- known.
local function write_srclines(out, graph)
  local files, numbers, lines, any = {}, {}, {}, false
  for i = 1, #graph.tree.name do
    local file, line = (graph.tree.srclines[i] or ""):match "^(.*):(%d+)$"
    file = file and fmt.base_name(file)
    if file and not numbers[file] then
      files[#files + 1] = page.script_string(file)
      numbers[file] = #files
    end
    any = any or file ~= nil
    lines[i] = ("%d,%d"):format(file and numbers[file] or 0, line or 0)
  end
  if not any then return end
  write_list(out, "files", files)
  write_list(out, "lines", lines)
end

local kind_of = { n = 0, u = 1, k = 2, j = 3, i = 4, p = 5, m = 6, l = 7 }

-- Names once each; of a frame how much deeper it is than the one before, name * 8 + kind,
-- total, and what of that is its own; where they are known the numbers of samples of both.
local function add_data(out, graph)
  local t, ids, names, shades, flat = graph.tree, {}, {}, {}, {}
  local depth = -1
  for i, name in ipairs(t.name) do
    if not ids[name] then
      names[#names + 1] = page.script_string(t.names[name])
      shades[#names] = palette.shade(t.names[name])
      ids[name] = #names - 1
    end
    flat[i] = ("%d,%d,%s,%s"):format(t.depth[i] - depth, ids[name] << 3 | kind_of[t.kind[i]],
      format_number(t.total[i]), format_number(t.own[i]))
    if t.samples then flat[i] = ("%s,%d"):format(flat[i], t.samples[i]) end
    depth = t.depth[i]
  end
  out(('{"kind":"flame","row":%d,"head":%d,"foot":%d,"pad":%d,"inverted":%s,"reversed":%s,')
    :format(ROW, HEAD, FOOT, PAD, graph.inverted or false, graph.reversed or false))
  out(('"unit":%s,"counted":%s,"shades":"%s"'):format(page.script_string(graph.unit),
    t.samples and ('"%s"'):format(graph.counted) or false, table.concat(shades)))
  write_list(out, "names", names)
  if t.binaries then write_binaries(out, graph, ids) end
  if t.srclines then write_srclines(out, graph) end
  write_list(out, "frames", flat)
  if graph.changes then add_changes(out, graph.changes) end
  out "}"
end

---@param out fun(text: string)
---@param graph table { tree, rows, inverted, reversed, width, fixed, scheme, by_kind,
--- title, about, note, unit, counted, html, changes }
function svg.write(out, graph)
  page.write(out, {
    title = graph.title, about = graph.about, width = graph.width,
    height = HEAD + graph.rows * ROW + FOOT, fixed = graph.fixed, html = graph.html,
    rules = { light = palette.css(graph.scheme, "light"),
      dark = palette.css(graph.scheme, "dark") },
  }, function(write)
    write '<g id="frames">\n'
    add_frames(write, graph)
    write "</g>\n"
    page.write_head(write, { height = HEAD, title = graph.title, about = graph.about,
      note = graph.note, legend = legend_of(graph) })
  end, function(write) add_data(write, graph) end)
end

return svg
