-- A report as perf report --stdio prints it: a section for each event.

local branches = require "perflua.report.branches"
local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local seconds = require("perflua.core").seconds

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
local BATCH = 1024 -- rows that are written between two looks at the interrupt

local ABSENT = {} -- a value for tables

-- Returns a function that keeps the texts of another one for the rows that follow.
local function cached(cell)
  local texts, n = {}, 0
  return function(value)
    if value == nil then value = ABSENT end
    local text = texts[value]
    if not text then
      if n == MOST then texts, n = {}, 0 end
      text = value == ABSENT and "-" or cell(value)
      texts[value], n = text, n + 1
    end
    return text
  end
end

-- Columns as the core has them for lines (src/binding/query/report_lines.c). `before` is the
-- room of a mark, beside which the title has the room `least` at least.
local function column_of(title, at, is_right, before)
  return {
    title = title, at = at, right = is_right, before = before or 0,
    least = count_columns(title) - (before or 0),
  }
end

local function key_column(key, at)
  local column = column_of(title_of(key.name), at, right[key.kind])
  column.plain = key.kind == "string"
  column.cell = cached(key.name == "time" and seconds
    or function(value) return fmt.cell(value, key.kind) end)
  return column
end

local function branch_column(key, at)
  local column = column_of(branches.heading(key.name), at, right[key.kind]
    and not key.beside_at)
  local cell = branches.cell(key.name) or function(value) return fmt.cell(value, key.kind) end
  column.beside_at = key.beside_at
  column.cell = not key.beside_at and cached(cell) or function(value, beside)
    return value == nil and "-" or cell(value, beside)
  end
  return column
end

local function symbol_column(at)
  local column = column_of(title_of("symbol"), at, false, 4)
  column.mark = true
  return column
end

local function percent_column(title, at)
  local column = column_of(title, at, true)
  column.percent = true
  return column
end

-- Options that show the first measures of a row, and the titles of these.
local MEASURES <const> = { { "show-nr-samples", "Samples" },
  { "show-total-period", "Period" } }

local function columns_of(report, shown)
  local columns, keys = {}, report.keys
  local n = #keys
  if report.children then columns[1] = percent_column("Children", n + 3) end
  columns[#columns + 1] = percent_column(report.children and "Self" or "Overhead", n + 2)
  for i, one in ipairs(MEASURES) do
    if shown[one[1]] then columns[#columns + 1] = column_of(one[2], n + i, true) end
  end
  for i, key in ipairs(keys) do
    if report.branches and branches.heading(key.name) then
      columns[#columns + 1] = branch_column(key, i)
    elseif key.name == "symbol" then
      columns[#columns + 1] = symbol_column(i)
    elseif not key.hidden and not (report.symbols and i == n) then
      columns[#columns + 1] = key_column(key, i)
    end
  end
  columns[#columns].last = not columns[#columns].right
  return columns
end

-- Calls a function with the first and the last of a batch of rows, for each batch of the first
-- n rows of an event. If `stops` is true, an interrupt ends the calls. Returns the number of
-- rows that it was called for.
local function each_batch(event, n, fn, stops)
  for from = 1, n, BATCH do
    if stops and interrupted.now() then return from - 1 end
    fn(event.before + from, event.before + math.min(n, from + BATCH - 1), event.period)
  end
  return n
end

local function pad_text(text, room, at_right)
  local blanks = (" "):rep(room - count_columns(text))
  return at_right and blanks .. text or text .. blanks
end

-- Returns the lines above the rows.
local function head_of(columns)
  local titles, dots = {}, {}
  for c, column in ipairs(columns) do
    local room = column.room + column.before
    titles[c] = column.last and column.title or pad_text(column.title, room, column.right)
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

---@param report table of report.read
---@param shown table<string, boolean> columns beside shares and keys: "show-nr-samples",
--- "show-total-period"
---@param out file*
---@return fun(event: table) # writes one of its events, and sets event.written to the number of
--- rows that it wrote
function show.sections(report, shown, out)
  local columns, head = columns_of(report, shown), make_head_cache()
  local measure = report.lines(columns, fmt.escape)
  local write = report.lines(columns, fmt.escape, out)
  local stops = not interrupted.now()
  return function(event)
    for _, column in ipairs(columns) do column.room = column.least end
    local n = each_batch(event, event.n, measure, stops)
    out:write(head(columns))
    -- rows that were measured before an interrupt are written
    event.written = each_batch(event, n, write, stops and n == event.n)
  end
end

return show
