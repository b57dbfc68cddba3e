-- The functions of expressions, `#` and `in`: what each takes, and the node it becomes.

local core = require "perflua.core"
local arith = require "perflua.filter.arith"
local units = require "perflua.text.units"
local events = require "perflua.recording.events"
local kinds = require "perflua.filter.kinds"

local calls = {}

local fail = require("perflua.filter.lexer").fail

local function text_argument(node, name)
  if not kinds.is_text[node.kind] then
    fail(node.at, "'%s' expects strings, found %s", name, kinds.called(node))
  end
end

local function text_test(node, left, right)
  text_argument(left, node.op)
  text_argument(right, node.op)
  node.left, node.right, node.kind = left, right, "boolean"
end

-- A test with a constant pattern.
local function pattern_test(node, left, right)
  text_argument(left, node.op)
  local is_glob = node.op == "glob"
  if right.op ~= "const" or right.kind ~= "string" then
    fail(right.at, "'%s' expects a %s in quotes", node.op, is_glob and "glob" or "pattern")
  end
  local matches, message = core.pattern(right.value, is_glob)
  if not matches then fail(right.at, "malformed pattern '%s': %s", right.value, message) end
  node.left, node.right, node.kind = left, right, "boolean"
end

local function lower(node, text)
  text_argument(text, "lower")
  if text.op == "const" then
    node.op, node.value, node.kind = "const", text.value:lower(), "string"
  else
    node.left, node.kind = text, "string"
  end
end

-- Reads what the scope has of the two: node.chain and node.symbol, Refs.
local function under(node, name, _, scope)
  if name.op ~= "const" or name.kind ~= "string" then
    fail(name.at, "'under' expects the name of a function in quotes")
  end
  local message
  node.chain = scope:resolve({ "callchain" }, "callchain")
  node.symbol, message = scope:resolve({ "symbol" }, "symbol")
  if not (node.chain or node.symbol) then fail(node.at, "%s", message) end
  if scope.is_table then fail(node.at, "'under' is not for columns of a table") end
  node.right, node.kind = name, "boolean"
end

local pieces = { line = 64, page = 4096 } -- of memory, in bytes

-- The width of a bucket that a text stands for.
local function named_width(node, kind)
  local text = node.value
  local time = units.nanoseconds(text)
  if not time and not pieces[text] then
    fail(node.at,
      "unknown width '%s' of a bucket; expected an integer, a time ('10ms', '1s'), 'line' or "
        .. "'page'", text)
  elseif time and kind == "address" then
    fail(node.at,
      "'%s' is a time, but the bucket is of addresses; expected a number of bytes, 'line' or "
        .. "'page'", text)
  elseif not time and kind ~= "address" and kind ~= "any" then
    fail(node.at, "'%s' is a width for addresses; expected an integer or a time ('10ms')", text)
  end
  return time or pieces[text]
end

local function width_of(node, kind)
  local width
  if node.op == "const" and node.kind == "string" then
    width = named_width(node, kind)
  elseif node.op == "const" and (node.kind == "natural" or node.kind == "float") then
    width = math.tointeger(node.value)
  end
  if not width or width < 1 then
    fail(node.at,
      "the width of a bucket must be a constant: an integer above 0, or a text such as '10ms'")
  end
  return width
end

local function bucket(node, value, width)
  local kind = value.kind
  if not arith.is_number[kind] or kind == "float" then
    fail(value.at, "'bucket' expects an integer, found %s", kinds.called(value))
  end
  local constant = { op = "const", at = width.at, kind = "natural",
    value = width_of(width, kind) }
  node.left, node.right = value, constant
  node.kind, node.fn = arith.bucket(kind)
end

-- By name; text: the argument that is meant as a text if it is not a field.
local functions = {
  bucket = { make = bucket, n = 2, usage = "bucket(time, '10ms')" },
  find = { make = text_test, n = 2, text = 2, usage = "find(comm, 'text')" },
  starts = { make = text_test, n = 2, text = 2, usage = "starts(comm, 'text')" },
  glob = { make = pattern_test, n = 2, text = 2, usage = "glob(comm, 'text*')" },
  match = { make = pattern_test, n = 2, text = 2, usage = "match(comm, '^%a+$')" },
  lower = { make = lower, n = 1, usage = "lower(comm)" },
  under = { make = under, n = 1, text = 1, usage = "under('symbol')" },
}

local NAMES = "bucket, find, glob, lower, match, starts and under"

-- Functions of Lua's own, by what says the same here.
local function unknown(node)
  local message = ("unknown function '%s'; the functions are %s"):format(node.name,
    NAMES)
  error({ at = node.at, message = message, beyond = true }, 0)
end

---Raises for a word that is not a field where a text is expected: comm == wrk.
---@param node table that was not visited
---@param scope table
function calls.check_word(node, scope)
  if node.op == "field" and #node.path == 1 and not scope:resolve(node.path, node.text) then
    fail(node.at, "unknown field '%s'; a text needs quotes: '%s'", node.text, node.text)
  end
end

---@param node table of op "call", with a function's name; its arguments were not visited
---@param scope table
---@param visit fun(node: table, scope: table): table
function calls.call(node, scope, visit)
  local name, args = node.name, node.args
  local described = functions[name]
  if not described then unknown(node) end
  if #args ~= described.n then
    fail(node.at, "'%s' takes %s, as in %s", name, described.n == 1 and "one argument"
      or "two arguments", described.usage)
  end
  if described.text then calls.check_word(args[described.text], scope) end
  for _, arg in ipairs(args) do visit(arg, scope) end
  node.op, node.name, node.args = name, nil, nil
  described.make(node, args[1], args[2], scope)
end

---@param node table of op "count"
function calls.count(node, scope, visit)
  local operand = visit(node.left, scope)
  if operand.op ~= "field" then
    fail(operand.at,
      "'#' expects a field: it counts the items of a view, or the bytes of a string")
  elseif operand.kind ~= "view" and not kinds.is_text[operand.kind] then
    fail(operand.at, "'#' counts the items of a view or the bytes of a string, found %s",
      kinds.called(operand))
  elseif operand.kind == "view" and math.type(operand.path[#operand.path]) then
    fail(operand.at, "'#' counts the items of a view, but %s is a single item", operand.text)
  end
  node.kind, operand.tested = "unsigned", true
  -- a cell has no items: a text has bytes, also where it may be something else
  if scope.is_table then node.left = { op = "lower", kind = "string", left = operand } end
end

-- The keys under which values of a kind are found in a table, if they equal the constant.
local function add_keys(set, kind, item)
  for _, key in ipairs(arith.readings(kind, item.value)) do
    if arith.equal(key, kind, item.value, item.kind) then set[key] = true end
  end
end

local function one_event(node, field, scope)
  local set = {}
  for _, item in ipairs(node.items) do
    if item.op ~= "const" or item.kind ~= "string" then
      fail(item.at, "expected the name of an event in quotes")
    end
    for index in pairs(events.resolve(scope.file.events, item.value)) do set[index] = true end
  end
  node.op, node.left, node.set, node.negated, node.items = "event", field, set, false, nil
end

local function check_items(node, left)
  local first = left.kind ~= "any" and left or node.items[1]
  for _, item in ipairs(node.items) do
    if item.op ~= "const" then fail(item.at, "a list after 'in' can only contain constants") end
    if item.kind == "nil" then fail(item.at, "a list cannot contain nil; use == nil") end
    if kinds.family(item.kind) ~= kinds.family(first.kind) then
      fail(item.at, "cannot compare %s with %s", kinds.called(first), kinds.called(item))
    end
  end
end

-- An integer that only the record tells is found by its bits; a float could be taken for it.
local function check_any(node, left)
  if left.kind ~= "any" or left.op == "field" then return end
  for _, item in ipairs(node.items) do
    if item.kind == "unsigned" or item.kind == "bits" then
      fail(item.at,
        "a list cannot contain a constant above 2^63-1 if the type of the left side is not "
          .. "known; use ==")
    end
  end
end

---@param node table of op "in": left, items
function calls.within(node, scope, visit)
  local left = visit(node.left, scope)
  for _, item in ipairs(node.items) do visit(item, scope) end
  node.kind = "boolean"
  if #node.items == 0 then fail(node.at, "the list after 'in' is empty") end
  if left.kind == "event" then return one_event(node, left, scope) end
  if left.kind == "view" then
    fail(left.at, "%s is a view, which no list can contain; name one of its fields", left.text)
  elseif left.kind == "nil" then
    fail(left.at, "a list cannot contain nil")
  end
  check_items(node, left)
  check_any(node, left)
  local set = {}
  for _, item in ipairs(node.items) do
    if kinds.family(item.kind) == "number" then
      add_keys(set, left.kind, item)
    else
      set[item.value] = true
    end
  end
  node.set, node.items = set, nil
end

return calls
