-- Where a pass has the values that a query over spans reads: as Lua text over the locals of the pass (text.lua).

local expr = require "perflua.filter.expr"
local plan = require "perflua.plan"

local ABSENT = plan.ABSENT

local values = {}

local Values = {}
Values.__index = Values

-- The record itself, as a column.
values.record = { text = "(the record)", kind = "function", plain = false, get = function(record) return record end }

---@param pairing table
---@param columns table
---@param time integer place of the records' times
---@return table
function values.of(pairing, columns, time)
  return setmetatable({
    pairing = pairing, columns = columns, time = "c" .. time,
    opened = {}, slots = {}, -- columns kept of an open span; by place, its item of the state
    closing = {}, sampled = {}, -- columns read of the record that closed it, of the record inside of it
    fills = {}, filled = {}, -- what of v is to be set before fns are called; by the text of a field its place
    fns = {},
  }, Values)
end

function Values:fn(fn)
  self.fns[#self.fns + 1] = fn
  return ("fns[%d]"):format(#self.fns)
end

local function listed(list, place)
  for _, one in ipairs(list) do
    if one == place then return end
  end
  list[#list + 1] = place
end

-- The value of a column of the opening record, by its place.
function Values:of_open(place)
  if not self.slots[place] then
    self.opened[#self.opened + 1] = place
    self.slots[place] = #self.opened + 1 -- the first is the start
  end
  return "o" .. place
end

local own = {
  start = function() return "start" end,
  stop = function(self) return self.time end,
  duration = function(self) return ("(%s - start)"):format(self.time) end,
}

function Values:key(i)
  local place = self.columns:add(self.key_refs[i])
  return self.keys_are_sampled and self:of_sample(place) or self:of_close(place)
end

function Values:of_close(place)
  listed(self.closing, place)
  return "c" .. place
end

function Values:of_sample(place)
  listed(self.sampled, place)
  return "r" .. place
end

-- A field's value, as text; and whether it is ABSENT where there is none, else it is false.
function Values:field(ref)
  local span = ref.span
  if span and span.own then return own[span.own](self), false end
  if span and span.key then return self:key(span.key), false end
  local place = self.columns:add(span and span.ref or ref)
  local tells = self.columns:tells(place)
  if not span then return self:of_sample(place), tells end
  if span.side == "open" then return self:of_open(place), tells end
  return self:of_close(place), tells
end

-- For closures: the field's value in v, nil if there is none.
function Values:access(ref)
  local name = (ref.span and "span " or "") .. ref.text
  local i = self.filled[name]
  local value, tells = self:field(ref)
  if not i then
    i = #self.fills + 1
    self.fills[i], self.filled[name] = ("v[%d] = %s"):format(i, value), i
  end
  if tells then
    return function(v)
      local x = v[i]
      if x == ABSENT then return nil end
      return x
    end
  end
  return function(v) return v[i] or nil end
end

function Values:closure(node)
  return expr.bind(node, function(ref) return self:access(ref) end)
end

-- What a script's function is called with.
function Values:called(fn)
  self.calls_lua = true
  return ("%s(%s)"):format(self:fn(fn), self.arguments())
end

-- Of a field what nil stands for where there is none.
function Values:or_nil(ref)
  local value, tells = self:field(ref)
  if not tells then return value .. " or nil" end
  return ("%s(%s)"):format(self:fn(function(x)
    if x == ABSENT then return nil end
    return x
  end), value)
end

-- A group's key of which false, or NaN, is a value (group/aggregate.lua): ABSENT if there is none.
function Values:told(ref)
  local value
  if ref.kind == "function" then
    value = self:called(ref.get)
  elseif ref.node.op ~= "field" then
    value = self:fn(self:closure(ref.node)) .. "(v)"
  else
    value = self:or_nil(ref)
  end
  return ("%s(%s)"):format(self:fn(function(x)
    if x == nil or x ~= x then return ABSENT end
    return x
  end), value)
end

---What a loop, or a group, reads; false if it is absent.
---@param ref table
---@return string # Lua text
function Values:value(ref)
  if ref.of then return self:told(ref.of) end
  if ref.kind == "function" then return self:called(ref.get) .. " or false" end
  if ref.node.op ~= "field" then return self:fn(self:closure(ref.node)) .. "(v) or false" end
  local value, tells = self:field(ref)
  return tells and ("%s ~= ABSENT and %s"):format(value, value) or value
end

-- A condition, as text.
function Values:condition(filter)
  if not filter.node then return self:called(filter.bind()) end
  return ("%s(v)"):format(self:fn(self:closure(filter.node)))
end

---Statements that set what is read of the state: "start, o2, o3 = s[1], s[2], s[3]".
function Values:from(state, start)
  local names, items = { start }, { state .. "[1]" }
  for i, place in ipairs(self.opened) do
    names[#names + 1] = "o" .. place
    items[#items + 1] = ("%s[%d]"):format(state, i + 1)
  end
  return table.concat(names, ", ") .. " = " .. table.concat(items, ", ")
end

---The state of a span that opens: a constructor, and statements that set it again. With the span itself, where that
---is kept, behind what is read of the record.
---@return string, string
function Values:state()
  local items, lines = { self.time }, { ("s[1] = %s"):format(self.time) }
  for i, place in ipairs(self.opened) do
    items[i + 1] = "c" .. place
    lines[i + 1] = ("s[%d] = c%d"):format(i + 1, place)
  end
  if self.keeps_span then
    items[#items + 1] = "false"
    lines[#lines + 1] = ("s[%d] = false"):format(#items)
  end
  return "{ " .. table.concat(items, ", ") .. " }", table.concat(lines, "\n")
end

---What is set where a span is found.
---@return string
function Values:locals()
  local names = { "start", "inner" }
  for _, place in ipairs(self.opened) do names[#names + 1] = "o" .. place end
  for _, place in ipairs(self.sampled) do names[#names + 1] = "r" .. place end
  return table.concat(names, ", ")
end

return values
