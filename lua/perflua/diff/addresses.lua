-- Samples without a function in binaries that both sides have, by their build-ids: there they
-- are compared by address, or get the names that the other side knows.

local core = require "perflua.core"
local names = require "perflua.diff.names"
local query = require "perflua.query"
local spec_of = core.query_spec

local addresses = {}

local LEAST <const> = 20 -- samples of both sides without a function: fewer are not named

-- Returns the key of a query that has functions of binaries; nil: none has.
local function find_symbol(item)
  local spec = query.is(item) and spec_of(item)
  if not spec or not spec.file.size or spec.reader or spec.unnest then return nil end
  local keys = {}
  for i, key in ipairs(spec.keys) do keys[i] = { name = key.name, text = key.ref.text } end
  local symbol = names.symbol(keys)
  return symbol and keys[symbol].text == "symbol" and symbol or nil
end

local function build_ids_of(list)
  local ids = {}
  for _, item in ipairs(list) do
    core.each_binary(spec_of(item).file, false, function(binary)
      if binary.build_id then ids[binary.build_id] = true end
    end)
  end
  return ids
end

local function have_common(a, b)
  for id in pairs(a) do
    if b[id] then return true end
  end
  return false
end

---Returns whether addresses where no function is known are worth to be read.
---@param before (perflua.Query|perflua.Table)[]
---@param after (perflua.Query|perflua.Table)[]
---@return integer? # the key whose values they are; nil: they are not
function addresses.symbol(before, after)
  local symbol
  for _, list in ipairs { before, after } do
    for _, item in ipairs(list) do
      local place = find_symbol(item)
      if not place or symbol and place ~= symbol then return nil end
      symbol = place
    end
  end
  return have_common(build_ids_of(before), build_ids_of(after)) and symbol or nil
end

local function binaries_of(one)
  local results = {}
  for i, run in ipairs(one.runs) do
    results[i] = { result = run.result, file = run.spec.file, build_id = run.build_id,
      symbol = one.symbol, count = run.count }
  end
  return core.binaries(table.unpack(results))
end

---Returns the binaries of both sides, if samples without a function are in some that both have.
---@param before table a side
---@param after table
---@return userdata? # of before; nil: addresses are not compared
---@return userdata? # of after
function addresses.binaries(before, after)
  if not (before.runs[1].build_id and after.runs[1].build_id) then return nil end
  local a, b = binaries_of(before), binaries_of(after)
  if core.binaries_unnamed(a, b) < LEAST then return nil end
  return a, b
end

return addresses
