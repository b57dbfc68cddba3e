-- Random steps over spans, and over records inside of spans, for a maker of random queries
-- (queries.lua).
local functions = require "spec.support.random_functions"

local of_some_events = { "args", "message", "syscall", "errno", "raw" }

-- The fields that samples of any event may have.
local function common(pool)
  local list = {}
  for _, field in ipairs(pool) do
    local is_common = true
    for _, name in ipairs(of_some_events) do
      is_common = is_common and not field.text:find(name, 1, true)
    end
    if is_common then list[#list + 1] = field end
  end
  list[#list + 1] = { text = "time", kind = "unsigned", values = { 1100, 1200 } }
  return list
end

-- The fields of spans, from those of records: of the one that opens and of the one that closes.
local function of_spans(pool, maker, prefix, options)
  local list = {
    { text = prefix .. "start", kind = "unsigned", values = { 1000, 1300 } },
    { text = prefix .. "stop", kind = "unsigned", values = { 1010, 1500 } },
    { text = prefix .. "duration", kind = "signed", values = { 0, 10, 30, 100 } },
  }
  if options.unfinished then
    list[#list + 1] = { text = prefix .. "so_far", kind = "signed", values = { 0, 100 } }
  end
  if options.slice or options.window then
    list[#list + 1] = { text = prefix .. "cut", kind = "boolean", values = {} }
  end
  if options.change then
    for _, state in ipairs { "in_a", "in_b" } do
      list[#list + 1] = { text = prefix .. state, kind = "signed", values = { 0, 10, 100 } }
    end
  end
  for _, field in ipairs(common(pool)) do
    local count, path = field.text:match "^(#?)(.*)"
    local side = maker:one_of { "open.", "close.", "open." }
    list[#list + 1] = { text = count .. prefix .. side .. path, kind = field.kind,
      values = field.values }
  end
  return list
end

-- Returns a random condition of the records that open spans, or close them.
local function side(self, name)
  local how = self.random(100)
  if how < 45 then return name end
  if how < 60 then
    self.pool = common(self.records)
    local condition = self:condition(1)
    self.pool = self.records
    return { event = name, where = condition,
      again = name == "open" and self:chance(30) and "keep" or nil }
  end
  if how < 70 then return { where = self:condition(1) } end
  if self.calls and how < 85 then
    return functions.condition(self.random, self:readable(), "record")
  end
  return self:one_of { "tick", { "open", "tick" }, name }
end

-- Returns the records that close spans: one kind, or several, of which some ask what opened the
-- span, or have a key of their own.
local function closing(self, key)
  if not self:chance(30) then return side(self, "close") end
  local parts = {}
  for i = 1, 1 + self.random(3) do
    self.pool = common(self.records)
    local where = self:chance(60) and ("%s %s open.%s"):format(self:number(0),
      self:one_of { "==", ">=", "~=" }, self:one_of { "tid", "cpu", "time", "period" }) or nil
    parts[i] = { event = self:one_of { "open", "close", "tick" }, where = where,
      key = self:chance(20) and key or nil, next_on_cpu = self:chance(30) or nil }
    self.pool = self.records
  end
  return parts
end

-- Adds states to the options of pair().
local function add_states(self, options)
  options.open = { { event = self:one_of { "open", "tick" }, state = "a" },
    { event = "open", state = self:one_of { "a", "b" } } }
  options.change = {}
  for i = 1, 1 + self.random(2) do
    self.pool = common(self.records)
    options.change[i] = { event = self:one_of { "open", "close", "tick" },
      state = i == 1 and "b" or self:one_of { "a", "b" },
      from = self:chance(30) and self:one_of { "a", "b" } or nil,
      where = self:chance(50) and self:condition(1) or nil }
    self.pool = self.records
  end
  if self:chance(30) then options.close = { event = "close", from = "a" } end
end

local function spans(self, steps, keys, fields, ended)
  local key = self:one_of(keys)
  steps[#steps + 1] = { "pair", {
    open = side(self, "open"), close = closing(self, key), key = key, fields = fields
      and { "tid", "time" } or nil, unfinished = not ended and self:chance(25) or nil,
    lost = self:chance(25) and "keep" or nil,
  } }
  local options = steps[#steps][2]
  if self:chance(20) then add_states(self, options) end
  if self.may_cut and self:chance(20) then
    -- some recordings have a record seconds later: slices need a window
    options.slice = self:one_of { 1, 10, 70, "1us", false } or nil
    options.window = self:one_of { { 1100, 1400 }, { nil, 1200 },
      options.slice and { 1300, 1350 } or { 1300 } }
  end
  self.pool = of_spans(self.records, self, "", options)
  self.arguments = "span"
  self.calls = self.calls and not fields
end

-- The time that spans cover, or that two kinds of them do.
local function covers(self, steps)
  local calls = self.calls
  self.may_cut, self.calls = true, false
  spans(self, steps, { "tid", "cpu", { "tid", "cpu" }, false }, self:chance(20))
  local key = steps[#steps][2].key
  if self:chance(30) then self:filters(steps) end
  local own = self:chance(50) and { key = self:one_of { "open.cpu", "tid // 2", false,
    { "open.tid", "close.cpu" } } } or nil
  if self:chance(50) then
    steps[#steps + 1] = { "union", own }
  else
    local other = {}
    self.calls, self.pool = false, self.records
    spans(self, other, { key }, self:chance(20))
    if self:chance(20) then self:filters(other) end
    steps[#steps + 1] = { "intersection", other, own }
  end
  self.pool = {
    { text = "start", kind = "unsigned", values = { 1000, 1300 } },
    { text = "stop", kind = "unsigned", values = { 1010, 1500 } },
    { text = "duration", kind = "signed", values = { 0, 10, 30, 100 } },
  }
  if own then key = own.key end
  if key then
    self.pool[4] = { text = type(key) == "table" and "key[1]" or "key", kind = "any",
      values = { 1, 2 } }
  end
  self.arguments, self.calls = "span", calls
  if self:chance(40) then self:filters(steps) end
end

-- Spans, the records inside of spans, or the time that spans cover.
return function(self, steps)
  if self:chance(22) then return covers(self, steps) end
  self.may_cut = self:chance(60)
  if self.may_cut then
    spans(self, steps, { "tid", "tid", "cpu", { "tid", "cpu" }, "comm", "tid // 2", false },
      self:chance(20))
    return self:filters(steps)
  end
  local inner, own, calls = {}, self.records, self.calls
  if self:chance(40) then self:filters(inner) end
  spans(self, inner, { "tid", "cpu", false }, self:chance(20))
  local options = inner[#inner][2]
  if self:chance(50) then self:filters(inner) end
  if self:chance(60) then
    self.pool, self.arguments, self.calls = own, "record", calls
    spans(self, steps, { "tid", "cpu", false }, self:chance(20), true)
    calls = self.calls
    if self:chance(50) then self:filters(steps) end
    steps[#steps + 1] = { "within", inner,
      { closed = self:chance(30) or nil, key = self:one_of { "tid", "cpu" } } }
    local around = of_spans(own, self, "span.", options)
    self.pool = table.move(around, 1, #around, #self.pool + 1, self.pool)
    self.arguments, self.calls = "span, around", calls
    return self:filters(steps)
  end
  steps[#steps + 1] = { "within", inner,
    { closed = self:chance(30) or nil, key = self:one_of { "tid", "cpu" } } }
  self.pool = table.move(own, 1, #own, 1, of_spans(own, self, "span.", options))
  self.arguments, self.calls = "record, span", calls
  self:filters(steps)
end
