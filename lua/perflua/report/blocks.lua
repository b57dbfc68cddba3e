-- The report of perf report --total-cycles: blocks of instructions, by the cycles that they
-- took. An event has the blocks of the functions that its branches lead to.

local ipc = require "perflua.report.ipc"
local core = require "perflua.core"
local distinctions = require "perflua.recording.distinctions"
local fmt = require "perflua.text.fmt"
local prepared = require "perflua.report.prepared"
local quality = require "perflua.report.quality"
local usage_error = require("perflua.errors").usage_error

local blocks = {}

-- Titles and widths of the columns, which are perf's.
local TITLES <const> = { { "Sampled Cycles%", 15 }, { "Sampled Cycles", 14 },
  { "Avg Cycles%", 11 }, { "Avg Cycles", 10 }, { "[Program Block Range]", 70 },
  { "Shared Object", 20 } }

-- Returns the events by their number: { samples, period, targets }. period: the number of
-- branches; targets: by function, how many rows of report -b lead to it.
local function read_events(query)
  local by_index = {}
  for row in query:all_events():group_by "event.index":as "event":count():table():rows() do
    by_index[row.event] = { samples = row.count, period = 0, targets = {} }
  end
  query = query:unnest "branch_stack":all_events():group_by("event.index", "comm",
    "branch.dso_from", "branch.symbol_from",
    "branch.symbol_from == nil and branch.address_from", "branch.cycles", "branch.dso_to",
    ipc.START:format("to", "to")):as "start":count()
  for row in query:table():rows() do
    local entry = by_index[row["event.index"]]
    entry.period = entry.period + row.count
    if row.start then
      local name = ipc.name_function(row["branch.dso_to"], row.start)
      entry.targets[name] = (entry.targets[name] or 0) + 1
    end
  end
  return by_index
end

-- Sets the blocks of an event, those with the most cycles first, and the sum of their averages.
local function set_rows(entry, functions)
  local list, average = {}, 0
  for name, n in pairs(entry.targets) do
    local func = functions[name]
    for _, block in pairs(func and func.blocks or {}) do
      block.dso, block.symbol = func.dso, func.symbol
      list[#list + 1] = block
      average = average + n * (block.cycles // block.n)
    end
  end
  table.sort(list, function(a, b)
    if a.cycles ~= b.cycles then return a.cycles > b.cycles end
    if a.symbol ~= b.symbol then return a.symbol > b.symbol end
    if a.begin ~= b.begin then return (a.begin or 0) < (b.begin or 0) end
    if a.at ~= b.at then return a.at < b.at end
    return a.dso < b.dso
  end)
  entry.rows, entry.average = list, average
end

---@param file perflua.File
---@param options table of report.prepare
---@return { events: table[], total: integer } # events: { event, index, samples, period, rows,
--- average } in their order; rows: blocks { dso, symbol, begin, at, cycles, own, n, first,
--- last }, begin and at being offsets in the function, first and last source lines; raises if
--- no event has branch stacks
function blocks.read(file, options)
  local query = prepared.query_of(file, setmetatable({ branches = false },
    { __index = options }))
  if ipc.branch_types(query) == 0 then
    usage_error("--total-cycles: no event has branch stacks; perf record -b records them")
  end
  local functions, total = ipc.read_blocks(query, true)
  local by_index, list = read_events(query), {}
  for i = 1, #file.events do
    local entry = by_index[i]
    if entry then
      entry.event, entry.index = file.events[i].name, i
      set_rows(entry, functions)
      list[#list + 1] = entry
    end
  end
  return { events = list, total = total, aside = 0 }
end

local function cycles_text(cycles)
  if cycles >= 1000000 then return ("%.1fM"):format(cycles / 1000000) end
  return cycles >= 1000 and ("%.1fK"):format(cycles / 1000) or ("%d"):format(cycles)
end

local function share_text(part, whole)
  return ("%.2f%%"):format(whole > 0 and 100 * part / whole or 0)
end

-- Returns where a block begins and ends: its lines, or its function and offsets.
local function range_of(block)
  local function place(srcline, offset)
    return srcline or ("%s+%d"):format(block.symbol, offset)
  end
  return ("[%s -> %s]"):format(place(block.first, block.begin or 0),
    place(block.last, block.at))
end

local function line_of(cells)
  for i, title in ipairs(TITLES) do
    cells[i] = (" "):rep(title[2] - core.columns(cells[i])) .. cells[i]
  end
  return table.concat(cells, "  ") .. "\n"
end

local function write_head(out)
  local titles, dots = {}, {}
  for i, title in ipairs(TITLES) do titles[i], dots[i] = title[1], ("."):rep(title[2]) end
  out:write("# ", line_of(titles), "# ", table.concat(dots, "  "), "\n#\n")
end

---Writes them.
---@param result table of blocks.read
---@param file perflua.File
---@param health table? of core.health()
---@param out file*
---@param args { quiet: boolean? }
---@param shown { limit: number, count: integer? } rows of that share at least, in percent, and
--- so many at most
function blocks.write(result, file, health, out, args, shown)
  local function note(...)
    if not args.quiet then out:write("# ", ...) end
  end
  for _, line in ipairs(quality.file(result, file, health)) do note(line, "\n") end
  local line_of_event, known = quality.events(health), {}
  for i, event in ipairs(result.events) do known[i] = file.events[event.index] end
  local found, short_names = distinctions.of(file, known), core.short_names(file)
  for i, event in ipairs(result.events) do
    if i > 1 then out:write "\n\n" end
    event.distinction = found[event.index]
    note(line_of_event(event), "\n# Event count: ", fmt.unsigned(event.period), "\n#\n")
    if not args.quiet then write_head(out) end
    for r, block in ipairs(event.rows) do
      if shown.count and r > shown.count then break end
      if 100 * block.own >= shown.limit * result.total then -- as in perf
        out:write("  ", line_of { share_text(block.cycles, result.total),
          cycles_text(block.cycles), share_text(block.cycles // block.n, event.average),
          cycles_text(block.cycles // block.n), fmt.escape(range_of(block)),
          fmt.escape(short_names[block.dso] or fmt.base_name(block.dso)) })
      end
    end
  end
  if #result.events == 0 then note("no samples\n") end
end

return blocks
