-- The filters of where(): a string (compiled by filter/expr.lua), a function, or { field =
-- value, … }.

local between = require "perflua.recording.between"
local errors = require "perflua.errors"
local events = require "perflua.recording.events"
local expr = require "perflua.filter.expr"
local suggest = require "perflua.errors.suggest"
local usage_error, warning = errors.usage_error, errors.warning

local filter = {}

local accepts = { -- the Lua types a field of each kind can equal
  string = "string", bytes = "string", boolean = "boolean",
  signed = "number", unsigned = "number", address = "number", float = "number",
}

local comparable = { string = true, number = true, boolean = true }

local function check(ref, value)
  local wanted, got = accepts[ref.kind], type(value)
  if ref.kind == "view" then
    usage_error("where: %s is a view; name one of its fields", ref.text)
  elseif wanted and got ~= wanted then
    usage_error("where: %s: a %s expected, got a %s", ref.text, wanted, got)
  elseif not comparable[got] then
    usage_error("where: %s: a number, a string or a boolean expected, got a %s", ref.text, got)
  elseif value ~= value then
    usage_error("where: %s: NaN equals nothing", ref.text)
  end
end

local function members(ref, value)
  local set = {}
  for _, item in ipairs(type(value) == "table" and value or { value }) do
    check(ref, item)
    set[item] = true
  end
  return set
end

local function test(ref, wanted, scope)
  local node = { kind = "boolean", at = 1 }
  if ref.kind == "event" then
    node.op, node.left, node.negated = "event", ref.node, false
    node.set = events.resolve(scope.file.events, wanted)
  else
    node.op, node.left, node.set = "in", ref.node, members(ref, wanted)
  end
  return node
end

-- Every field has the value, or one of the values, given for it.
local function of_table(wanted, scope)
  local all
  for name in pairs(wanted) do
    if type(name) ~= "string" then
      usage_error("where: a table needs fields as keys: { comm = \"gcc\", cpu = { 0, 1 } }")
    end
  end
  for _, name in ipairs(suggest.names(wanted)) do
    local tested = test(scope:ref(name), wanted[name], scope)
    all = all and { op = "and", kind = "boolean", at = 1, left = all, right = tested } or tested
  end
  return expr.filter(all or { op = "const", kind = "boolean", at = 1, value = true })
end

-- A table as the expression that it stands for.
local function spelled(wanted)
  local parts = {}
  for i, name in ipairs(suggest.names(wanted)) do
    local values = {}
    for k, value in ipairs(type(wanted[name]) == "table" and wanted[name]
      or { wanted[name] }) do
      values[k] = type(value) == "string" and ("'%s'"):format(value) or tostring(value)
    end
    parts[i] = ("%s in { %s }"):format(name, table.concat(values, ", "))
  end
  return table.concat(parts, " and ")
end

local always = { ["=="] = "false", ["<"] = "false", ["<="] = "false", [">"] = "true",
  [">="] = "true" }
local mirrored = { ["=="] = "==", ["<"] = ">", ["<="] = ">=", [">"] = "<", [">="] = "<=" }
local negation = { ["true"] = "false", ["false"] = "true" }

local function is_time(node)
  return node.op == "field" and #node.path == 1 and node.path[1] == "time"
end

-- Warns of a time that is compared with a number before the recording began, as seconds are. 0
-- may ask whether there is a time.
local function check_time(node, condition, first)
  local time, const, comparison = node.left, node.right, node.op
  if is_time(const) then time, const, comparison = const, time, mirrored[comparison] end
  if not is_time(time) or const.op ~= "const" or not math.type(const.value)
    or const.value == 0 then
    return
  end
  if const.value >= first then return end
  local answer = always[comparison]
  if node.negated then answer = negation[answer] end
  warning("filter \"%s\": time is in nanoseconds, and the recording begins at %d: the "
    .. "comparison with %s is always %s; "
    .. "between(\"@SECONDS\", …) takes seconds as perf prints them", condition, first,
      const.value, answer)
end

local function check_times(node, condition, first)
  if always[node.op] then check_time(node, condition, first) end
  for _, name in ipairs { "left", "right" } do
    if node[name] then check_times(node[name], condition, first) end
  end
end

local makes = {
  string = function(condition, scope)
    local compiled, message = expr.compile(condition, scope)
    if not compiled then usage_error("%s", message) end
    local first = scope.file and between.known_times(scope.file)
    if first and first > 0 then check_times(compiled.node, condition, first) end
    return compiled, condition
  end,
  ["function"] = function(condition)
    local info = debug.getinfo(condition, "S")
    return { fn = condition }, ("a function (%s:%d)"):format(info.short_src, info.linedefined)
  end,
  table = function(wanted, scope)
    return of_table(wanted, scope), spelled(wanted)
  end,
}

---@param condition string made of windows of time
---@param scope table
---@return perflua.Filter
function filter.of_window(condition, scope)
  local made = assert(expr.compile(condition, scope))
  made.shown, made.is_window = condition, true
  return made
end

---@param condition string|function|table
---@param scope table
---@return perflua.Filter # without refs and node if it is a function: it sees the record;
--- `shown` says what it is
function filter.of(condition, scope)
  local make = makes[type(condition)]
  if not make then
    usage_error("where: a string, a function or a table expected, got a %s", type(condition))
  end
  local made, text = make(condition, scope)
  made.shown = text
  return made
end

return filter
