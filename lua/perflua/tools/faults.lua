-- perflua faults FILE: page faults, by what is mapped where they were, by the code that met
-- them.

local aside = require "perflua.group.aside"
local described = require "perflua.toolkit.described"
local result_table = require "perflua.table.result_table"
local samples_with_losses = require "perflua.file.samples_with_losses"

local known = { "object", "function", "stack", "comm", "thread" }

local columns = { { "faults", "unsigned" }, { "percent", "percent" }, { "kernel", "unsigned" },
  { "minor", "unsigned" }, { "major", "unsigned" }, { "comm", "string" }, { "tid", "signed" },
  { "object", "string" }, { "function", "string" }, { "stack", "string" } }

local tool = {
  description = "page faults: by mapped object, function, call chain, thread",
  usage = "faults [options] FILE…",
  reads = "samples", several = true,
  needs = {
    events = { { any = { "page-faults", "faults", "minor-faults", "major-faults",
      "exceptions:page_fault_*" } } },
  },
  record = "perf record -e page-faults -c 1 -d -g -- COMMAND",
  options = result_table.with_options(columns, {
    by = { "WHAT",
      "group by object (default), function, stack, comm, thread, or several: object,function",
      values = known },
  }),
  help = [[
An object is the file mapped at the address, or [heap], [stack], //anon. It needs perf record -d, which
records addresses and mappings of data. The column kernel counts faults in kernel code. Recordings of
-e page-faults,minor-faults,major-faults have a column for each.

  faults  percent  kernel  object
    2162   85.39%    2048  //anon
     157    6.20%       3  /usr/lib/x86_64-linux-gnu/libc.so.6
      48    1.90%       5  /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2

A flame graph of them: perflua flame --event page-faults FILE -o faults.svg]],
}

-- Kinds of faults that software events count, by config (PERF_COUNT_SW_PAGE_FAULTS …).
local software = { [2] = "faults", [5] = "minor", [6] = "major" }

local function kind_of(event)
  if event.type == 1 then return software[event.config] end -- PERF_TYPE_SOFTWARE
  return event.name:match "^exceptions:page_fault_(%a+)$" -- user, kernel
end

-- Returns the kinds of faults that events count, by name: the software events or, without them,
-- the tracepoints; which kinds there are, and whether they are those of tracepoints (traps).
local function kinds_of(file)
  local kinds, has = {}, {}
  for _, event in ipairs(file.events) do
    kinds[event.name] = kind_of(event)
    if kinds[event.name] then has[kinds[event.name]] = true end
  end
  has.traps = not (has.faults or has.minor or has.major)
  for name, kind in pairs(kinds) do
    if (kind == "user" or kind == "kernel") and not has.traps then kinds[name] = nil end
  end
  return kinds, has
end

-- Functions that look up the names of a fault's addresses, which the tracepoints tell.
local of_traps = {
  object = [[function(sample)
    local address = sample.args and sample.args.address
    if math.type(address) ~= "integer" then return "[no address]" end
    local place = sample.pid and file:resolve(sample.pid, address, sample.time)
    return place and place.dso or "[unknown]"
  end]],
  ["function"] = [[function(sample)
    local ip = sample.args and sample.args.ip
    local place = math.type(ip) == "integer" and sample.pid
      and file:resolve(sample.pid, ip, sample.time)
    return place and place.symbol or "[unknown]"
  end]],
}

-- Returns by column the key of the query, as far as samples have it.
local function keys_of(query, by, traps)
  local keys = {}
  local function add(name, class, field)
    field = query:field(class, field)
    keys[name] = field and (class == "string" and field .. " or '[unknown]'" or field)
  end
  if by.object and query:field("integer", "addr") then add("object", "string", "dso_daddr") end
  if by["function"] then add("function", "string", "symbol") end
  if by.stack then add("stack", "string", "stack") end
  if by.comm or by.thread then add("comm", "string", "comm") end
  if by.thread then add("tid", "integer", "tid") end
  for name, text in pairs(traps and of_traps or {}) do
    keys[name] = by[name] and query:lua(text) or nil
  end
  return keys
end

local key_columns = { "comm", "tid", "object", "function", "stack" }

-- Returns the query, its keys by column, the kinds of events by name, and which there are.
local function query_of(file, by)
  local kinds, has = kinds_of(file)
  local names = {}
  for name in pairs(kinds) do names[#names + 1] = ("%q"):format(name) end
  table.sort(names)
  local query = described.with_losses(file)
    :where(("type ~= 'sample' or event.name in { %s }"):format(table.concat(names, ", ")))
  local keys, list = keys_of(query, by, has.traps), { "type", "event.name" }
  for _, name in ipairs(key_columns) do
    local key = keys[name]
    list[#list + 1] = type(key) == "function" and { [name] = key } or key
  end
  query = query:group_by(table.unpack(list))
    :sum("period"):as("faults"):sum("cpumode == 'kernel' and period or 0"):as("kernel")
    :sum("lost"):pivot("event.name")
  return query, keys, kinds, has
end

function tool.queries(file, _, by) return { (query_of(file, by)) } end

tool.prepare = result_table.prepare("object", known)

-- Returns the columns of a row of the query, and its faults in all.
local function row_of(row, keys, kinds, has)
  local made = { faults = 0, minor = 0, major = 0, kernel = 0 }
  for name, cell in pairs(row.pivot) do
    local kind = kinds[name]
    if kind == "minor" or kind == "major" then made[kind] = cell.faults end
    if kind == "faults" or not has.faults then
      made.faults = made.faults + cell.faults
      made.kernel = made.kernel + (has.traps and (kind == "kernel" and cell.faults or 0)
        or cell.kernel)
    end
  end
  for _, name in ipairs(key_columns) do
    local key = keys[name]
    made[name] = row[type(key) == "function" and name or key]
  end
  made.object = made.object or "[no address]"
  made["function"], made.stack = made["function"] or "[unknown]", made.stack or "[unknown]"
  made.comm = made.comm or "[unknown]"
  return made
end

---@param file perflua.File
---@param args table
---@param out file*
---@param by table<string, boolean>
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, by)
  local query, keys, kinds, has = query_of(file, by)
  -- keys that Lua looks up need the maps: a pass of their own would come after the others
  if has.traps then samples_with_losses.read_names(file) end
  local set_aside = aside.from(query.query)
  local list = result_table.new(columns, "faults", { minor = not has.minor,
    major = not has.major, comm = not (by.comm or by.thread), tid = not by.thread,
    object = not by.object, ["function"] = not by["function"], stack = not by.stack })
  local rows, total, lost = {}, 0, { lost = 0, lost_samples = 0 }
  for row in query:table():rows() do
    if row.type == "sample" then
      rows[#rows + 1] = row_of(row, keys, kinds, has)
      total = total + rows[#rows].faults
    else
      lost[row.type] = lost[row.type] + row.lost
    end
  end
  for _, row in ipairs(rows) do
    row.percent = total > 0 and 100 * row.faults / total or 0.0
    list:add(row)
  end
  list:note_losses(lost)
  aside.note(list, set_aside.n)
  return list:write(args, out)
end

return tool
