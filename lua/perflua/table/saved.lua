-- A Table's groups as a line of text, and back, exactly. One line of printable ASCII, so that
-- it passes through whatever passes lines, and several can follow one another in any order:
-- what engines for many machines give.
--
-- The core has the form of all but MAGIC and the head, which is a text of values.lua: see
-- src/result/saved.h.

local core = require "perflua.core"
local description = require "perflua.table.description"
local errno = require("perflua.errors").errno
local has = require("perflua.filter.kinds").has
local measures = require "perflua.measures"
local merge = require "perflua.table.merge"
local presentation = require "perflua.table.presentation"
local steps = require "perflua.table.steps"
local values = require "perflua.table.values"
local whole = require "perflua.table.whole"

local saved = {}

local VERSION, WITH_STACKS = 2, 3 -- tables without Stacks have the former
local MAGIC = "perflua table %d\t"
local HEAD_SIZE = #MAGIC:format(VERSION)
local END = "\tend"

saved.HEAD_SIZE = HEAD_SIZE -- of what refused() is given

local function unescape_text(text)
  if not text:find("\\", 1, true) then return text end
  return (text:gsub("\\(%x%x)", function(digits) return string.char(tonumber(digits, 16)) end))
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
  local ok, text = pcall(values.encode, head)
  if not ok then return nil, text end
  write(MAGIC:format(description.has_stacks(data) and WITH_STACKS or VERSION))
  core.result_save(data.result, write, text)
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

local function is_option(measure)
  local option = measure.option
  if measure.measure == "quantile" and type(option) == "table" then
    return list_of(option, is_share) and list_of(measure.names, is_text)
      and #option == #measure.names
  elseif measure.measure == "quantile" then
    return is_share(option)
  end
  return option == nil or type(option) == "number" or type(option) == "string"
end

local function is_measure(row)
  if type(row) ~= "table" or not is_text(row.name) or not is_text(row.measure) then
    return false
  end
  local measure = measures[row.measure]
  return measure and (row.kind == nil or has[row.kind] ~= nil) and is_text_or_nil(row.field)
    and is_text_or_nil(row.weight) and is_option(row)
    and (measure.takes == nil or measure.takes[row.kind] == true) or false
end

local function is_description(value)
  if type(value) ~= "table" then return false end
  for what, text in pairs(value) do
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

local function decode_body(body)
  local text, at = body:match "^\"([^\t]*)\t()"
  if not text then fail_at(HEAD_SIZE + 1, "a description") end
  text = unescape_text(text)
  local head = values.decode(text)
  if not is_head(head) or not pcall(presentation.view, head, head.show) then
    fail_at(HEAD_SIZE + 1, "the description of a table")
  end
  local data = {
    description = head.description, keys = head.keys, measures = head.measures,
    events = head.events, places = head.places, distinctions = head.distinctions,
    whole = head.whole,
  }
  local result, byte, expected = core.result_load(text, body, at, merge.shape(data),
    data.events and #data.events or 0)
  if not result then fail_at(HEAD_SIZE + byte, expected) end
  data.result = result
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

---@param body string the line after MAGIC
---@return table? data, table|string show # nil and what is wrong
function saved.decode(body)
  body = body:sub(1, -1 - #body:match("\r?\n?$", -2))
  if body:sub(-#END) ~= END then return nil, "damaged: its end is missing" end
  local ok, data, show = pcall(decode_body, body)
  if not ok then return nil, "damaged: " .. data end
  return data, show
end

-- Saved tables, one after another from a file or a pipe.

-- Returns the first bytes of the next line that is not empty, and the rest if they begin a
-- saved table. Any other line is not read further, as it may have no end. Returns nil at the
-- end, or nil, message, code.
local function next_line(file)
  local first, message, code
  repeat first, message, code = errno(file:read(1)) until first ~= "\n" and first ~= "\r"
  if not first then return nil, message, code end
  local head = first .. (file:read(saved.HEAD_SIZE - 1) or "")
  if saved.refused(head) then return head end
  local body
  body, message, code = errno(file:read("L"))
  if message then return nil, message, code end
  return head, body or ""
end

---@param from file*|string an open file, a path, or "-" for standard input
---@return file*? file, string name, string? code # nil, message and code if it cannot be opened
local function open_source(from)
  if from == "-" then return io.stdin, "standard input" end
  if type(from) ~= "string" then return from, "the file" end
  local file, message, code = errno(io.open(from, "rb"))
  return file, file and from or message, code
end

---Returns an iterator over the tables of a file: data, show; or nil, message, code for a
---damaged one, after which the next ones are read if possible. The loop's control value comes
---first: true.
---@param from file*|string
---@return fun(): true?, table?, table|string?, string?
---@return nil, nil, file*? closing
function saved.each(from)
  local file, name, code = open_source(from)
  local n, ended = 0, false
  local function describe_failure(message, why)
    return true, nil, ("%s: table %d: %s"):format(name, n, message), why
  end
  local function read_next()
    if ended then return nil end
    if not file then
      ended = true
      return true, nil, name, code
    end
    local head, body, why = next_line(file)
    n = n + 1
    if not head then
      ended = true
      if body then return true, nil, ("%s: %s"):format(name, body), why end
      return nil
    end
    local message = saved.refused(head)
    if message then
      ended = true
      return describe_failure(message, "FORMAT")
    end
    local data, show = saved.decode(body)
    if data then return true, data, show end
    return describe_failure(show, "FORMAT")
  end
  return read_next, nil, nil, type(from) == "string" and from ~= "-" and file or nil
end

---Returns all tables of a file, merged.
---@param from file*|string
---@return table? data, table|string? show, string? code # nil, message and code if one cannot
--- be read
function saved.all(from)
  local first, all, show
  for _, data, one_show, code in saved.each(from) do
    if not data then return nil, one_show, code end
    if not first then
      first, show = data, one_show
    else
      all = all or merge.start(first)
      local ok, message = all:add(data)
      if not ok then
        return nil, ("the file has tables of different queries: %s"):format(message),
          "FORMAT"
      end
    end
  end
  if not first then
    return nil, ("%s: empty file, expected a table"):format(tostring(from)), "FORMAT"
  end
  return all and all.data or first, show
end

return saved
