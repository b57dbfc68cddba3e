-- Asks a filter string for filter.c: it is compiled or refused with a message for people.
-- It is also an expression whose values are selected and made keys.
local perflua = require "perflua"
local interpret = require("spec.support.model").interpret

local check_message = dofile "spec/fuzz/internal.lua"

local RECORDS = 40

local file = assert(perflua.open "spec/fixtures/demo.perf.data")

-- The records a query yields at first, by their places.
local function first(query)
  local list = {}
  for r in query:each() do
    list[#list + 1] = r.offset
    if #list == RECORDS then break end
  end
  return table.concat(list, " ")
end

local function yes() return true end

-- Returns the same query, answered record by record.
local function interpreted(query)
  return interpret(query, true)
end

local function check_filter(all, query, text)
  local fine, offsets = pcall(first, query)
  local same, again = pcall(first, query:where(yes))
  local counted, n = pcall(function() return query:select("offset"):first() end)
  assert(fine == same and fine == counted, "one way raises: " .. tostring(offsets) .. " / "
    .. tostring(again))
  if not fine then return check_message(offsets, text) end
  assert(offsets == again, "by values and by records: " .. offsets .. " / " .. again)
  assert(tostring(n or ""):match "^%d*" == offsets:match "^%d*",
    "select gives another first record")
  local one, other = query:count(), interpreted(all:where(text)):count()
  assert(one == other, "counted in C and record by record: " .. one .. " / " .. other)
end

local function check_key(all, text)
  local ok, query = pcall(all.group_by, all, text)
  if not ok then return check_message(query, text) end
  local one, other = tostring(query:sort()), tostring(interpreted(all:group_by(text)):sort())
  assert(one == other, "groups in C and record by record:\n" .. one .. "\n" .. other)
end

---@param text string
return function(text)
  local all = file:records { order = "file", type = { "sample", "comm", "mmap2", "exit" } }
  local ok, query = pcall(all.where, all, text)
  if ok then check_filter(all, query, text) else check_message(query, text) end
  ok, query = pcall(all.select, all, text)
  if not ok then return check_message(query, text) end
  local value = query:first()
  local again = all:where(yes):select(text):first()
  assert(tostring(value):match "^[^:]*" == tostring(again):match "^[^:]*",
    "selected in two ways")
  check_key(all, text)
end
