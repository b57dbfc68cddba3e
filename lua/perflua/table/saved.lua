-- A Table's groups as text in a file, and back.

local measures = require "perflua.group.measures"
local values = require "perflua.table.values"

local saved = {}

local MAGIC = "perflua table 1\n"

---@param data table
---@param show table
---@return string? text, string? message
function saved.encode(data, show)
  for _, key in ipairs(data.keys) do
    if key.kind == "function" then
      return nil, ("column '%s' is made by a Lua function, which a file cannot hold"):format(key.name)
    end
  end
  local ok, text = pcall(values.encode, { data = data, show = show })
  if not ok then return nil, text end
  return MAGIC .. text .. "\n"
end

local function is(value, ...)
  for _, kind in ipairs { ... } do
    if type(value) == kind or math.type(value) == kind then return true end
  end
  return false
end

local function list_of(value, valid)
  if type(value) ~= "table" then return false end
  for _, item in ipairs(value) do
    if not valid(item) then return false end
  end
  return true
end

local function is_text(value) return type(value) == "string" end
local function is_key(key) return is(key, "table") and is_text(key.name) and is_text(key.kind) end

local function is_measure(one)
  return is(one, "table") and is_text(one.name) and is_text(one.measure) and measures[one.measure] ~= nil
    and is(one.kind, "string", "nil") and is(one.option, "number", "nil")
    and (measures[one.measure].takes == nil or measures[one.measure].takes[one.kind] == true)
end

local function is_number(value) return type(value) == "number" end
local function is_table(value) return type(value) == "table" end
local function is_present(value) return value ~= nil end

-- Buckets between -limit and limit; those of histograms are all walked over.
local function counts_up_to(limit)
  return function(counts)
    if not is_table(counts) then return false end
    for bucket, n in pairs(counts) do
      if not is(bucket, "integer") or math.abs(bucket) > limit or not is(n, "integer") then return false end
    end
    return true
  end
end

local is_sketch = counts_up_to(math.maxinteger)

local is_state = { -- by measure
  count = is_number, sum = is_number, share = is_number,
  avg = function(state)
    return is_table(state) and is_number(state[1]) and is_number(state[2]) and is_number(state[3])
  end,
  min = is_present, max = is_present,
  quantile = function(state)
    return is_table(state) and is_sketch(state[1])
      and (next(state[1]) == nil or is_number(state[2]) and is_number(state[3]))
  end,
  hist = counts_up_to(64),
  distinct = is_table, first = is_table, last = is_table,
}

local function is_group(g, data)
  if not is(g, "table") or not is(g.keys, "table") or not is(g.event, "integer", "nil") then return false end
  for m, one in ipairs(data.measures) do
    if not is_state[one.measure](g[m]) then return false end
  end
  return true
end

local function is_data(data, show)
  return is(data, "table") and is(show, "table") and list_of(data.keys, is_key)
    and list_of(data.measures, is_measure) and #data.measures > 0
    and (data.events == nil or list_of(data.events, is_text))
    and list_of(data.groups, function(g) return is_group(g, data) end)
    and is(show.top, "integer", "nil") and is(show.column, "string", "nil")
end

---@param text string
---@return table? data, table|string show # nil and what is wrong
function saved.decode(text)
  if text:sub(1, #MAGIC) ~= MAGIC then
    local version = text:match("^perflua table (%d+)\n")
    return nil, version and ("a table of version %s; this perflua reads version 1"):format(version)
      or "not a table saved by perflua"
  end
  local ok, content = pcall(values.decode, text:sub(#MAGIC + 1, -2))
  if not ok then return nil, "damaged: " .. content end
  if not is(content, "table") or not is_data(content.data, content.show) then
    return nil, "damaged: this is not the content of a table"
  end
  return content.data, content.show
end

return saved
