-- The fields that a report adds samples up by: those of samples, of branches, and keys that
-- take passes of their own.

local branches = require "perflua.report.branches"
local columns = require "perflua.report.columns"
local core = require "perflua.core"
local memory = require "perflua.report.memory"
local suggest = require "perflua.errors.suggest"
local usage_error = require("perflua.errors").usage_error
local spec_of = core.query_spec

local fields = {}

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

-- Keys that take a pass of their own, loaded when they are asked for.
local in_two_passes = {
  parallelism = function() return require "perflua.report.parallelism" end,
  cgroup_id = function() return require "perflua.report.cgroup_id" end,
  pid = function() return require "perflua.report.thread_key" end,
}

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
  options.counted[name] = options.counted[name] or in_two_passes[name]().ref(file, options)
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
  if options.branches then return branches.field(name) end
  return options.by_weight and options.padded and memory.field(name, query) or nil
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
