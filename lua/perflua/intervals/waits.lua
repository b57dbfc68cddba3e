-- Tells whether records inside of spans can be read before their span ends.

local expr = require "perflua.filter.expr"

local function of_end(ref)
  local span = ref.span
  return span and (span.side == "close" or span.state ~= nil
    or span.own ~= nil and span.own ~= "start") or false
end

-- around: only fields of spans around others count.
local function any_of_end(refs, around)
  for _, ref in ipairs(refs or {}) do
    for _, read in ipairs(ref.node and expr.refs(ref.node) or {}) do
      if of_end(read) and (read.around or not around) then return true end
    end
  end
  return false
end

---Returns true if records wait for the end of their span. They also wait for a function that
---judges spans, as it may read all of a span.
---@param inner table of intervals.within
---@param spec table of the query over the records inside
---@param refs table[]? what is read of them
---@return boolean
local function waits(inner, spec, refs)
  if inner.closed or any_of_end(refs, true) then return true end
  for _, filter in ipairs(inner.spans.filters) do
    if not filter.node or any_of_end(filter.refs) then return true end
  end
  for _, filter in ipairs(spec.filters) do
    if filter.node and any_of_end(filter.refs, true) then return true end
  end
  return false
end

return waits
