-- The needs of a script or tool in meta = { description, needs, record }: events, fields, and
-- the command that records them.
--
--   needs = { events = { "sched:sched_switch", { any = { "a:*", "b:*" } } },
--     fields = { "callchain", "args.pid" } }
--   needs = { "sched:*", "callchain" }
--   needs = "sched:*, callchain"
--
-- A name is an event's, or a glob, unless it is that of a field of samples. any: one of them is
-- enough. A string that is not a list of names is for people to read.

local api = require "perflua.api"
local usage_error = require("perflua.errors").usage_error
local core = require "perflua.core"
local events = require "perflua.recording.events"
local expr = require "perflua.filter.expr"
local fields = require "perflua.fields"
local fmt = require "perflua.text.fmt"
local sampled = require "perflua.recording.sampled"
local suggest = require "perflua.errors.suggest"

local needs = {}

-- A field's option of perf record; of those that are always recorded, or that follow from
-- others, there is none. See perf-record(1). Counters are read with the samples of groups with
-- :S, see perf-list(1).
local record_options = {
  callchain = "-g", stack = "-g", branch_stack = "-b", brstack = "-b", addr = "-d",
  data_src = "-d", weight = "-W",
  phys_addr = "--phys-data", data_page_size = "--data-page-size",
  code_page_size = "--code-page-size",
  regs_intr = "-I", iregs = "-I", regs_user = "--user-regs", uregs = "--user-regs",
  stack_user = "--call-graph dwarf", transaction = "--transaction", cgroup = "--all-cgroups",
  cgroup_path = "--all-cgroups", symbol_daddr = "-d", dso_daddr = "-d",
  cpu = "--sample-cpu", id = "--sample-identifier", raw = "-R", time = "-T",
  ins_lat = "-W", retire_lat = "-W",
}

---Returns the perf record command for needs of a script that does not say how to record.
---@param list table # needs
---@return string
local function recipe(list)
  local names, words, seen, reads = {}, { "perf", "record" }, {}, false
  for _, need in ipairs(list) do
    local first = need[1]
    local root = first.is_field and first.name:match("^[%w_]+")
    local option = record_options[root]
    reads = reads or root == "read"
    if not first.is_field then names[#names + 1] = first.name end
    if option and not seen[option] then
      words[#words + 1], seen[option] = option, true
    end
  end
  if #names > 0 then
    words[#words + 1] = "-e"
    local all = table.concat(names, ",")
    words[#words + 1] = fmt.shell_word(reads and "{" .. all .. "}:S" or all)
  end
  words[#words + 1] = "-- COMMAND"
  return table.concat(words, " ")
end

local SAMPLE = 9

-- A need is a list of alternatives, { name, is_field }.

-- Returns whether the name is that of a field, which may have parts: "args.pid",
-- "callchain[1].ip".
local function is_field(name)
  local root, part = name:match("^([%a_][%w_]*)(.?)")
  return root ~= nil and (part == "" or part == "." or part == "[") and fields.is_known(root)
end

local function parse_alternative(name, field)
  if type(name) ~= "string" or name == "" then
    usage_error("meta.needs: a name expected, got a %s", type(name))
  end
  if field == nil then field = is_field(name) end
  if field and not is_field(name) then
    usage_error(suggest.message(("meta.needs: unknown field '%s'"):format(name), name,
      suggest.names(core.field_names())))
  end
  return { name = name, is_field = field }
end

local function add_need(list, value, field)
  if type(value) ~= "table" then
    list[#list + 1] = { parse_alternative(value, field) }
    return
  end
  local need = {}
  for _, name in ipairs(type(value.any) == "table" and value.any or {}) do
    need[#need + 1] = parse_alternative(name, field)
  end
  if #need == 0 then
    usage_error("meta.needs: a table in a list must be { any = { names } }")
  end
  list[#list + 1] = need
end

local function add_all(list, values, field)
  if type(values) == "string" or type(values) == "table" and values.any then
    values = { values }
  end
  if type(values) ~= "table" then
    usage_error("meta.needs: a list of names expected, got a %s", type(values))
  end
  for _, value in ipairs(values) do add_need(list, value, field) end
end

-- Splits "sched:*, callchain" into its names; returns nil for a text.
local function names_in(text)
  local names = {}
  for part in (text .. ","):gmatch "([^,]*)," do
    local name = fmt.trim_end(part):match "^%s*(.*)"
    if name == "" or name:find("%s") then return nil end
    names[#names + 1] = name
  end
  return names
end

local function check_keys(value)
  for key in pairs(value) do
    if math.type(key) ~= "integer" and not api.members("Needs")[key] then
      usage_error("meta.needs: unknown key '%s'; expected events, fields or any", tostring(key))
    end
  end
end

-- Parses meta.needs.
local function parse_needs(value)
  local list = {}
  if type(value) == "string" then value = names_in(value) end
  if value == nil then return list end
  if type(value) ~= "table" then
    usage_error("meta.needs: a table or a string expected, got a %s", type(value))
  end
  check_keys(value)
  add_all(list, value, nil)
  if value.events ~= nil then add_all(list, value.events, false) end
  if value.fields ~= nil then add_all(list, value.fields, true) end
  return list
end

local function spell_need(need, form)
  local names = {}
  for i, alternative in ipairs(need) do names[i] = form:format(alternative.name) end
  return table.concat(names, " or ")
end

local function kind_of(need) return need[1].is_field and "field" or "event" end

-- Indexes of the events that a need's names stand for.
local function add_matching(set, file, need)
  local any = false
  for _, alternative in ipairs(need) do
    local found = alternative.is_field and {} or events.lookup(file.events, alternative.name)
    for _, event in ipairs(found) do
      set[event.index], any = true, true
    end
  end
  return any
end

-- Fields that are made of another one, without which a sample still has a value for them.
local made_of = { stack = "callchain", annotated_stack = "callchain", frames = "callchain" }

local function can_have(scope, name)
  local node = expr.value(made_of[name] or name, scope)
  return node and (node.op ~= "field" or scope:resolve(node.path, node.text) ~= nil)
end

-- Returns whether samples of these events can have one of a need's fields.
local function has_field(scope, need)
  for _, alternative in ipairs(need) do
    if alternative.is_field and can_have(scope, alternative.name) then return true end
  end
  return false
end

-- Returns the needs that a recording does not meet. Fields are looked up in the needed events,
-- in all events if none is needed.
local function missing_of(file, list)
  local missing, set, of_events = {}, {}, false
  for _, need in ipairs(list) do
    local all_fields = true
    for _, alternative in ipairs(need) do all_fields = all_fields and alternative.is_field end
    need.of_fields, of_events = all_fields, of_events or not all_fields
    need.met = not all_fields and add_matching(set, file, need)
  end
  local scope = fields.scope(file, { [SAMPLE] = true }, next(set) and set or nil)
  local looked_for = not of_events or next(set)
  for _, need in ipairs(list) do
    if not need.met and not (need.of_fields and not looked_for)
        and not has_field(scope, need) then
      missing[#missing + 1] = need
    end
  end
  return missing
end

local function check_meta(meta)
  if meta.record ~= nil and type(meta.record) ~= "string" then
    usage_error("meta.record: a string expected, got a %s", type(meta.record))
  end
end

---Returns the command that records what is needed.
---@param meta { needs: any, record: string? }
---@return string? # nil if nothing is needed
function needs.record(meta)
  check_meta(meta)
  if meta.record then return meta.record end
  local list = parse_needs(meta.needs)
  return #list > 0 and recipe(list) or nil
end

---Describes the needs for people.
---@param meta { needs: any }
---@return string? # nil if nothing is
function needs.text(meta)
  if type(meta.needs) == "string" and not names_in(meta.needs) then return meta.needs end
  local parts, words = {}, { event = {}, field = {} }
  for _, need in ipairs(parse_needs(meta.needs)) do
    table.insert(words[kind_of(need)], spell_need(need, "%s"))
  end
  for _, kind in ipairs { "event", "field" } do
    local names = words[kind]
    if #names > 0 then
      parts[#parts + 1] = kind .. (#names > 1 and "s " or " ") .. table.concat(names, ", ")
    end
  end
  return parts[1] and table.concat(parts, "; ")
end

---@param meta { needs: any, record: string? }
---@return string[] # "needs: …" and "record: …", for perflua help
function needs.lines(meta)
  local lines = {}
  for _, key in ipairs { "needs", "record" } do
    local text = (key == "needs" and needs.text or needs.record)(meta)
    if text then lines[#lines + 1] = ("%-6s %s"):format(key .. ":", fmt.escape(text)) end
  end
  return lines
end

---Describes what a recording lacks. Reads records only of a pipe whose events all come late, if
---it can be read again.
---@param file perflua.File
---@param meta { needs: any, record: string? }
---@return string? message # nil if it lacks nothing
function needs.check(file, meta)
  local words = {}
  if #file.events == 0 and file.mode == "pipe" and file.size then core.count(file) end
  for i, need in ipairs(missing_of(file, parse_needs(meta.needs))) do
    words[i] = ("no %s %s"):format(kind_of(need), spell_need(need, "'%s'"))
  end
  if #words == 0 then return nil end
  local list = table.concat(words, ", ", 1, #words - 1)
  if list ~= "" then list = list .. " and " end
  return ("%s: this recording has %s; record it with: %s"):format(fmt.paths(file.path),
    list .. words[#words],
    needs.record(meta))
end

-- Returns the events that are needed.
local function events_of(file, meta)
  local set, list = {}, {}
  for _, need in ipairs(parse_needs(meta.needs)) do add_matching(set, file, need) end
  for i, event in ipairs(file.events) do
    if set[i] then list[#list + 1] = event end
  end
  return list
end

---Opens a recording, and checks that it has what a tool or script needs. Says on standard error
---which of the needed events were recorded in part only.
---@param path string|string[]
---@param meta { needs: any, record: string? } a tool, or the meta of a script
---@param options table? for perflua.open
---@return perflua.File? file, string? message, string? code
function needs.open(path, meta, options)
  local file, message, code = require("perflua").open(path, options)
  if not file then return nil, message, code end
  local lacking = needs.check(file, meta)
  if lacking then
    file:close()
    return nil, lacking
  end
  for _, note in ipairs(sampled.notes(file, events_of(file, meta))) do
    io.stderr:write(("perflua: %s: %s\n"):format(fmt.paths(file.path), fmt.escape(note)))
  end
  return file
end

return needs
