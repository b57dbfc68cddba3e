-- Describes to the core, for plan, a query over spans or over records inside of spans.

local rows = require "perflua.intervals.rows"
local waits = require "perflua.intervals.waits"

local Reader = {}
Reader.__index = Reader

-- Trees over the rows that a query reads `refs` of.
function Reader:builder(spec, refs)
  local made = self.made
  if not made.pairing then return rows.of(made) end
  return rows.of(made.pairing, made, not made.beside and waits(made, spec, refs))
end

---@param spec table
---@param refs table[]? values that a loop gets; nil: spans, or records with their span
---@return table # options of a cursor
function Reader:loop(spec, refs)
  local builder, results = self:builder(spec, refs or {}), {}
  for i, ref in ipairs(refs or {}) do results[i] = builder:value(ref) end
  return builder:description(spec, { results = refs and results or builder:objects() })
end

---@param spec table
---@param refs table[] what keys and measures read
---@param describe fun(builder: perflua.TreeBuilder): table its keys and measures
---@return table # the description of a grouped query
function Reader:grouping(spec, refs, describe)
  local builder = self:builder(spec, refs)
  return builder:description(spec, describe(builder))
end

---@param made table of pair() or within()
---@param reads string what is read, for explain()
---@return table # sides: rows are spans, which have open and close
return function(made, reads)
  return setmetatable({ made = made, reads = reads, sides = not made.pairing }, Reader)
end
