-- Random queries over a recording: a list of steps, each { method, argument, … }, from a seed.
local functions = require "spec.support.random_functions"
local intervals = require "spec.support.random_spans"
local random_from = require("spec.support.random_recording").random_from

local queries = {}

local number = { signed = true, unsigned = true, address = true, float = true, any = true }
local text = { string = true, bytes = true, any = true }

local Maker = {}
Maker.__index = Maker

function Maker:one_of(list) return list[1 + self.random(#list)] end

function Maker:chance(percent) return self.random(100) < percent end

-- A field that one of these kinds has; nil if there is none. Few fields in one query, so that
-- they meet.
function Maker:field(kinds)
  local fitting = {}
  for _, field in ipairs(self.pool) do
    if kinds[field.kind] then fitting[#fitting + 1] = field end
  end
  return #fitting > 0 and self:one_of(fitting) or nil
end

local function quoted(value)
  return '"'
    .. value:gsub('[^%w %./:_%-%[%]]', function(c) return ("\\%03d"):format(c:byte()) end)
      .. '"'
end

-- Returns a constant of the filter language.
function queries.constant(value, is_unsigned)
  if type(value) == "string" then return quoted(value) end
  if math.type(value) == "float" then
    if value ~= value or value - value ~= 0 then return "1e999" end
    local digits = ("%.17g"):format(value)
    return digits:find "[.e]" and digits or digits .. ".0"
  elseif math.type(value) then
    if value >= 0 then return tostring(value) end
    if is_unsigned then return ("0x%x"):format(value) end
    return value == math.mininteger and "(-9223372036854775807 - 1)" or "(" .. value .. ")"
  end
  return tostring(value)
end

local odd = {
  "0", "1", "2", "-1", "3", "64", "0x7fffffffffffffff", "0xffffffffffffffff",
  "18446744073709551615", "(1 << 63)",
  "1.5", "-0.5", "2.0", "1e19", "1e999", "9007199254740993", "4096",
}
local odd_texts = { '""', '"a"', '"[kernel.kallsyms]"', '"perf\\000"', '"_"' }

-- A constant: one that occurs, or nearly.
function Maker:number_constant(field)
  local value = field and #field.values > 0 and self:one_of(field.values)
  if not math.type(value) or self:chance(20) then return self:one_of(odd) end
  local is_unsigned = field.kind ~= "signed"
  if self:chance(25) then value = value + self:one_of { 1, -1, 0.5, -0.5, 0.0 } end
  return queries.constant(value, is_unsigned)
end

function Maker:text_constant(field)
  local value = field and #field.values > 0 and self:one_of(field.values)
  if type(value) ~= "string" or self:chance(10) then return self:one_of(odd_texts) end
  if self:chance(20) then
    local from = 1 + self.random(math.max(1, #value))
    value = value:sub(from, from + self.random(8))
  end
  return quoted(value)
end

local operators = { "+", "-", "*", "/", "//", "%", "^", "&", "|", "~", "<<", ">>" }
local comparisons = { "==", "~=", "<", "<=", ">", ">=" }
local widths = { "1", "7", "64", "1000", "4096", "'10ms'", "'1us'", "'line'", "'page'" }

function Maker:number(depth)
  local field = self:field(number)
  local how = self.random(100)
  if depth <= 0 or how < 45 then
    return field and self:chance(80) and field.text or self:number_constant(field)
  elseif how < 85 then
    return ("(%s %s %s)"):format(self:number(depth - 1), self:one_of(operators),
      self:number(depth - 1))
  elseif how < 90 then
    return ("(%s%s)"):format(self:one_of { "-", "~" }, self:number(depth - 1))
  elseif how < 93 then
    return ("(%s or %s)"):format(self:number(depth - 1), self:number(depth - 1))
  elseif how < 96 then
    return ("(%s and %s)"):format(self:number_condition(depth - 1), self:number(depth - 1))
  end
  return ("bucket(%s, %s)"):format(self:number(depth - 1), self:one_of(widths))
end

function Maker:list(constant, field)
  local list = {}
  for i = 1, 1 + self.random(4) do list[i] = constant(self, field) end
  return "{ " .. table.concat(list, ", ") .. " }"
end

local globs = { "*", "?*", "*a*", "[a-m]*", "[!s]*", "*[0-9]", "s?", "[[]*" }
local patterns = { "%a", "^[%w_]+$", "s.-s", "%d%d*", "^.?s", "[^%w]", "%f[%a]s", "(a?)b",
  "%b[]", "" }

function Maker:text_condition()
  local field = self:field(text)
  if not field then return self:number_condition(1) end
  local how, other = self.random(100), self:text_constant(field)
  if how < 50 then return ("%s %s %s"):format(field.text, self:one_of(comparisons), other) end
  if how < 65 then return ("find(%s, %s)"):format(field.text, other) end
  if how < 72 then return ("starts(%s, %s)"):format(field.text, other) end
  if how < 76 then return ("glob(%s, %s)"):format(field.text, quoted(self:one_of(globs))) end
  if how < 80 then
    return ("match(%s, %s)"):format(field.text, quoted(self:one_of(patterns)))
  end
  if how < 84 then
    return ("lower(%s) %s %s"):format(field.text, self:one_of(comparisons), other)
  end
  if how < 92 then
    return ("%s in %s"):format(field.text, self:list(self.text_constant, field))
  end
  return ("%s %s %s"):format(field.text, self:one_of(comparisons), self:field(text).text)
end

function Maker:number_condition(depth)
  local field = self:field(number)
  if not field then return "offset >= " .. self:number(0) end
  if self:chance(15) then
    return ("%s in %s"):format(field.text, self:list(self.number_constant, field))
  end
  if self:chance(50) then
    return ("%s %s %s"):format(field.text, self:one_of(comparisons),
      self:number_constant(field))
  end
  return ("%s %s %s"):format(self:number(depth), self:one_of(comparisons), self:number(depth))
end

local everything = setmetatable({}, { __index = function() return true end })

function Maker:condition(depth)
  local how = self.random(100)
  if depth > 0 and how < 30 then
    return ("(%s %s %s)"):format(self:condition(depth - 1), self:one_of { "and", "or" },
      self:condition(depth - 1))
  elseif depth > 0 and how < 40 then
    return ("not (%s)"):format(self:condition(depth - 1))
  elseif how < 50 then
    return ("%s %s nil"):format(self:field(everything).text, self:one_of { "==", "~=" })
  elseif how < 55 and #self.events > 0 then
    return ("event %s %s"):format(self:one_of { "==", "~=" }, quoted(self:one_of(self.events)))
  elseif how < 57 then
    return ("under(%s)"):format(self:text_constant(self.symbols))
  elseif how < 58 then
    return ("under(%s)"):format(quoted(self:one_of(globs)))
  elseif how < 62 then
    local flag = self:field { boolean = true, any = true }
    return flag and flag.text or "true"
  end
  return how < 80 and self:text_condition() or self:number_condition(depth)
end

-- A field, or what is made of some.
function Maker:value(kinds)
  if kinds.signed and self:chance(25) then return self:number(2) end
  if kinds.boolean and self:chance(10) then return self:condition(1) end
  local field = self:field(kinds)
  return field and field.text or "offset"
end

local scalar = {
  signed = true, unsigned = true, address = true, float = true, string = true, bytes = true,
  boolean = true,
  event = true, any = true,
}
local ordered = {
  signed = true, unsigned = true, address = true, float = true, string = true, bytes = true,
  any = true,
}
local measures = {
  sum = number, avg = number, min = ordered, max = ordered, quantile = number, hist = number,
  distinct = scalar,
}
local weighted = { count = true, avg = true, quantile = true, hist = true }
local names = { "sum", "avg", "min", "max", "quantile", "hist", "distinct" }
local of_groups = { first = scalar, last = scalar, share = number, max_by = number }
local more_names = { "sum", "avg", "min", "max", "quantile", "hist", "distinct", "first",
  "last", "share", "max_by" }

function Maker:measure(known)
  if self:chance(15) then return { "count" } end
  local name = self:one_of(known)
  local step = { name, self:value(measures[name] or of_groups[name]) }
  if name == "quantile" then step[3] = self:one_of { 0.0, 0.5, 0.99, 1.0, 0.3333 } end
  if name == "max_by" then step[3] = self:value { signed = true, unsigned = true } end
  return step
end

-- A field that functions can read: no composite, no expression of one, and no member of items.
function Maker:readable()
  local field
  for _ = 1, 5 do
    field = self:one_of(self.pool)
    if scalar[field.kind] and not field.text:find "^#" and not field.text:find "^stack"
        and not field.is_item then
      return field.text
    end
  end
  return self.arguments == "span" and "start" or "offset"
end

function Maker:filters(steps)
  for _ = 1, self:one_of { 0, 1, 1, 2 } do
    if self.calls and self:chance(25) then
      steps[#steps + 1] = { "where", functions.condition(self.random, self:readable(),
        self.arguments) }
    else
      steps[#steps + 1] = { "where", self:condition(2) }
    end
  end
  if self:chance(10) then
    steps[#steps + 1] = { "between", self:one_of { "10%", "0%" },
      self:one_of { "60%", "100%" } }
  end
end

function Maker:grouped(steps)
  local keys, seen = { "group_by" }, {}
  for _ = 1, self:one_of { 1, 1, 1, 2, 2, 3 } do
    local key = self:value(scalar)
    if self.calls and self:chance(25) then
      keys[#keys + 1] =
        { [("fn%d"):format(#keys)] = functions.value(self.random, self:readable(),
          self.arguments) }
    elseif not seen[key] then
      keys[#keys + 1] = key
    end
    seen[key] = true
  end
  steps[#steps + 1] = keys
  for _ = 1, 1 + self.random(3) do
    steps[#steps + 1] = self:measure(more_names)
    if weighted[steps[#steps][1]] and self:chance(25) then
      steps[#steps + 1] = { "weight", self:value { signed = true, unsigned = true } }
    end
    steps[#steps + 1] = { "as", "m" .. #steps }
  end
  if self:chance(8) and #self.events > 1 then
    steps[#steps + 1] = { "ratio", self:one_of(self.events), self:one_of(self.events) }
  end
  if self:chance(25) then steps[#steps + 1] = { "all_events" } end
end

local views = {
  callchain = {
    { text = "frame.index", kind = "unsigned", values = { 1, 2 } },
    { text = "frame.ip", kind = "address", values = { 0, 1, 2, 3 } },
    { text = "frame.kind", kind = "string", values = { "user", "kernel" } },
    { text = "frame.dso", kind = "string", values = { "[unknown]" } },
    { text = "frame.symbol", kind = "string", values = {} },
  },
  branch_stack = {
    { text = "branch.index", kind = "unsigned", values = { 1, 2 } },
    { text = "branch.from", kind = "address", values = { 0, 1, 64 } },
    { text = "branch.to", kind = "address", values = { 1, 2, 5 } },
    { text = "branch.cycles", kind = "unsigned", values = { 0, 1, 3 } },
    { text = "branch.mispred", kind = "boolean", values = {} },
    { text = "branch.dso_to", kind = "string", values = { "[unknown]" } },
  },
}

-- Has rows be items: of records, or of one side of spans.
function Maker:unnest(steps)
  local view = self:one_of { "callchain", "callchain", "branch_stack" }
  local members = views[view]
  local side = self.arguments == "span" and self:one_of { "open.", "close.", "" } or ""
  local pool = {}
  for i, member in ipairs(members) do
    pool[i] = setmetatable({ is_item = true }, { __index = member })
  end
  for i = 1, 3 do pool[#pool + 1] = self.pool[i] end
  self.pool = pool
  local once = self:chance(40) and self:one_of(members).text or nil
  steps[#steps + 1] = { "unnest", side .. view, { once = once } }
  self:filters(steps)
end

-- Ends a query: groups, selected values, or a measure; or it is looped over.
function Maker:ending(steps)
  local how = self.random(100)
  if self.views and not self.arguments:find "," and self:chance(20) then
    self:unnest(steps)
  elseif self.calls and self:chance(10) then
    return
  end
  if how < 60 then
    self:grouped(steps)
  elseif how < 80 then
    local selected = { "select" }
    for i = 1, 1 + self.random(3) do selected[i + 1] = self:value(scalar) end
    steps[#steps + 1] = selected
  else
    steps[#steps + 1] = self:measure(names)
  end
end

---@param seed integer
---@param about table what can be asked: { fields, events = names, calls = functions of Lua,
--- spans = those, too; views = their items, too }
---@return table[] steps the last decides what is compared: rows of a table, values, or one
function queries.steps(seed, about)
  local self = setmetatable({
    random = random_from(seed), events = about.events, pool = {}, calls = about.calls,
    arguments = "record", views = about.views,
  }, Maker)
  local of_events, of_args, others = {}, {}, {}
  for _, field in ipairs(about.fields) do
    local list = field.text:find "^event%." and of_events or field.text:find "^#?args%."
      and of_args or others
    list[#list + 1] = field
    if field.text == "symbol" then self.symbols = field end
  end
  for i = 1, 7 do
    self.pool[i] = self:one_of(i == 1 and of_events or i < 5 and #of_args > 0 and of_args
      or others)
  end
  self.records = self.pool
  local steps = {}
  self:filters(steps)
  if about.spans and self:chance(65) then intervals(self, steps) end
  self:ending(steps)
  return steps
end

local function spelled_value(value)
  if type(value) == "function" then return functions.texts[value] end
  if type(value) == "string" then return ("%q"):format(value) end
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for key, one in pairs(value) do
    parts[#parts + 1] = math.type(key) and spelled_value(one)
      or ("%s = %s"):format(key, spelled_value(one))
  end
  table.sort(parts)
  return "{ " .. table.concat(parts, ", ") .. " }"
end

---@param steps table[]
---@return string # as a script has them
function queries.spelled(steps)
  local parts = {}
  for i, step in ipairs(steps) do
    local arguments = {}
    for k = 2, #step do arguments[k - 1] = spelled_value(step[k]) end
    if step[1] == "within" or step[1] == "intersection" then
      arguments[1] = "records" .. queries.spelled(step[2])
    end
    parts[i] = (":%s(%s)"):format(step[1], table.concat(arguments, ", "))
  end
  return table.concat(parts)
end

return queries
