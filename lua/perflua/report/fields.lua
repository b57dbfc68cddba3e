-- The fields that a report adds samples up by: those of samples, of branches, and keys that
-- take passes of their own.

local columns = require "perflua.report.columns"
local core = require "perflua.core"
local memory = require "perflua.report.memory"
local parallelism = require "perflua.report.parallelism"
local suggest = require "perflua.errors.suggest"
local usage_error = require("perflua.errors").usage_error

local spec_of = core.query_spec

local fields = {}

-- The keys that perf report -b has for branches: fields { name, kind, of, other, beside } of
-- rows that are branches. of: the member of a branch; other: what is shown where it is absent;
-- beside: other members by which rows are told apart, and which show in the same cell, by the
-- places that they have there (src/script/report.h).

local of_branch = {}

for _, side in ipairs { "from", "to" } do
  local function of(name) return ("branch.%s_%s"):format(name, side) end
  -- of branches without a line
  local function else_of(name) return ("%s == nil and %s"):format(of "srcline", of(name)) end
  of_branch["symbol_" .. side] = { kind = "address", of = of "symbol", other = of "address",
    beside = { beside = of "kind" } }
  of_branch["dso_" .. side] = { kind = "string", of = of "dso" }
  of_branch["srcline_" .. side] = { kind = "address", of = of "srcline", other = of "address",
    beside = { beside = else_of "symbol", offset = else_of "symoff", binary = else_of "dso" } }
  of_branch["addr_" .. side] = { kind = "address", of = of "symbol", other = of "address",
    beside = { beside = of "kind", offset = of "symoff", binary = of "dso" } }
end
-- perf takes the target for the function and the binary of a branch, and shows the address of
-- an unknown one as it was recorded
of_branch.dso, of_branch.srcline = of_branch.dso_to, of_branch.srcline_to
of_branch.symbol = { kind = "address", of = "branch.symbol_to", other = "branch.to",
  beside = { beside = "branch.kind_to" } }
of_branch.mispredict = { kind = "boolean", of = "branch.mispred",
  beside = { beside = "branch.predicted" } }
of_branch.in_tx = { kind = "boolean", of = "branch.in_tx" }
of_branch.abort = { kind = "boolean", of = "branch.abort" }
of_branch.cycles = { kind = "unsigned", of = "branch.cycles" }

--- The keys of perf report -b, if none are named.
fields.BRANCHES = { "comm", "dso_from", "symbol_from", "symbol_to", "cycles" }

local headings = {
  dso_from = "Source Shared Object", dso_to = "Target Shared Object",
  symbol_from = "Source Symbol", symbol_to = "Target Symbol",
  srcline_from = "From Source:Line", srcline_to = "To Source:Line",
  addr_from = "Source Address", addr_to = "Target Address", abort = "Transaction abort",
  mispredict = "Branch Mispredicted", in_tx = "Branch in transaction",
  cycles = "Basic Block Cycles", dso = "Shared Object", symbol = "Symbol",
}

local shown = {
  mispredict = "mispredict", in_tx = "in_tx", abort = "abort", cycles = "cycles",
  dso = "dso", dso_from = "dso", dso_to = "dso",
  symbol = "symbol", symbol_from = "symbol", symbol_to = "symbol",
  addr_from = "location", addr_to = "location",
  srcline = "srcline", srcline_from = "srcline", srcline_to = "srcline",
}

---@param name string
---@return table? # a copy of the field, with its heading, and how its cells are shown
--- (src/script/report.h); nil: it is not of branches
function fields.of_branches(name)
  local field = of_branch[name]
  return field and { name = name, kind = field.kind, of = field.of, other = field.other,
    beside = field.beside, heading = headings[name], shown = shown[name] or "plain" }
end

--- The column of instructions per cycle (report/ipc.lua), which options cannot name. As in
--- perf, it tells rows apart by the function that branches lead to.
fields.IPC = { name = "ipc_lbr", word = "ipc_lbr", kind = "address", of = "branch.symbol_to",
  other = "branch.to", beside = { binary = "branch.dso_to" },
  heading = "IPC   [IPC Coverage]", shown = "label" }

-- perf's names of fields that have another name here.
local aliases = { sym = "symbol", cgroup = "cgroup_path" }

-- Fields of a sample that depend on its ip: of its callers they are not known.
local of_ip = { ip = true, symoff = true, srcline = true, map = true, unresolved = true,
  srcfile = true, symbol_size = true, dso_size = true,
  symbol_iaddr = true, insn = true, insnlen = true, disasm = true, srccode = true }

---@param list table[] fields
---@param known integer? the number of a field that is known of callers, too
---@return string? # a field that is known of a sample only, not of its callers; nil: none is
function fields.not_of_callers(list, known)
  for i, field in ipairs(list) do
    if i ~= known and of_ip[field.name:match("^[^.%[]+")] then return field.name end
  end
end

local TIME_QUANTUM <const> = 100000000 -- perf's default, in ns

---Returns the key pid: a thread and its last name, as perf shows them: "10673:sort".
---@param file perflua.File
---@param options { padded: boolean? } padded: in columns of a terminal, as perf prints them
---@return table # the key's Ref, a function of a sample
local function thread_ref(file, options)
  local form, texts = options.padded and "%7d:%s" or "%d:%s", {}
  local function find_thread(sample)
    local tid = sample.tid
    if not tid then return nil end
    local text = texts[tid]
    if not text then
      local thread = file:thread(tid)
      text = form:format(tid, tid == 0 and "swapper" or thread and thread.comm
        or (":%d"):format(tid))
      texts[tid] = text
    end
    return text
  end
  return { text = "pid", kind = "function", shows = "string", plain = false,
    get = find_thread }
end

local NO_NAMESPACE <const> = "0/0x0" -- as perf shows it

-- Returns by recording and thread the times of NAMESPACES records, and what they tell.
local function read_namespaces(file)
  local by_source = {}
  for source, time, tid, dev, ino in file:records "namespaces"
      :select("source", "time", "tid", "namespaces.cgroup.dev", "namespaces.cgroup.ino") do
    local threads = by_source[source] or {}
    local list = threads[tid] or { times = {}, texts = {} }
    by_source[source], threads[tid] = threads, list
    list.times[#list.times + 1] = time or 0 -- what perf found when it began has no time
    list.texts[#list.texts + 1] = dev and ino and ("%d/0x%x"):format(dev, ino) or NO_NAMESPACE
  end
  return by_source
end

---Returns the key cgroup_id: the cgroup namespace of a sample's thread, as device/inode. The
---last NAMESPACES record of the thread tells it.
---@param file perflua.File
---@return table # the key's Ref, a function of a sample; raises if the recording does not tell
local function namespace_ref(file)
  local has = false
  for i = 1, #file.events do has = has or file.events[i].namespaces end
  if not has then
    usage_error("cgroup_id: this recording has no namespaces; record it with: "
      .. "perf record --namespaces -- COMMAND")
  end
  local by_source = read_namespaces(file)
  local function find_namespace(sample)
    local threads = by_source[sample.source or false]
    local list, found = threads and threads[sample.tid], NO_NAMESPACE
    for i, time in ipairs(list and list.times or {}) do
      if time > (sample.time or math.maxinteger) then break end
      found = list.texts[i]
    end
    return found
  end
  return { text = "cgroup_id", kind = "function", shows = "string", plain = false,
    get = find_namespace }
end

-- Keys that take a pass of their own.
local in_two_passes = { parallelism = parallelism.ref, cgroup_id = namespace_ref,
  pid = thread_ref }

---@param name string of a key
---@param file perflua.File
---@param options table of report.prepare
---@return table? # the Ref of a key that takes a pass of its own; nil: it is none
function fields.in_two_passes(name, file, options)
  if not in_two_passes[name] then return nil end
  if options.is_explained then
    return { text = name, kind = "function", plain = false, get = function() end }
  end
  if not file.size then
    usage_error("%s takes two passes, and a stream can be read only once%s", name,
      name == "pid" and ": tgid shows the process, tid the thread" or "")
  end
  options.counted[name] = options.counted[name] or in_two_passes[name](file, options)
  return options.counted[name]
end

-- Returns the Ref of a field or expression. Raises what is wrong with it, and which column has
-- a name that is close.
local function find_ref(scope, text)
  local ok, ref = pcall(scope.ref, scope, text)
  if ok then return ref end
  local column = text:find "^%a[%w_]*$" and suggest.closest(text, columns.names)
  if column and tostring(ref):find "unknown field" and not tostring(ref):find "closest" then
    usage_error("unknown field '%s'; the closest is '%s'", text, column)
  end
  error(ref, 0)
end

-- Returns a field that perf shows otherwise than queries do; nil: it does not.
local function shown_otherwise(name, query, options)
  if options.branches then return fields.of_branches(name) end
  if not options.padded then return nil end
  if name == "symoff" then
    return { name = name, kind = "address", of = "symbol", other = "unresolved",
      shown = "distance", heading = "Symbol Offset",
      beside = { beside = "cpumode", offset = "symoff" } }
  end
  return options.by_weight and memory.field(name, query) or nil
end

---@param query perflua.Query
---@param sort string[] names
---@param options table of report.prepare
---@return table[] # the fields that identify rows, as { name, kind, of, word }; of: the
--- expression that gives the value, if it is not the field itself; word: what named it
---@return table<string, integer> # their places by their names; of branches none
function fields.of(query, sort, options)
  local made, seen = {}, {}
  for i, word in ipairs(sort) do
    local name = aliases[word] or word
    local otherwise = shown_otherwise(name, query, options)
    -- a field of records has the name of perf's type of data
    if name == "type" then usage_error("%s", spec_of(query).scope.unanswered(name)) end
    local expression = name == "time"
      and ("bucket(time, %d)"):format(options.quantum or TIME_QUANTUM)
      or otherwise and otherwise.of
      or name == "trace" and options.is_raw and "raw_message" or nil
    local counted = fields.in_two_passes(name, spec_of(query).file, options)
    local ref = counted or find_ref(spec_of(query).scope, expression or name)
    if ref.kind == "view" then
      usage_error("%s is a view; name one of its fields, as in %s[1].x", name, name)
    end
    if seen[name] then usage_error("field '%s' is named twice", name) end
    made[i] = otherwise
      or { name = name, kind = ref.shows or ref.kind, of = expression, ref = counted }
    made[i].word = word
    seen[name] = i
  end
  if options.branches then return made, {} end
  if seen.symbol and seen.cpumode then
    usage_error("leave out cpumode: it is shown with the symbol")
  end
  return made, seen
end

return fields
