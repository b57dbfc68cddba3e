-- What filter.c asks of a filter string: it is compiled or refused with a message for people, never one of
-- Lua's own, and with its fields as values or from records it says the same.
local perflua = require "perflua"

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

---@param text string
return function(text)
  local all = file:records { order = "file", type = { "sample", "comm", "mmap2", "exit" } }
  local ok, query = pcall(all.where, all, text)
  if not ok then return check_message(query, text) end
  local fine, offsets = pcall(first, query)
  local same, again = pcall(first, query:where(yes))
  local counted, n = pcall(function() return query:select("offset"):first() end)
  assert(fine == same and fine == counted, "one way raises: " .. tostring(offsets) .. " / " .. tostring(again))
  if not fine then return check_message(offsets, text) end
  assert(offsets == again, "by values and by records: " .. offsets .. " / " .. again)
  assert(tostring(n or ""):match "^%d*" == offsets:match "^%d*", "select gives another first record")
end
