-- Shorthands of the specs for opening what the builder built and taking its records.
local perflua = require "perflua"

local reading = {}

--- Opens what a builder holds; wrong: see the builder.
function reading.open(b, wrong)
  return assert(perflua.open(b:write(wrong)))
end

--- All records of a file in file order, the container's own among them.
function reading.all(file)
  return file:records({ order = "file", container = true }):collect()
end

--- The first record of what a builder holds, and the file.
function reading.first(b)
  local file = reading.open(b)
  return file:records({ order = "file", container = true }):first(), file
end

--- Why a file is damaged, a line each.
function reading.reasons(file)
  local list = {}
  for i, d in ipairs(file.damage) do
    list[i] = d.reason
  end
  return table.concat(list, "\n")
end

--- Calls body(endian) within a busted block for either byte order.
function reading.either_order(describe, body)
  for _, endian in ipairs { "little", "big" } do
    describe("in a " .. endian .. "-endian recording", function()
      body(endian)
    end)
  end
end

--- Calls fn with warnings off: for what is damaged on purpose.
function reading.quietly(fn, ...)
  warn "@off"
  return fn(...)
end

return reading
