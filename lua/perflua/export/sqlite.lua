-- A database of SQLite: a row for each sample, and tables of what samples have in common. The
-- core writes it, see src/sqlite/database.c for the tables and views.

local aside = require "perflua.group.aside"
local core = require "perflua.core"
local errors = require "perflua.errors"
local fmt = require "perflua.text.fmt"
local output = require "perflua.table.output"
local plan = require "perflua.plan"
local refuse_view = require("perflua.export.rows").refuse_view
local spec_of = core.query_spec
local usage_error = errors.usage_error

local sqlite = { name = "sqlite",
  description = "sqlite3 and what reads its databases; further columns by --fields" }

-- The fields that the tables are made of, and the call chain, of functions.
local OWN <const> = { "event", "time", "cpu", "pid", "tid", "comm", "period", "ip" }
local CHAIN <const> = { op = "field", kind = "stack",
  ref = { path = { "stack" }, chain = "functions" } }

-- Columns of `samples` that are made of others. SQLite takes names in capitals for the same.
local made = { id = true, event_id = true, thread_id = true, symbol_id = true, stack_id = true }

-- Fields that the tables of binaries and symbols have.
local named = { dso = true, symbol = true }

-- Returns the fields that become further columns: those that the tables do not have.
local function further_columns(refs, at, names)
  local more, known = {}, {}
  for _, ref in ipairs(refs or {}) do
    local name = ref.text:lower()
    if ref.kind == "view" or ref.kind == "stack" then
      refuse_view(ref)
    elseif made[name] then
      usage_error("export: samples already has a column %s; name it by an expression, %s + 0",
        name, ref.text)
    elseif not at[ref.text] and not named[name] and not known[name] then
      known[name] = true
      more[#more + 1], names[#names + 1] = ref.text, ref.text
    end
  end
  return more
end

local function notes_of(file)
  local features, notes = file.features, {}
  local function add(name, value) notes[#notes + 1] = value and { name, tostring(value) } end
  add("path", fmt.paths(file.path))
  add("hostname", features.hostname)
  add("arch", features.arch)
  add("cmdline", features.cmdline and table.concat(features.cmdline, " "))
  return notes
end

local function empty(path)
  local file <close>, message, number = io.open(path, "wb")
  return errors.errno(file ~= nil or nil, message, number)
end

-- Returns where the core finds the fields of the tables, their names with those of further
-- columns after them, and the latter.
local function columns_of(spec)
  local at, names = { chain = 1 }, {}
  for _, name in ipairs(OWN) do
    if spec.scope:root(name) then
      names[#names + 1] = name
      at[name] = #names + 1
    end
  end
  return at, names, further_columns(spec.refs, at, names)
end

---Raises if the tables have no room for a query.
---@param query perflua.Query
function sqlite.check(query)
  local spec = spec_of(query)
  if spec.reader or spec.unnest then
    usage_error "export: a database takes samples, not spans or items; csv takes all"
  end
  columns_of(spec)
end

---@param query perflua.Query
---@return table[] # what is read, see export.readings
function sqlite.readings(query)
  local _, names = columns_of(spec_of(query))
  return { { query = query:select(table.unpack(names)) } }
end

---@param query perflua.Query
---@param out any
---@return { samples: integer, set_aside: integer }?
---@return string? message
---@return string? code
function sqlite.export(query, out)
  if type(out) ~= "string" then
    usage_error "export: a database is a file: the path of one is needed"
  end
  local at, names, more = columns_of(spec_of(query))
  local spec = spec_of(query:select(table.unpack(names)))
  local options = { at = at, more = more, most = aside.MOST, notes = notes_of(spec.file) }
  local n, set_aside
  local ok, message, code = output.replace(out, function(path)
    local is_in_place = path == out
    if is_in_place then
      local emptied, why, number = empty(path)
      if not emptied then return nil, why, number end
    end
    local cursor <close> = plan.values(spec, spec.refs, { CHAIN })
    local failure
    n, set_aside, failure = errors.guard(core.sqlite, cursor, path, options)
    if n then return true end
    if is_in_place then empty(path) end -- the rest of a database is none
    if not failure then return nil, set_aside end
    return nil, ("%s: %s"):format(out, set_aside), failure
  end)
  if not ok then return nil, message, code end
  return { samples = n, set_aside = set_aside }
end

return sqlite
