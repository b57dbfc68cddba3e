-- Samples that tools set aside: their period is so large that nothing but damage makes it.
-- Added up with the others it would leave no room in 64 bits for their sum, or nothing of their
-- shares.

local aside = {}
local spec_of = require("perflua.core").query_spec

-- In nanoseconds more than two years; a processor counts to 2^48 before it takes a sample.
aside.MOST = (1 << 56) - 1

---@param period integer | false | nil unsigned; absent: it is not
---@return boolean
function aside.is(period) return period and math.ult(aside.MOST, period) or false end

---Has a grouped query of samples, of which a measure adds up the period, set them aside.
---@param query perflua.Query
---@return { most: integer, n: integer } # n: how many were, when it has run
function aside.from(query)
  spec_of(query).aside = { most = aside.MOST, n = 0 }
  return spec_of(query).aside
end

---@param list table of table/result_table.lua
---@param n integer
function aside.note(list, n)
  list:note("set_aside", n,
    "{sample was|samples were} not counted: a period of 2^56 or more is damage")
end

---@param n integer
---@return string? # nil: there are none
function aside.said(n)
  if n == 0 then return nil end
  return ("%d %s not counted: a period of 2^56 or more is damage"):format(n,
    n == 1 and "sample was" or "samples were")
end

return aside
