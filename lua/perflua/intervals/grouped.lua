-- Grouped queries over spans as the core runs them: it pairs the records, and adds up what is read of the pairs.

local expr = require "perflua.filter.expr"
local lower = require "perflua.plan.lower"
local paired = require "perflua.intervals.paired"
local plan = require "perflua.plan"

local grouped = {}

-- Trees whose fields are places in the row of a pair.
---@class perflua.RowLowering: perflua.Lowering
local RowLowering = setmetatable({}, { __index = lower.class })
RowLowering.__index = RowLowering

local function fail(...) error({ why = (...):format(select(2, ...)) }, 0) end

RowLowering.call = function(_, _, _, _, why) fail("%s", why) end

-- What asks the record itself is refused.
function RowLowering:node(node)
  if node.op == "under" then fail("under() asks records") end
  if node.op == "count" then fail("#%s asks records", node.left.text) end
  return lower.class.node(self, node)
end

-- Calls fn; nil and why, if what it lowers is refused.
local function tried(fn, ...)
  local ok, result, more = pcall(fn, ...)
  if ok then return result, more end
  if type(result) ~= "table" then error(result, 0) end
  return nil, result.why
end

-- The place in the row of a column, of the record that opened the span or of the one that closed it.
function RowLowering:place(place, of_open)
  local known = self.places[of_open]
  if not known[place] then
    self.row[#self.row + 1] = { place, of_open }
    known[place] = #self.row
  end
  return known[place]
end

function RowLowering:column(place, of_open, kind)
  local name = (of_open and "open " or "close ") .. place
  self.fields[name] = self.fields[name] or { row = self:place(place, of_open) }
  return { op = "field", kind = kind, field = self.fields[name] }
end

local own = {
  start = function(self) return self:column(self.time, true, "unsigned") end,
  stop = function(self) return self:column(self.time, false, "unsigned") end,
  duration = function(self)
    return {
      op = "sub", kind = "signed", left = self:column(self.time, false, "signed"),
      right = self:column(self.time, true, "signed"),
    }
  end,
}

function RowLowering:leaf(ref)
  local span = ref.span
  local node = ref
  if node.kind == "view" then fail("%s is a composite", node.text) end
  if span.own then return own[span.own](self) end
  if span.key then return self:column(self.columns:add(self.keys[span.key]), false, node.kind) end
  return self:column(self.columns:add(span.ref), span.side == "open", node.kind)
end

-- The filters of the query, and its times, which are those of starts.
local function kept(spec, lowering)
  local conditions = {}
  local function add(filter)
    local tree, why = tried(lowering.condition, lowering, filter)
    conditions[#conditions + 1] = tree
    return tree, why
  end
  if spec.from or spec.to then
    local times = ("start >= 0x%x and start < 0x%x"):format(spec.from or 0, spec.to or -1)
    add(assert(expr.compile(times, spec.scope)))
  end
  for _, filter in ipairs(spec.filters) do
    local tree, why = add(filter)
    if not tree then return nil, why end
  end
  return conditions
end

---@param pairing table
---@param all table columns, of which the first two say what closes and what opens
---@param spec table of the query over the spans
---@param description fun(lowering: perflua.Lowering): table?, string? # its keys and measures
---@return table? description for the core, with pairs and values
---@return string? why not
function grouped.describe(pairing, all, spec, description)
  local time = all:add(pairing.time)
  local lowering = setmetatable({
    file = spec.file, fields = {}, columns = all, time = time, keys = pairing.close.keys,
    row = { { time, true } }, places = { [true] = { [time] = 1 }, [false] = {} },
  }, RowLowering)
  local described, why = tried(description, lowering)
  if not described then return nil, why end
  for _, one in ipairs(described.measures) do
    if one.events then return nil, "a ratio asks the events of records" end
  end
  local conditions
  conditions, why = kept(spec, lowering)
  if not conditions then return nil, why end
  local refs, how = paired.how(pairing, all, lowering.row)
  local reading = setmetatable({ filters = {} }, { __index = pairing.reading })
  local values
  values, why = plan.pairs_values(reading, refs)
  if not values then return nil, why end
  for key, value in pairs(values) do described[key] = value end
  described.pairs, described.kept = how, lower.all(conditions)
  return described
end

return grouped
