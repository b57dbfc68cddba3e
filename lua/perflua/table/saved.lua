-- A Table's groups as a line of text, and back, exactly. One line of printable ASCII, so that
-- it passes through whatever passes lines, and several can follow one another in any order:
-- what engines for many machines give.
--
-- Tokens are separated by tabs: MAGIC, the columns and the description (a string, see
-- values.lua), the number of groups, and for each group its event, its keys and its states (see
-- states.lua); then "end". A value is ~ (nil), t or f, a number, "TEXT, @STACK
-- (stack_tokens.lua), or $N for the Nth TEXT or STACK of the line.

local description = require "perflua.table.description"
local has = require("perflua.filter.kinds").has
local measures = require "perflua.measures"
local presentation = require "perflua.table.presentation"
local stack_tokens = require "perflua.table.stack_tokens"
local states = require "perflua.table.states"
local steps = require "perflua.table.steps"
local values = require "perflua.table.values"
local whole = require "perflua.table.whole"

local saved = {}

local VERSION, WITH_STACKS = 2, 3 -- tables without Stacks have the former
local MAGIC = "perflua table %d\t"
local HEAD_SIZE = #MAGIC:format(VERSION)
local END = "\tend"
local ROWS = 1000 -- that are written at a time

saved.HEAD_SIZE = HEAD_SIZE -- of what refused() is given

-- All but what is printed as it is, and what has a meaning here: \ and |.
local ESCAPED = "[^ -[%]^-{}-~]"

local function escape_text(text)
  if not text:find(ESCAPED) then return text end
  return (text:gsub(ESCAPED, function(c) return ("\\%02x"):format(c:byte()) end))
end

local function unescape_text(text)
  if not text:find("\\", 1, true) then return text end
  return (text:gsub("\\(%x%x)", function(digits) return string.char(tonumber(digits, 16)) end))
end

-- Returns value_token(value) → token, for one line.
local function make_writer()
  local known, n, stack_token = {}, 0, stack_tokens.make_writer(escape_text)
  local constants = { ["nil"] = "~", ["true"] = "t", ["false"] = "f" }
  return function(value)
    local kind = math.type(value)
    if kind == "integer" then return value end
    if kind then return ("%a"):format(value) end
    local is_stack = has.stack(value)
    if type(value) ~= "string" and not is_stack then
      return constants[tostring(value)] or error("a " .. type(value) .. " cannot be saved", 0)
    end
    local token = known[value]
    if token then return token end
    n = n + 1
    known[value] = "$" .. n
    return is_stack and stack_token(value) or '"' .. escape_text(value)
  end
end

local function write_groups(data, value_token, write)
  local n_keys, n_measures, parts, n = #data.keys, #data.measures, {}, 0
  local writers = {}
  for m, one in ipairs(data.measures) do writers[m] = states[one.measure].write end
  for i, g in ipairs(data.groups) do
    local keys = g.keys
    parts[n + 1] = g.event or 0
    for k = 1, n_keys do parts[n + 1 + k] = value_token(keys[k]) end
    n = n + 1 + n_keys
    for m = 1, n_measures do parts[n + m] = writers[m](g[m], value_token) end
    n = n + n_measures
    if i % ROWS == 0 then
      write("\t" .. table.concat(parts, "\t", 1, n))
      n = 0
    end
  end
  if n > 0 then write("\t" .. table.concat(parts, "\t", 1, n)) end
end

---@param data table of a Table
---@param show table
---@param write fun(text: string)
---@return boolean? ok, string? message # nil and what cannot be saved
function saved.encode(data, show, write)
  local message = description.unsaved(data)
  if message then return nil, message end
  local head = {
    description = data.description, keys = data.keys, measures = data.measures,
    events = data.events, places = data.places, distinctions = data.distinctions,
    show = show, whole = data.whole,
  }
  local ok
  ok, message = pcall(function()
    local value_token = make_writer()
    local version = description.has_stacks(data) and WITH_STACKS or VERSION
    write(MAGIC:format(version) .. value_token(values.encode(head)) .. "\t" .. #data.groups)
    write_groups(data, value_token, write)
    write(END .. "\n")
  end)
  if not ok then return nil, message end
  return true
end

local function is_text(value) return type(value) == "string" end
local function is_text_or_nil(value) return value == nil or type(value) == "string" end

-- Returns whether the value is a list without holes all of whose items are valid.
local function list_of(list, valid)
  if type(list) ~= "table" then return false end
  local n = 0
  for _ in pairs(list) do n = n + 1 end
  for i = 1, n do
    if list[i] == nil or not valid(list[i]) then return false end
  end
  return true
end

local function is_key(key)
  return type(key) == "table" and is_text(key.name) and has[key.kind] ~= nil
    and is_text_or_nil(key.text)
end

local function is_share(q) return math.type(q) ~= nil and q >= 0 and q <= 1 end

local function is_option(one)
  local option = one.option
  if one.measure == "quantile" and type(option) == "table" then
    return list_of(option, is_share) and list_of(one.names, is_text) and #option == #one.names
  elseif one.measure == "quantile" then
    return is_share(option)
  end
  return option == nil or type(option) == "number" or type(option) == "string"
end

local function is_measure(one)
  if type(one) ~= "table" or not is_text(one.name) or not is_text(one.measure) then
    return false
  end
  local measure = states[one.measure] and measures[one.measure]
  return measure and (one.kind == nil or has[one.kind] ~= nil) and is_text_or_nil(one.field)
    and is_text_or_nil(one.weight) and is_option(one)
    and (measure.takes == nil or measure.takes[one.kind] == true) or false
end

local function is_description(said)
  if type(said) ~= "table" then return false end
  for what, text in pairs(said) do
    if not is_text(what) or not is_text(text) then return false end
  end
  return true
end

local function is_place(place) return math.type(place) == "integer" and place > 0 end

local function is_head(head)
  return type(head) == "table" and is_description(head.description)
    and steps.is(head.show)
    and list_of(head.keys, is_key) and #head.keys > 0 and list_of(head.measures, is_measure)
    and #head.measures > 0
    and (head.whole == nil or whole.is(head.whole))
    and (head.events == nil or list_of(head.events, is_text))
    and (head.places == nil or head.events and list_of(head.places, is_place)
      and #head.places == #head.events)
    and (head.distinctions == nil or head.events and list_of(head.distinctions, is_text)
      and #head.distinctions == #head.events)
end

local function fail_at(at, expected) error(("byte %d: %s expected"):format(at, expected), 0) end

-- Returns next_token(expected) → token, or raises; and place() → position of the next one. The
-- text ends in END, so no search for a tab goes far in vain.
local function make_tokenizer(body)
  local next_one, at = body:gmatch("([^\t]*)\t()"), 1
  local function place() return HEAD_SIZE + at end
  return function(expected)
    local token, after = next_one()
    if not token then fail_at(place(), expected) end
    at = after
    return token
  end, place
end

-- value_of(token) → value; raises if it is none. Strings and Stacks are known by their tokens
-- from then on.
local function make_reader(fail_here)
  local stack_of
  local known, n = { t = true, f = false }, 0
  for text, float in pairs(values.floats) do known[text] = float end
  return function(token)
    local value = known[token]
    if value ~= nil then return value end
    if token == "~" then return nil end
    value = tonumber(token)
    if value then return value end
    if token:byte() == 64 then
      stack_of = stack_of or stack_tokens.make_reader(unescape_text)
      value = stack_of(token) or fail_here("a call stack")
    else
      if token:byte() ~= 34 then fail_here("a value") end
      value = unescape_text(token:sub(2))
    end
    n = n + 1
    known["$" .. n] = value
    return value
  end
end

-- Returns read() → the next group, or nil if it is none.
local function group_reader(next_token, value_of, data)
  local readers, columns, n_keys, n_measures = {}, data.measures, #data.keys, #data.measures
  -- filled, then copied to tables of the right size
  local keys, group, unpack = {}, {}, table.unpack
  local last_event = data.events and #data.events or 0
  local valid = {}
  for k, key in ipairs(data.keys) do valid[k] = has[key.kind] end
  for m, one in ipairs(columns) do readers[m] = states[one.measure].read end
  return function()
    local event = tonumber(next_token("a group"))
    if math.type(event) ~= "integer" or event < 0 or event > last_event then return nil end
    for k = 1, n_keys do
      local value = value_of(next_token("a key"))
      if value ~= nil and not valid[k](value) then return nil end
      keys[k] = value
    end
    for m = 1, n_measures do
      local state = readers[m](next_token("a measure"), value_of, columns[m])
      if state == nil then return nil end
      group[m] = state
    end
    return { event = event, keys = { unpack(keys, 1, n_keys) }, unpack(group, 1, n_measures) }
  end
end

local function decode_body(body)
  local next_token, place = make_tokenizer(body)
  local value_of = make_reader(function(expected)
    fail_at(place(), expected .. " before here")
  end)
  local head = value_of(next_token("a description"))
  head = type(head) == "string" and values.decode(head)
  if not is_head(head) or not pcall(presentation.view, head, head.show) then
    fail_at(HEAD_SIZE + 1, "the description of a table")
  end
  local at = place()
  local n = tonumber(next_token("a number of groups"))
  if math.type(n) ~= "integer" or n < 0 then fail_at(at, "a number of groups") end
  local data = {
    description = head.description, keys = head.keys, measures = head.measures,
    events = head.events, places = head.places, distinctions = head.distinctions,
    whole = head.whole, groups = {},
  }
  local read_group = group_reader(next_token, value_of, data)
  for i = 1, n do
    at = place()
    data.groups[i] = read_group() or fail_at(at, "a group")
  end
  if place() ~= HEAD_SIZE + #body - #END + 2 then fail_at(place(), "the end") end
  return data, head.show
end

---@param head string HEAD_SIZE bytes
---@return string? # what is wrong with them
function saved.refused(head)
  if head == MAGIC:format(VERSION) or head == MAGIC:format(WITH_STACKS) then return nil end
  local version = head:match("^perflua table (%d+)%s")
  return version and ("a table of version %s; this perflua reads version %d"):format(version,
    WITH_STACKS)
    or "not a table saved by perflua"
end

---@param body string the line behind MAGIC
---@return table? data, table|string show # nil and what is wrong
function saved.decode(body)
  body = body:sub(1, -1 - #body:match("\r?\n?$", -2))
  if body:sub(-#END) ~= END then return nil, "damaged: its end is missing" end
  local ok, data, show = pcall(decode_body, body)
  if not ok then return nil, "damaged: " .. data end
  return data, show
end

return saved
