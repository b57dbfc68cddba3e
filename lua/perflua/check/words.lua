-- The language of performance specs: quantities, and what is expected of them. A spec runs in
-- an environment with these words and the plain functions of Lua. Nothing is read meanwhile: it
-- makes a list of expectations.

local output = require "perflua.table.output"
local units = require "perflua.text.units"
local suggest = require "perflua.errors.suggest"
local usage_error = require("perflua.errors").usage_error

local words = {}

-- Runs a performance spec and its functions, which may be someone else's: they write no files,
-- and they end.

-- Instructions of Lua: some seconds of a loop. What runs in C does not count.
local MOST <const>, STEP <const> = 1000000000, 1000000

-- Raises from the last step on. Each instruction is a step then, so that a function ends that
-- catches errors.
local function set_limit(caller)
  local left = MOST // STEP
  local function count_step()
    left = left - 1
    if left > 0 or debug.getinfo(2, "f").func == caller then return end
    if left == 0 then debug.sethook(count_step, "", 1) end
    usage_error("ended after %d million instructions of Lua, the most that a spec may run at a "
      .. "time; a query counts and adds up without them", MOST // 1000000)
  end
  debug.sethook(count_step, "", STEP)
end

---Calls a function of a spec as pcall does.
---@param fn function
---@param ... any
---@return boolean ok
---@return any result # the first value that it returns, or what it raised
function words.call_bounded(fn, ...)
  output.refusal = "a performance spec writes no files"
  set_limit(words.call_bounded)
  local ok, result = pcall(fn, ...)
  debug.sethook()
  output.refusal = nil
  return ok, result
end

---The number of runs from which the noise between runs is known.
words.RUNS = 3

-- A quantity is { kind, of, event, text, unit, is_sampled }; see quantities.lua.
local Quantity = { __name = "quantity of a performance spec" }

-- Kinds that are measured by samples of one event.
local SAMPLED <const> = { share = true, children = true, change = true }

local function quantity(kind, unit, text, subject, event)
  return setmetatable({ kind = kind, unit = unit, text = text, of = subject, event = event,
    is_sampled = SAMPLED[kind] }, Quantity)
end

local function check_name(word, name)
  if type(name) ~= "string" or name == "" then
    usage_error("%s: a name expected, got %s", word, suggest.kind(name))
  end
  return name
end

-- Parses a limit of a quantity: "5 %", "2 ms" or a number.
local function parse_limit(limit, unit)
  local number, sign
  if type(limit) == "string" then
    number, sign = limit:match "^%s*(%-?[%d.]+)%s*(%%?)%s*$"
    if unit == "ns" then
      local ns = units.nanoseconds(limit:match "^%s*(.-)%s*$")
      if ns then return ns end
    elseif sign == "%" and unit == "%" and tonumber(number) then
      return tonumber(number)
    end
  elseif math.type(limit) and unit == "" then
    return limit
  end
  local expected = { ["%"] = "a percentage such as \"5 %\"", ns = "a time such as \"2 ms\"",
    [""] = "a number" }
  usage_error("%s expected, got %s", expected[unit], type(limit) == "string"
    and ("'%s'"):format(limit) or suggest.kind(limit))
end

local Expectation, methods = {}, {}

function Expectation.__index(_, name)
  return methods[name] or usage_error("expect(…) has no condition '%s': there are %s", name,
    table.concat(suggest.names(methods), ", "))
end

-- Adds a condition, which is called with a colon.
local function define_condition(name, add)
  methods[name] = function(self, ...)
    if getmetatable(self) ~= Expectation then
      usage_error("expect(…).%s: write a colon, expect(…):%s", name, name)
    end
    return add(self, ...)
  end
end

-- The result of a condition, which a method may extend.
local Condition = {}
Condition.__index = Condition

-- The condition also holds if the function of a change is gone.
function Condition:or_gone()
  if getmetatable(self) ~= Condition then
    usage_error("or_gone: write a colon, as in expect(change \"parse\"):not_slower():or_gone()")
  end
  local condition = self.condition
  if condition.quantity.kind ~= "change" then
    usage_error("or_gone() is expected of change(…), not of %s", condition.quantity.text)
  end
  condition.may_be_gone = true
  condition.text = condition.text .. ", or is gone"
end

-- Adds a condition of the expected quantity to the list of the spec.
local function add_condition(self, condition)
  self.used = true
  condition.quantity = self.quantity
  table.insert(self.list, condition)
  return setmetatable({ condition = condition }, Condition)
end

local function add_limit(self, text, op, limit, may_be_absent)
  return add_condition(self, { op = op, limit = parse_limit(limit, self.quantity.unit),
    may_be_absent = may_be_absent,
    text = ("%s is %s %s"):format(self.quantity.text, text, tostring(limit)) })
end

for _, name in ipairs { "below", "above" } do
  define_condition(name, function(self, limit) return add_limit(self, name, name, limit) end)
end

-- Below a limit, also if no sample of any recording has the function.
define_condition("below_or_absent", function(self, limit)
  local kind = self.quantity.kind
  if kind ~= "share" and kind ~= "children" then
    usage_error("below_or_absent() is expected of share(…) or children(…), not of %s",
      self.quantity.text)
  end
  return add_limit(self, "absent or below", "below", limit, true)
end)

local function check_change(self, word)
  if self.quantity.kind ~= "change" then
    usage_error("%s() is expected of change(…), not of %s", word, self.quantity.text)
  end
end

-- by: a percentage that is tolerated; nil: whatever is no more than noise.
define_condition("not_slower", function(self, by)
  check_change(self, "not_slower")
  if by ~= nil then
    return add_condition(self, { op = "below", limit = parse_limit(by, "%"),
      text = ("%s is not slower by %s"):format(self.quantity.of, by) })
  end
  return add_condition(self, { op = "not_slower",
    text = self.quantity.of .. " is not slower" })
end)

define_condition("faster", function(self)
  check_change(self, "faster")
  return add_condition(self, { op = "faster", text = self.quantity.of .. " is faster" })
end)

local plain = { "assert", "error", "ipairs", "math", "next", "pairs", "pcall", "print",
  "select", "string", "table", "tonumber", "tostring", "type", "utf8" }

local QUANTILES = { p50 = 0.5, p90 = 0.9, p95 = 0.95, p99 = 0.99, p999 = 0.999 }

local function span_text(call)
  if type(call) == "string" then return call end
  if type(call) == "table" and call.open ~= nil and call.close ~= nil then return "spans" end
  usage_error("a call as in \"syscall read\", or { open = …, close = … } expected, got %s",
    suggest.kind(call))
end

-- The functions that make quantities.
local function quantities()
  local env = {}
  function env.share(name, event)
    return quantity("share", "%", "share of " .. check_name("share", name), name, event)
  end
  function env.children(name, event)
    return quantity("children", "%", ("share of %s and its callees"):format(
      check_name("children", name)), name, event)
  end
  function env.change(name, event)
    return quantity("change", "%", "change of " .. check_name("change", name), name, event)
  end
  function env.lost() return quantity("lost", "%", "share of lost samples") end
  function env.samples(event)
    return quantity("samples", "", "number of samples", nil, event)
  end
  function env.number(text, fn)
    if type(fn) ~= "function" then
      usage_error("number: a function of a File expected, got %s", suggest.kind(fn))
    end
    return quantity("number", "", check_name("number", text), fn)
  end
  for name, q in pairs(QUANTILES) do
    env[name] = function(call)
      local made = quantity("quantile", "ns", ("%s of %s"):format(name, span_text(call)), call)
      made.q = q
      return made
    end
  end
  return env
end

-- Copies a table of functions, so that a spec which sets one changes its own only.
local function copy_library(value)
  if type(value) ~= "table" then return value end
  local copy = {}
  for name, member in pairs(value) do copy[name] = member end
  return copy
end

---Makes the environment of a spec.
---@return table env
---@return { conditions: table[], workload: string?, runs: integer?, options: string? } spec
--- what the spec says when it runs
function words.new()
  local env, spec, open = quantities(), { conditions = {} }, {}
  for _, name in ipairs(plain) do env[name] = copy_library(_G[name]) end
  function env.expect(measured)
    if getmetatable(measured) ~= Quantity then
      usage_error("expect: a quantity such as share \"malloc\" expected, got %s",
        suggest.kind(measured))
    end
    local made = setmetatable({ quantity = measured, list = spec.conditions, used = false },
      Expectation)
    open[#open + 1] = made
    return made
  end
  function env.workload(command, options)
    for _, text in ipairs { check_name("workload", command), options } do
      if type(text) ~= "string" then
        usage_error("workload: options of perf record expected, got %s", suggest.kind(text))
      elseif text:find "%c" then
        usage_error "workload: one line without control characters expected"
      end
    end
    spec.workload, spec.options = command, options
  end
  function env.runs(n)
    if math.type(n) ~= "integer" or n < 1 then
      usage_error("runs: a number of runs expected, got %s", suggest.kind(n))
    end
    spec.runs = n
  end
  spec.open = open
  return setmetatable(env, { __index = function(_, name)
    usage_error(suggest.message(("a performance spec has no word '%s'"):format(name), name,
      suggest.names(env)))
  end }), spec
end

---@param spec table of words.run
---@return boolean # true if a change is expected, which needs recordings to compare with
function words.needs_baseline(spec)
  for _, condition in ipairs(spec.conditions) do
    if condition.quantity.kind == "change" then return true end
  end
  return false
end

---Runs a spec.
---@param path string
---@return table? spec, string? message
function words.run(path)
  local env, spec = words.new()
  local chunk, message = loadfile(path, "t", env)
  if not chunk then
    return nil, message:find "^attempt to load" and path .. ": " .. message or message
  end
  local ok, raised = words.call_bounded(chunk)
  if not ok then
    return nil, type(raised) == "string" and raised
      or ("%s: (error object is a %s value)"):format(path, type(raised))
  end
  for _, expectation in ipairs(spec.open) do
    if not expectation.used then
      return nil, ("%s: nothing is expected of %s"):format(path, expectation.quantity.text)
    end
  end
  if #spec.conditions == 0 then return nil, path .. ": the spec expects nothing" end
  return spec
end

return words
