-- The question that a Table answers, as text that can be kept in a file and compared: tables
-- are merged only if they answer the same question about different records.
--
-- data.description = { reads, events, where, between, groups }: texts, nil for what the query
-- does not say. data.keys and data.measures say the rest: { name, kind, text }, { name,
-- measure, kind, option, field, … }.

local types = require("perflua.recording").types

local description = {}

-- The recording and the events that a result is of, while the recording is there: a Table
-- outlives its File.

local SAMPLE <const> = 9 -- PERF_RECORD_SAMPLE

---@param spec table of a Query
---@return (fun(): perflua.File?, perflua.Event[])? # the File, if it is still there, and the
--- events of the query; nil: it is not over samples alone
function description.origin(spec)
  local read = spec.types
  if not (read and read[SAMPLE] and next(read, next(read)) == nil) then return nil end
  local weak, scope = setmetatable({ file = spec.file }, { __mode = "v" }), {}
  for i, event in ipairs(spec.scope:events()) do scope[i] = event.index end
  return function()
    local file, events = weak.file, {}
    for i, index in ipairs(file and scope or {}) do events[i] = file.events[index] end
    return file, events
  end
end

-- Stands for a Lua function, which has no text to compare.
local FUNCTION = "a Lua function"

local function sorted_texts(list, text_of)
  local texts = {}
  for _, item in ipairs(list) do texts[#texts + 1] = text_of(item) end
  table.sort(texts)
  return table.concat(texts, ", ")
end

---@param ids table<integer, any> by the ids of types
---@return string[] # their names, in order
function description.type_names(ids)
  local names = {}
  for id in pairs(ids) do
    names[#names + 1] = types()[id] and types()[id].name or tostring(id)
  end
  table.sort(names)
  return names
end

-- Describes the records that a query starts from, and what of them its rows are.
local function describe_reads(spec)
  local unnest = spec.unnest
  if unnest then
    local plain = setmetatable({ unnest = false }, { __index = spec })
    return ("items of %s%s%s of %s"):format(unnest.text,
      unnest.inline and " with inlined functions" or "",
      unnest.once and (", once for each %s,"):format(unnest.once.text) or "",
      describe_reads(plain))
  end
  if spec.reader then return spec.reader.reads end
  if not spec.types then
    return spec.container and "records with the container's own" or "records"
  end
  return "records of type " .. table.concat(description.type_names(spec.types), ", ")
end

---@param wanted string|perflua.Event|(string|perflua.Event)[]|nil as samples() and records()
--- take them
---@return string?
function description.events(wanted)
  if wanted == nil then return nil end
  local function text_of(event) return type(event) == "string" and event or event.name end
  if type(wanted) == "string" or wanted.name then return text_of(wanted) end
  return sorted_texts(wanted, text_of)
end

local function value_text(value)
  if type(value) == "string" then return ("%q"):format(value) end
  if type(value) == "table" and not value.name then
    local texts = {}
    for i, item in ipairs(value) do texts[i] = value_text(item) end
    return "{ " .. table.concat(texts, ", ") .. " }"
  end
  if type(value) == "table" or type(value) == "userdata" then
    return ("%q"):format(value.name)
  end
  return tostring(value)
end

---@param condition string|function|table as where() takes it
---@return string? # nil of a function
function description.filter(condition)
  if type(condition) == "string" then return condition end
  if type(condition) == "function" then return nil end
  local names, texts = {}, {}
  for name in pairs(condition) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do texts[i] = name .. " = " .. value_text(condition[name]) end
  return "{ " .. table.concat(texts, ", ") .. " }"
end

---@param from integer|string|nil|table[] as between() takes them
---@param to integer|string|nil
---@return string
function description.span(from, to)
  if type(from) == "table" then
    local texts = {}
    for i, window in ipairs(from) do
      texts[i] = type(window) == "table" and description.span(window[1], window[2]) or window
    end
    return table.concat(texts, " or ")
  end
  if type(from) == "string" and from:find("%%/") then return from end
  return ("%s to %s"):format(from == nil and "the beginning" or tostring(from),
    to == nil and "the end" or tostring(to))
end

local function describe_where(spec)
  local texts = {}
  for _, filter in ipairs(spec.filters) do
    if not filter.is_window then texts[#texts + 1] = filter.source or FUNCTION end
  end
  if #texts < 2 then return texts[1] end
  return "(" .. table.concat(texts, ") and (") .. ")"
end

description.records = describe_reads

---@param spec table of a query
---@return table<string, string>
function description.of(spec)
  return {
    reads = describe_reads(spec), events = spec.asked, where = describe_where(spec),
    between = spec.spans and table.concat(spec.spans, " and "),
    groups = (spec.split and "each event by itself" or "all events together")
      .. (spec.unnest and ", " .. describe_reads(spec) or ""),
  }
end

local function key_text(key)
  if key.kind == "function" then return FUNCTION end
  return ("%s (%s)"):format(key.text or key.name, key.kind)
end

-- ("sum of period (unsigned)")
local function measure_text(measure)
  local parts = { measure.measure }
  if measure.field then parts[#parts + 1] = "of " .. measure.field end
  if measure.weight then parts[#parts + 1] = "weighted by " .. measure.weight end
  local option = measure.option
  if type(option) == "table" then option = table.concat(option, ", ") end
  if option ~= nil then parts[#parts + 1] = "for " .. tostring(option) end
  if measure.kind then parts[#parts + 1] = "(" .. measure.kind .. ")" end
  return table.concat(parts, " ")
end

local PARTS = { "reads", "events", "where", "between" } -- what says which records are looked at
local MIXED = "several parts"

-- Returns everything that two tables must have in common, as { what, text }; for parts of one
-- whole, without the selection of records.
local function lines_of(data, are_parts)
  local described, lines = data.description or {}, {}
  local function add(what, text) lines[#lines + 1] = { what, text } end
  for _, what in ipairs(are_parts and {} or PARTS) do
    add(what, described[what] or "nothing said")
  end
  add("groups", described.groups or "nothing said")
  for i, key in ipairs(data.keys) do
    add("key " .. i, key_text(key))
    add("name of key " .. i, key.name)
  end
  for i, measure in ipairs(data.measures) do
    add("measure " .. i, measure_text(measure))
    add("name of measure " .. i, measure.name)
  end
  return lines
end

---@param a table data of a Table
---@param b table
---@param are_parts boolean? they need not have looked at the same kinds of records
---@return string? # the first thing that they do not have in common; nil if they belong
--- together
function description.difference(a, b, are_parts)
  if #a.keys ~= #b.keys or #a.measures ~= #b.measures then
    return ("%d keys and %d measures here, %d and %d there"):format(#a.keys, #a.measures,
      #b.keys, #b.measures)
  end
  local here, there = lines_of(a, are_parts), lines_of(b, are_parts)
  for i, line in ipairs(here) do
    local found = there[i]
    if line[2] ~= found[2] then
      return ("%s: \"%s\" here, \"%s\" there"):format(line[1], line[2], found[2])
    end
  end
end

---@param a table<string, any>? descriptions of tables that belong together
---@param b table<string, any>?
---@return table<string, any>? # of both
function description.joined(a, b)
  if not a or not b then return a or b end
  local both = { groups = a.groups }
  for _, what in ipairs(PARTS) do
    if a[what] == b[what] then both[what] = a[what] else both[what] = MIXED end
  end
  return both
end

---@param data table of a Table
---@return boolean # true if a key is a Stack or a measure keeps Stacks
function description.has_stacks(data)
  for _, list in ipairs { data.keys, data.measures } do
    for _, column in ipairs(list) do
      if column.kind == "stack" then return true end
    end
  end
  return false
end

---@param data table
---@return string? # what of the query a file cannot hold
function description.unsaved(data)
  for _, key in ipairs(data.keys) do
    if key.kind == "function" then
      return ("column '%s' is made by a Lua function, which a file cannot hold")
        :format(key.name)
    end
  end
end

return description
