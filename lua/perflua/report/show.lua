-- A report as perf report --stdio prints it: a section for each event.

local branches = require "perflua.report.branches"
local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local seconds = require("perflua.core").seconds

-- By cpumode: see thread__find_map, tools/perf/util/event.c.
local levels = {
  kernel = "k", user = ".", hypervisor = "H", guest_kernel = "g", guest_user = "u",
  unknown = "H",
}

local headings = {
  comm = "Command", dso = "Shared Object", srcline = "Source:Line", cpu = "CPU",
  cgroup_path = "Cgroup", cgroup_id = "cgroup id (dev/inode)",
  symbol_daddr = "Data Symbol", dso_daddr = "Data Object",
  comm_nodigit = "CommandNoDigit", srcfile = "Source File", symbol_size = "Symbol size",
  dso_size = "DSO size", parent = "Parent symbol", mem = "Memory access", tlb = "TLB access",
  dcacheline = "Data Cacheline", phys_daddr = "Data Physical Address",
  local_weight = "Local Weight", local_ins_lat = "Local INSTR Latency",
}

-- Returns the heading of a field's column, as perf report prints it.
local function title_of(field)
  if field:find("[^%w_.]") then return field end -- an expression
  return headings[field] or field:sub(1, 1):upper() .. field:sub(2):gsub("_", " ")
end

local show = {}

local function count_columns(text) return utf8.len(text) or #text end

local right = { signed = true, unsigned = true, address = true, float = true }

local MOST = 4096 -- texts of a column that are kept
local BATCH = 256 -- rows that are read and written at a time

local ABSENT = {} -- a value for tables

local function percent_text(part, whole)
  if part == whole and whole > 0 then return "100.00%" end -- the only row of its event
  return ("%.2f%%"):format(whole > 0 and 100 * (part / whole) or 0)
end

-- Columns: the value at values[at][r] is shown as cell(value), or is of a percent column,
-- behind the mark of values[mark_at][r]. `texts` are those that were made, of `n` values; `now`
-- those of a batch. `wide` says that some text has fewer characters than bytes; `least` is the
-- width of the title beside a mark's.
local function column_of(title, at, is_right, before)
  return {
    title = title, at = at, right = is_right, before = before or 0,
    least = count_columns(title) - (before or 0),
    texts = {}, n = 0, now = {},
  }
end

local function key_column(key, at)
  local column = column_of(title_of(key.name), at, right[key.kind])
  column.cell = key.name == "time" and seconds
    or function(value) return fmt.cell(value, key.kind) end
  return column
end

local function branch_column(key, at)
  local column = column_of(branches.heading(key.name), at, right[key.kind]
    and not key.beside_at)
  column.cell, column.beside_at = branches.cell(key.name) or function(value)
    return fmt.cell(value, key.kind)
  end, key.beside_at
  return column
end

local function symbol_column(at, mark_at)
  local column = column_of(title_of("symbol"), at, false, 4)
  column.cell, column.mark_at, column.marks = fmt.escape, mark_at, {}
  for cpumode, letter in pairs(levels) do
    column.marks[cpumode] = "[" .. letter .. "] "
  end
  return column
end

local function percent_column(title, at)
  local column = column_of(title, at, true)
  column.percent = true
  return column
end

local function number_column(title, at)
  local column = column_of(title, at, true)
  column.cell = fmt.unsigned
  return column
end

local function columns_of(report, shown)
  local columns, keys = {}, report.keys
  local n = #keys
  if report.children then columns[1] = percent_column("Children", n + 3) end
  columns[#columns + 1] = percent_column(report.children and "Self" or "Overhead", n + 2)
  if shown["show-nr-samples"] then columns[#columns + 1] = number_column("Samples", n + 1) end
  if shown["show-total-period"] then columns[#columns + 1] = number_column("Period", n + 2) end
  for i, key in ipairs(keys) do
    if report.branches and branches.heading(key.name) then
      columns[#columns + 1] = branch_column(key, i)
    elseif key.name == "symbol" then
      columns[#columns + 1] = symbol_column(i, n)
    elseif not key.hidden and not (report.symbols and i == n) then
      columns[#columns + 1] = key_column(key, i)
    end
  end
  columns[#columns].last = not columns[#columns].right
  return columns
end

-- Returns the text of a value, and keeps it for the next rows that have it.
local function text_of(column, value)
  if value == nil then value = ABSENT end
  local text = column.texts[value]
  if not text then
    if column.n == MOST then column.texts, column.n = {}, 0 end
    text = value == ABSENT and "-" or column.cell(value)
    column.texts[value], column.n = text, column.n + 1
    column.wide = column.wide or count_columns(text) ~= #text
  end
  return text
end

-- Returns the text of a value and of the one beside it.
local function text_of_two(column, value, beside)
  if value == nil then return "-" end
  local text = column.cell(value, beside)
  column.wide = column.wide or count_columns(text) ~= #text
  return text
end

-- Makes the texts of a batch.
local function make_texts(column, values, n, event)
  local list, now, whole = values[column.at], column.now, event.period
  if column.percent then
    for r = 1, n do now[r] = percent_text(list[r], whole) end
  elseif column.beside_at then
    local beside = values[column.beside_at]
    for r = 1, n do now[r] = text_of_two(column, list[r], beside[r]) end
  else
    for r = 1, n do now[r] = text_of(column, list[r]) end
  end
end

-- Walks the rows of an event in batches: values by column, and how many. An interrupt ends that
-- behind those that an interrupted table has in any case.
local function each_batch(event)
  local from, most = 1, interrupted.MOST
  return function()
    if from > most and from <= event.n and interrupted.now() then
      event.all, event.n = event.all or event.n, from - 1
    end
    local n = math.min(BATCH, event.n - from + 1, from <= most and most - from + 1 or BATCH)
    if n <= 0 then return nil end
    from = from + n
    return event.rows(from - n, from - 1), n
  end
end

-- Makes columns wide enough for a batch.
local function fit_batch(columns, values, n, event)
  for c = 1, #columns do
    local column = columns[c]
    local most, now = column.room, column.now
    make_texts(column, values, n, event)
    for r = 1, n do
      local text = now[r]
      if #text > most then most = math.max(most, count_columns(text)) end
    end
    column.room = most
  end
end

-- Makes columns wide enough for the titles and for all rows of an event. Gives the values of
-- the only batch.
local function fit_columns(columns, event)
  for c = 1, #columns do columns[c].room = columns[c].least end
  if event.n <= BATCH then
    local values = event.rows(1, event.n)
    fit_batch(columns, values, event.n, event)
    return values
  end
  for values, n in each_batch(event) do fit_batch(columns, values, n, event) end
end

local function pad_text(text, room, at_right, wide)
  local blanks = room - (wide and count_columns(text) or #text)
  if blanks == 0 then return text end
  return at_right and (" "):rep(blanks) .. text or text .. (" "):rep(blanks)
end

-- Writes a column's cells to `parts`: the first to parts[at], the others at intervals of
-- `step`.
local function format_cells(column, values, n, parts, at, step)
  local now, room, at_right, last = column.now, column.room, column.right, column.last
  local marks, modes, wide = column.marks, values[column.mark_at], column.wide
  for r = 1, n do
    local text = last and now[r] or pad_text(now[r], room, at_right, wide)
    parts[at] = marks and marks[modes[r]] .. text or text
    at = at + step
  end
end

-- Returns the lines above the rows.
local function head_of(columns)
  local titles, dots = {}, {}
  for c, column in ipairs(columns) do
    local room = column.room + column.before
    titles[c] = column.last and column.title or pad_text(column.title, room, column.right, true)
    dots[c] = ("."):rep(room)
  end
  return "# " .. table.concat(titles, "  ") .. "\n# " .. table.concat(dots, "  ") .. "\n#\n"
end

-- Returns a head_of that is computed again only when the width of a column changes from one
-- event to the next.
local function make_head_cache()
  local rooms, head = {}, nil
  return function(columns)
    for c, column in ipairs(columns) do
      if column.room ~= rooms[c] then rooms[c], head = column.room, nil end
    end
    head = head or head_of(columns)
    return head
  end
end

-- Writes a batch of rows. The text between cells stays in `parts`; each batch replaces the
-- cells.
local function write_batch(columns, values, n, parts, write)
  local step = 2 * #columns + 1
  for r = #parts // step, n - 1 do
    for c = 1, #columns do parts[r * step + 2 * c - 1], parts[r * step + 2 * c] = "  ", "" end
    parts[(r + 1) * step] = "\n"
  end
  for c = 1, #columns do format_cells(columns[c], values, n, parts, 2 * c, step) end
  write(table.concat(parts, "", 1, n * step))
end

---@param report table of report.read
---@param shown table<string, boolean> columns beside shares and keys: "show-nr-samples",
--- "show-total-period"
---@return fun(event: table, write: fun(text: string)) # writes one of its events
function show.sections(report, shown)
  local columns, parts, head = columns_of(report, shown), {}, make_head_cache()
  return function(event, write)
    local only = fit_columns(columns, event)
    write(head(columns))
    if event.n <= BATCH then -- their texts are there
      if event.n > 0 then write_batch(columns, only, event.n, parts, write) end
      return
    end
    for values, n in each_batch(event) do
      for _, column in ipairs(columns) do make_texts(column, values, n, event) end
      write_batch(columns, values, n, parts, write)
    end
  end
end

return show
