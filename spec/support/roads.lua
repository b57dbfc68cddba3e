-- The roads on which a script gets the fields of a record. All must give the same.
--
-- The first is the record itself: `record.pid`, and `record.callchain[1].symbol` for parts. The
-- others are compared with it: each returns what differs first as a text, or nil.
local core = require "perflua.core"
local events = require "perflua.recording.events"
local files = require "spec.support.files"
local perflua = require "perflua"
local plan = require "perflua.plan"
local queries = require "spec.support.queries"
local query_fields = require "spec.support.query_fields"
local recording = require "perflua.recording"
local spec_of = core.query_spec

local roads = {}

local MOST_FIELDS = 200 -- of one handler, which is given 255 at most
local BATCH = 50 -- records whose values make one filter

local SAMPLE = 9

local function is_object(value)
  local kind = type(value)
  return kind == "userdata" or kind == "table"
end

-- A value as it is compared: an Event stands for its name, any other object for being there.
local function plain(value)
  if not is_object(value) then return value end
  return events.is_event(value) and value.name or true
end

local function steps_of(rest)
  local steps = {}
  for index, member in rest:gmatch "%[?(%d*)%]?%.?([%w_]*)" do
    if index ~= "" then steps[#steps + 1] = math.tointeger(tonumber(index)) end
    if member ~= "" then steps[#steps + 1] = member end
  end
  return steps
end

-- Describes a name like "#callchain" or "branch_stack[2].from".
local function parts_of(text)
  local counted, root, rest = text:match "^(#?)([%w_]+)(.*)$"
  return { text = text, root = root, steps = steps_of(rest), counted = counted == "#",
    whole = counted .. rest == "" }
end

-- Reads what a name stands for of the value of its root, as a script reads it: nil if a part is
-- absent.
local function read_steps(field, value)
  for _, step in ipairs(field.steps) do
    if not is_object(value) then return nil end
    value = value[step]
  end
  if not field.counted then return plain(value) end
  return (is_object(value) or type(value) == "string") and #value or nil
end

local function read_part(field, value)
  local ok, got = pcall(read_steps, field, value)
  -- a register that this machine has not, an argument that this event has not
  if not ok and not got:find "has no" then error(field.text .. ": " .. got, 0) end
  if ok then return got end
end

---@class spec.Kind the records of one type in one recording
---@field file perflua.File
---@field type_id integer
---@field name string? of the type
---@field query perflua.Query all of these records
---@field fields {text: string, root: string, steps: (string|integer)[], counted: boolean,
--- whole: boolean, kind: string}[] what can be named
---@field roots {root: string, first: integer, last: integer}[] the fields, by their roots
---@field blank false[] one for each field
---@field rows any[][] of its first records, the values of the fields as the records have them;
--- also offset and chunk_offset
---@field last integer the greatest offset among them

-- Remembers the names that were resolved: it takes long.
local function remember_names(scope)
  local known, ref = {}, scope.ref
  function scope:ref(text)
    known[text] = known[text] or ref(self, text)
    return known[text]
  end
end

-- Names that queries take. Members of events are the same for records of all types. `whole`:
-- also members of events and the second items of composites.
local function fields_of(kind, whole)
  local list, scope = {}, spec_of(kind.query).scope
  remember_names(scope)
  local with_event = whole and kind.type_id == SAMPLE
  for _, field in ipairs(query_fields.names(kind.file, { kind.type_id })) do
    local of_event = field.text:find "^#?event%."
    local is_asked = with_event or not of_event
    if not whole and field.text:find "%[2%]" then is_asked = false end
    local ok, ref = true, nil
    if is_asked then ok, ref = pcall(scope.ref, scope, field.text) end
    -- an argument may have no length or items
    assert(ok or of_event or field.text:find "^#?args%.", ref)
    if ok and ref then
      local one = parts_of(field.text)
      one.kind = ref.kind
      list[#list + 1] = one
    end
  end
  return list
end

-- dump shows call chains as they were recorded.
local function is_unwound(record)
  local chain = record.type_id == SAMPLE and record.callchain
  return chain and (record.stack_user or record.branch_stack or chain.cookie) ~= nil
end

local function row_of(kind, record)
  local row = { offset = record.offset, chunk_offset = record.chunk_offset,
    unwound = is_unwound(record) }
  local fields = kind.fields
  table.move(kind.blank, 1, #kind.blank, 1, row)
  for _, one in ipairs(kind.roots) do
    local value = record[one.root]
    for i = one.first, one.last do
      local field = fields[i]
      if value == nil then
        row[i] = nil
      elseif field.whole then
        row[i] = is_object(value) and plain(value) or value
      else
        row[i] = read_part(field, value)
      end
    end
  end
  return row
end

-- Sets the roots of a kind's fields: names of one root stand side by side.
local function set_roots(kind)
  kind.roots, kind.blank = {}, {}
  for i, field in ipairs(kind.fields) do
    local last = kind.roots[#kind.roots]
    if not last or last.root ~= field.root then
      last = { root = field.root, first = i }
      kind.roots[#kind.roots + 1] = last
    end
    last.last, kind.blank[i] = i, false
  end
end

---Reads the first records of each type.
---@param file perflua.File
---@param most number of each type
---@return spec.Kind[]
function roads.kinds(file, most)
  local list, by_type = {}, {}
  for record in file:records({ order = "file", container = true }):each() do
    local id = record.type_id
    local kind = by_type[id]
    if not kind then
      local desc = recording.types()[id]
      kind = { file = file, type_id = id, name = desc and desc.name, rows = {}, last = 0 }
      -- one for all roads: what names mean in a query takes long to find out
      kind.query = file:records { type = id, order = "file", container = true }
      kind.fields = fields_of(kind, most == math.huge)
      set_roots(kind)
      by_type[id], list[#list + 1] = kind, kind
    end
    if #kind.rows < most then
      kind.rows[#kind.rows + 1] = row_of(kind, record)
      kind.last = math.max(kind.last, record.offset)
    end
  end
  return list
end

local function shown(value)
  return type(value) == "string" and ("%q"):format(value) or tostring(value)
end

local type_of = math.type

local function same(a, b)
  return a == b and type_of(a) == type_of(b) or a ~= a and b ~= b
end

-- `absent`: what the road gives where the record has nil.
local function compare(kind, row, i, got, absent)
  local expected = row[i]
  if expected == nil then expected = absent end
  if expected == got and type_of(expected) == type_of(got) -- nearly always
    or same(expected, got) or same(expected, plain(got)) then
    return nil
  end
  return ("%s at 0x%x: the record has %s, not %s"):format(kind.fields[i].text, row.offset,
    shown(row[i]), shown(got))
end

-- Compares the fields of these indices with values.
local function compare_all(kind, row, indices, got, absent)
  for k, i in ipairs(indices) do
    local expected, value = row[i], got[k]
    if expected == nil then expected = absent end
    if expected ~= value or type_of(expected) ~= type_of(value) then
      local difference = compare(kind, row, i, value, absent)
      if difference then return difference end
    end
  end
end

local function compare_number(n, expected)
  return n ~= expected and ("%d records, not %d"):format(n, expected) or nil
end

-- Calls fn(indices, texts) for at most so many fields at a time, until it returns something.
local function in_parts(kind, wanted, fn)
  local indices, texts = {}, {}
  local function call()
    local part, named = indices, texts
    indices, texts = {}, {}
    if #part > 0 then return fn(part, named) end
  end
  for i, field in ipairs(kind.fields) do
    if not wanted or wanted(field) then
      indices[#indices + 1], texts[#texts + 1] = i, field.text
    end
    local difference = #indices == MOST_FIELDS and call()
    if difference then return difference end
  end
  return call()
end

function roads.select(kind)
  local rows = kind.rows
  return in_parts(kind, nil, function(indices, texts)
    local values = kind.query:select(table.unpack(texts)):each()
    for n, row in ipairs(rows) do
      local got = { values() }
      if got[1] == nil then return compare_number(n - 1, #rows) end
      local difference = compare_all(kind, row, indices, got, false)
      if difference then return difference end
    end
  end)
end

-- Records by their place in the file, as groups come in any order.
local function place(offset, chunk_offset) return offset .. " " .. tostring(chunk_offset) end

local function is_key(field)
  return field.kind ~= "view" and not field.text:find "offset$"
end

function roads.key(kind)
  local by_place = {}
  for _, row in ipairs(kind.rows) do by_place[place(row.offset, row.chunk_offset)] = row end
  return in_parts(kind, is_key, function(indices, texts)
    local n = 0
    local groups = kind.query:where("offset <= " .. kind.last)
      :group_by("offset", "chunk_offset", table.unpack(texts)):count()
    for group in groups:each() do
      local row = by_place[place(group.offset, group.chunk_offset)]
      n = n + (row and group.count or 0)
      for k, i in ipairs(row and indices or {}) do
        local expected, got = row[i], group[texts[k]]
        local difference = (expected ~= got or type_of(expected) ~= type_of(got))
          and compare(kind, row, i, got, nil)
        if difference then return difference end
      end
    end
    return compare_number(n, #kind.rows)
  end)
end

-- Returns a handler that counts its calls; the last call of all handlers ends the run.
local function counting(state, kind, fn)
  state.left = state.left + #kind.rows
  local n = 0
  return function(...)
    if n == #kind.rows then return nil end
    n, state.left = n + 1, state.left - 1
    state.difference = state.difference or fn(n, ...)
    if state.difference or state.left == 0 then return perflua.stop end
  end
end

-- Runs over the recording with a handler for each of the kinds. Those without a name share one.
local function run(kinds, handler_of)
  local state, handlers = { left = 0 }, {}
  for _, kind in ipairs(kinds) do
    local fields, fn = handler_of(kind)
    if kind.name then
      fn = counting(state, kind, fn)
      handlers[kind.name] = fn
      if fields then
        fields[#fields + 1] = fn
        handlers[kind.name] = fields
      end
    end
  end
  if next(handlers) then kinds[1].file:run(handlers) end
  return state.difference
    or state.left > 0 and ("%d records did not come"):format(state.left) or nil
end

---Compares what handlers of file:run() are given, which is in the order of time: the values of
---fields with the record.
---@param kinds spec.Kind[] of one recording
function roads.handler(kinds)
  local rows = {}
  local difference = run(kinds, function(kind)
    rows[kind] = {}
    return nil, function(n, record) rows[kind][n] = row_of(kind, record) end
  end)
  for from = 1, difference and 0 or MOST_FIELDS * 10, MOST_FIELDS do
    local some = false
    difference = difference or run(kinds, function(kind)
      local texts, indices = {}, {}
      for i = from, math.min(#kind.fields, from + MOST_FIELDS - 1) do
        texts[#texts + 1], indices[#indices + 1], some = kind.fields[i].text, i, true
      end
      return texts, function(n, ...)
        return compare_all(kind, rows[kind][n], indices, { ... }, false)
      end
    end)
    if not some then break end
  end
  return difference
end

-- The values that field `i` has in these rows, each once, and whether some have none.
local function values_of(rows, i)
  local values, seen, absent = {}, {}, false
  for _, row in ipairs(rows) do
    local value = row[i]
    absent = absent or value == nil
    if value ~= nil and not seen[value] and value == value then
      seen[value] = true
      values[#values + 1] = value
    end
  end
  return values, absent
end

-- Adds the condition that a field has one of these values.
local function add_equals(list, text, values, is_unsigned)
  local constants = {}
  for i, value in ipairs(values) do constants[i] = queries.constant(value, is_unsigned) end
  if #values == 1 then
    list[#list + 1] = ("%s == %s"):format(text, constants[1])
  elseif #values > 1 then
    list[#list + 1] = ("%s in { %s }"):format(text, table.concat(constants, ", "))
  end
end

-- Returns the condition that field `i` of a record is what it is in one of these rows.
local function condition(field, i, rows)
  local values, absent = values_of(rows, i)
  local text, list = field.text, {}
  if text == "event" then
    add_equals(list, "event.name", values)
  elseif field.kind == "event" or field.kind == "view"
    or values[1] == true and field.kind == "any" then
    if #values > 0 then list[1] = text .. " ~= nil" end
  else
    add_equals(list, text, values, field.kind ~= "signed")
  end
  if absent then list[#list + 1] = text .. " == nil" end
  return "(" .. table.concat(list, " or ") .. ")"
end

-- Returns how many of these rows' records a filter keeps.
local function count_kept(kind, rows, ...)
  local wanted, n = {}, 0
  for _, row in ipairs(rows) do wanted[place(row.offset, row.chunk_offset)] = true end
  local query = kind.query:where { offset = rows[1].offset }
  if #rows > 1 then
    query = kind.query:where(("offset >= %d and offset <= %d"):format(rows[1].offset,
      rows[#rows].offset))
  end
  for _, filter in ipairs { ... } do query = query:where(filter) end
  for offset, chunk_offset in query:select("offset", "chunk_offset"):each() do
    if wanted[place(offset, chunk_offset or nil)] then n = n + 1 end
    if n == #rows then break end
  end
  return n
end

local function is_in_tables(field)
  return field.kind ~= "view" and field.kind ~= "event" and field.kind ~= "any"
end

-- Compares the fields of these rows with filters of their values: a table for fields that all
-- of the records have, a text for the others.
local function filter_batch(kind, rows)
  local values, conditions = {}, {}
  for i, field in ipairs(kind.fields) do
    local list, absent = values_of(rows, i)
    if not absent and #list > 0 and is_in_tables(field) then
      values[field.text] = list
    elseif #rows > 1 or not absent then
      conditions[#conditions + 1] = { field = field, text = condition(field, i, rows) }
    end
  end
  local texts = {}
  for i, one in ipairs(conditions) do texts[i] = one.text end
  local text = #texts > 0 and table.concat(texts, " and ") or "true"
  if count_kept(kind, rows, values, text) == #rows then return nil end
  local function tell(name, filter)
    local n = count_kept(kind, rows, filter)
    return n < #rows and ("%s: a filter of its values keeps %d of %d records from 0x%x on: %s")
      :format(name, n, #rows, rows[1].offset, type(filter) == "string" and filter
        or shown(filter[name][1])) or nil
  end
  for _, one in ipairs(conditions) do
    local difference = tell(one.field.text, one.text)
    if difference then return difference end
  end
  for name, list in pairs(values) do
    local difference = tell(name, { [name] = list })
    if difference then return difference end
  end
  return "all filters together keep less than each of them"
end

function roads.filter(kind)
  local rows = kind.rows
  -- the first by itself, so that no value of another record can stand in for its own
  local difference = filter_batch(kind, { rows[1] })
  -- every other one of the rest, so that no value of the record before can
  for from = 2, #rows, BATCH do
    for first = from, math.min(#rows, from + 1) do
      local batch = {}
      for i = first, math.min(#rows, from + BATCH - 1), 2 do batch[#batch + 1] = rows[i] end
      difference = difference or filter_batch(kind, batch)
    end
  end
  return difference
end

-- Fields that dump does not show, as they follow from others that it shows.
local not_dumped = { elapsed = true, wall_time = true, source = true, socket = true }

-- Reads a line of JSON; numbers, strings and words stay as they are spelled.
local function json_value(text, at)
  local open = text:match("^[%[{]", at)
  if not open then
    local from = at
    if text:find('^"', at) then
      at = at + 1
      while not text:find('^"', at) do at = text:match('^[^"\\]+()', at) or at + 2 end
      at = at + 1
    else
      at = text:match("^[^,%]}]+()", at)
    end
    return text:sub(from, at - 1), at
  end
  local result = {}
  at = at + 1
  while not text:find("^[%]}]", at) do
    local key, value, stop = text:match('^"([^"]*)":([^"%[{,}]+),?()', at)
    if not stop then key, value, stop = text:match('^"([^"]*)":("[^"\\]*"),?()', at) end
    if stop then -- most are numbers, or texts without escapes
      result[key], at = value, stop
    else
      key = #result + 1
      if open == "{" then key, at = text:match('^"([^"]*)":()', at) end
      result[key], at = json_value(text, at)
      at = text:match("^,?()", at)
    end
  end
  return result, at + 1
end

local escapes = { n = "\n", t = "\t", r = "\r", ['"'] = '"', ["\\"] = "\\" }

local hex_bytes = {}
for byte = 0, 255 do hex_bytes[("%02x"):format(byte)] = string.char(byte) end

-- Converts a value as JSON spells it to what a script is given for a field of this kind.
local function of_json(raw, kind)
  if type(raw) == "table" then return true end
  if raw == "true" or raw == "false" then return raw == "true" end
  local text = raw:match '^"(.*)"$'
  if not text then
    -- above 2^63 as well
    return raw:find "^%d+$" and math.tointeger(raw:sub(1, -2) .. "0") == nil and #raw > 18
      and math.tointeger(raw:sub(1, -2)) * 10 + math.tointeger(raw:sub(-1))
      or tonumber(raw)
  end
  if kind == "bytes" then
    return (text:gsub("%x%x", hex_bytes))
  end
  if kind ~= "string" and text:find "^0x%x+$" then return tonumber(text) end
  text = text:gsub("\\(u?)(.)(%x?%x?%x?)", function(u, c, more)
    return u == "u" and string.char(tonumber(more, 16)) or escapes[c] .. more
  end)
  return text
end

-- Returns the part of a root's value that a name stands for, or nil.
local function find_json(value, field)
  if field.counted then return nil end
  for _, step in ipairs(field.steps) do
    if type(value) ~= "table" then return nil end
    value = (math.type(step) and value.items or value)[step]
  end
  return value
end

-- Does what of_json does, each value once: `converted` has the values by their kinds.
local function convert_once(converted, raw, kind)
  if type(raw) == "table" then return true end
  local known = converted[kind]
  if not known then
    known = {}
    converted[kind] = known
  end
  local value = known[raw]
  if value == nil then
    value = of_json(raw, kind)
    known[raw] = value
  end
  return value
end

local function compare_line(kind, row, line, converted)
  local fields = kind.fields
  for _, one in ipairs(kind.roots) do
    local root = one.root
    local value = line[root]
    local hides_parts = root == "event" or root == "callchain" and row.unwound
    for i = one.first, value == nil and one.first or one.last do
      local field = fields[i]
      local got = value
      if not field.whole then got = not hides_parts and find_json(value, field) or nil end
      local must = field.whole and not not_dumped[root]
      local difference = (got ~= nil or must)
        and compare(kind, row, i, got and convert_once(converted, got, field.kind), nil)
      if difference then return difference end
    end
  end
end

---Compares the lines of `perflua dump --json --names`, with all names that it can be given.
---@param kinds spec.Kind[] of one recording
function roads.json(kinds)
  local names, ranges, by_type, seen, converted = {}, {}, {}, {}, {}
  for k, kind in ipairs(kinds) do
    by_type[kind.type_id], seen[kind] = kind, 0
    ranges[k] = ("type_id == %d and offset <= %d"):format(kind.type_id, kind.last)
    for _, field in ipairs(kind.fields) do
      if field.text:find "^[%w_]+$" and not names[field.text] then
        names[field.text], names[#names + 1] = true, field.text
      end
    end
  end
  local file, path = kinds[1].file, files.temporary()
  local out <close> = assert(io.open(path, "w+"))
  local query = file:records({ order = "file", container = true })
    :where(table.concat(ranges, " or "))
  local options = plan.walk(spec_of(query))
  options.json, options.names = true, table.move(names, 1, math.min(#names, 255), 1, {})
  core.dump(file, out, options)
  out:seek "set"
  for text in out:lines() do
    local line = json_value(text, 1)
    local kind = by_type[math.tointeger(line.type_id)]
    seen[kind] = seen[kind] + 1
    local row = kind.rows[seen[kind]]
    local difference = row and compare_line(kind, row, line, converted)
    if difference then return difference end
  end
  for _, kind in ipairs(kinds) do
    if seen[kind] < #kind.rows then return compare_number(seen[kind], #kind.rows) end
  end
end

return roads
