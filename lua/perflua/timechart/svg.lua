-- A timechart as a page: drawn, and with the data from which the script draws it anew.

local core = require "perflua.core"
local page = require "perflua.flame.page"
local units = require "perflua.text.units"

local svg = {}

local HEAD <const>, LABELS <const> = 108, 170 -- pixels above the rows, and of their names

local rules = {
  light = { ".lane{fill:#f3f4f7}", ".run{fill:#3d7ccc}", ".cpu{fill:#4f9a63}",
    ".wait{fill:#e5a03c}", ".wake{stroke:#a8327d;stroke-width:1.2;fill:none}",
    ".gap{fill:url(#hatch)}", ".hatch{stroke:#8a8f9c;stroke-width:1.5}",
    ".grid{stroke:#d3d6df}", ".range{fill:#1f6feb;opacity:.2}" },
  dark = { ".lane{fill:#1d2027}", ".run{fill:#4d8bd9}", ".cpu{fill:#4f9a63}",
    ".wait{fill:#c98a2e}", ".wake{stroke:#e07abc;stroke-width:1.2;fill:none}",
    ".gap{fill:url(#hatch)}", ".hatch{stroke:#7b8190;stroke-width:1.5}",
    ".grid{stroke:#363b47}", ".range{fill:#79b8ff;opacity:.25}" },
}

local legend = { { "cpu", "processor busy" }, { "run", "thread runs" },
  { "wait", "waits for a processor" } }
local GAP <const> = { "gap", "not known who ran" } -- in the legend where there is such a time

local HATCH <const> = '<defs><pattern id="hatch" width="6" height="6" '
  .. 'patternUnits="userSpaceOnUse"><path class="hatch" d="M-1 1l2-2M0 6l6-6M5 7l2-2"/>'
  .. "</pattern></defs>\n"

-- Returns the path of segments, those of less than a pixel joined.
local function path_of(list, chart, width, y, height)
  local parts, scale = {}, width / math.max(chart.to - chart.from, 1)
  local last_x, last_end
  local function flush()
    if last_x then
      parts[#parts + 1] = ("M%s %dh%sv%dh-%sz"):format(page.fixed(last_x), y,
        page.fixed(math.max(last_end - last_x, 0.4)), height,
        page.fixed(math.max(last_end - last_x, 0.4)))
    end
  end
  for i = 1, #list, 4 do
    local x = (list[i] - chart.from) * scale
    local stop = (list[i + 1] - chart.from) * scale
    if last_x and x - last_end < 0.5 then
      last_end = math.max(last_end, stop)
    else
      flush()
      last_x, last_end = x, stop
    end
  end
  flush()
  return table.concat(parts)
end

local function rows_of(chart)
  local rows = table.move(chart.cpus, 1, #chart.cpus, 1, {})
  return table.move(chart.threads, 1, #chart.threads, #rows + 1, rows)
end

local function add_rows(out, chart, rows, width)
  local room = width - 2 * page.PAD - LABELS
  for i, row in ipairs(rows) do
    local y, class = HEAD + (i - 1) * page.ROW, i <= #chart.cpus and "cpu" or "run"
    out(('<rect class="lane" x="%d" y="%d" width="%d" height="%d"/>\n'):format(
      page.PAD + LABELS, y, room, page.ROW - 2))
    out(('<text x="%d" y="%d">%s</text>\n'):format(page.PAD, y + 12,
      page.escape(page.fit(row.name, LABELS - 8))))
    out(('<g transform="translate(%d)"><path class="wait" d="%s"/>'):format(
      page.PAD + LABELS, path_of(row.waits, chart, room, y + 5, page.ROW - 12)))
    if row.gaps[1] then
      out(('<path class="gap" d="%s"/>'):format(path_of(row.gaps, chart, room, y,
        page.ROW - 2)))
    end
    out(('<path class="%s" d="%s"/></g>\n'):format(class,
      path_of(row.runs, chart, room, y, page.ROW - 2)))
  end
end

-- Starts count from the stop before, so that numbers are short.
local function segments(list, from, number_of)
  local parts, last = {}, from
  for i = 1, #list, 4 do
    parts[#parts + 1] = ("%d,%d,%d,%d"):format(list[i] - last, list[i + 1] - list[i],
      list[i + 2], number_of(list[i + 3]))
    last = list[i + 1]
  end
  return table.concat(parts, ",")
end

local function add_data(out, chart, rows)
  local names, number_of, row_of = {}, {}, {}
  local function name_number(tid)
    if not tid then return -1 end
    if not number_of[tid] then
      names[#names + 1] = page.script_string(chart.names[tid] or "[unknown]")
      number_of[tid] = #names - 1
    end
    return number_of[tid]
  end
  local function cpu_number(cpu) return cpu or -1 end
  out(('{"kind":"chart","row":%d,"head":%d,"foot":%d,"pad":%d,"labels":%d,"cpus":%d,'):format(
    page.ROW, HEAD, page.FOOT, page.PAD, LABELS, #chart.cpus))
  out(('"origin":"%d","span":%d,"step":%d,\n"rows":['):format(chart.from,
    math.max(chart.to - chart.from, 1), chart.step))
  for i, row in ipairs(rows) do
    local is_cpu = i <= #chart.cpus
    if not is_cpu then row_of[row.id] = i - 1 end
    out(('%s\n{"name":%s,"ran":%d,"unknown":%d,"runs":[%s],"waits":[%s],"gaps":[%s]}'):format(
      i > 1 and "," or "", page.script_string(row.name), row.ran, row.unknown,
      segments(row.runs, chart.from, is_cpu and name_number or cpu_number),
      segments(row.waits, chart.from, cpu_number), segments(row.gaps, chart.from, cpu_number)))
  end
  out '],\n"wakes":['
  local list, last, first = chart.wakes, chart.from, true
  for _, wake in ipairs(list) do
    local from, to = row_of[wake[2]], row_of[wake[3]]
    if from and to then
      out(("%s%d,%d,%d"):format(first and "" or ",", wake[1] - last, from, to))
      last, first = wake[1], false
    end
  end
  out(('],\n"names":[%s]}'):format(table.concat(names, ",")))
end

local function note_of(chart)
  local notes = {}
  if chart.left_out > 0 then
    notes[1] = ("%d further threads ran %s"):format(chart.left_out,
      units.format(chart.left_out_ns, "duration"))
  end
  if chart.merged > 0 then
    notes[#notes + 1] = ("runs within %s are drawn as one"):format(
      units.format(chart.step, "duration"))
  end
  return table.concat(notes, "; ")
end

---@param out fun(text: string)
---@param chart table see init.lua
---@param options { title: string, about: string, width: integer?, html: boolean? }
function svg.write(out, chart, options)
  local rows, width = rows_of(chart), options.width or 1200
  page.write(out, {
    title = options.title, about = options.about, width = width,
    height = HEAD + #rows * page.ROW + page.FOOT, fixed = options.width ~= nil,
    html = options.html, rules = rules,
  }, function(write)
    write(HATCH)
    write '<g id="frames">\n'
    add_rows(write, chart, rows, width)
    write "</g>\n"
    page.write_head(write, { height = HEAD, title = options.title, about = options.about,
      legend = chart.unknown > 0 and { legend[1], GAP, legend[2], legend[3] } or legend,
      note = note_of(chart) })
    local y, right = HEAD - 8, width - page.PAD
    write(('<g id="axis" class="about"><text x="%d" y="%d">%s</text>'):format(
      page.PAD + LABELS, y, core.seconds(chart.from)))
    write(('<text x="%d" y="%d" text-anchor="end">%s</text></g>\n'):format(right, y,
      core.seconds(chart.to)))
  end, function(write) add_data(write, chart, rows) end)
end

return svg
