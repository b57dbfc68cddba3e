-- Tokens to a tree, with the precedence of Lua's own expressions.
--
-- Nodes: { op = "const", value, kind }, { op = "field", path, text }, { op = <operator>, left,
-- right }, { op = "and" | "or", parts }, { op = "not" | "neg" | "bnot" | "count", left }, { op
-- = "in", left, items }, { op = "call", name, args }. Every node has `at`, the column of its
-- first token or operator, and `height`: a row of and's is one node, so that only what is
-- nested is high.

local units = require "perflua.text.units"
local lexer = require "perflua.filter.lexer"
local fail = lexer.fail

local parser = {}

-- Left and right binding powers, as in Lua's own grammar; ^ binds to the right, `in` as
-- comparisons do.
local binary = {
  ["or"] = { 1, 1 }, ["and"] = { 2, 2 },
  ["<"] = { 3, 3 }, [">"] = { 3, 3 }, ["<="] = { 3, 3 }, [">="] = { 3, 3 }, ["~="] = { 3, 3 },
  ["=="] = { 3, 3 }, ["in"] = { 3, 3 },
  ["|"] = { 4, 4 }, ["~"] = { 5, 5 }, ["&"] = { 6, 6 }, ["<<"] = { 7, 7 }, [">>"] = { 7, 7 },
  ["+"] = { 10, 10 }, ["-"] = { 10, 10 },
  ["*"] = { 11, 11 }, ["/"] = { 11, 11 }, ["//"] = { 11, 11 }, ["%"] = { 11, 11 },
  ["^"] = { 14, 13 },
}
local unary = { ["not"] = "not", ["-"] = "neg", ["~"] = "bnot", ["#"] = "count" }
local UNARY_POWER = 12
local MAX_DEPTH = 200
local MAX_NODES = 50000 -- members of `in { … }` are not counted

local constants = {
  ["nil"] = { kind = "nil" },
  ["true"] = { kind = "boolean", value = true },
  ["false"] = { kind = "boolean", value = false },
}

local Parser = {}
Parser.__index = Parser

function Parser:peek() return self.tokens[self.pos] end

function Parser:take()
  local token = self.tokens[self.pos]
  self.pos = self.pos + 1
  return token
end

function Parser:expect(kind, opened)
  local token = self:take()
  if token.kind ~= kind then
    fail(token.at, "'%s' expected to close the '%s' at column %d", kind, opened.kind, opened.at)
  end
end

local function too_deep(at) fail(at, "nested deeper than %d levels", MAX_DEPTH) end

local function height_of(parts)
  local height = 0
  for _, part in ipairs(parts) do height = math.max(height, part.height or 0) end
  return height
end

-- The node, of a height that is its own above those of its parts.
local function raised(node, height)
  if height > MAX_DEPTH then too_deep(node.at) end
  node.height = height
  return node
end

-- root { "." word | "[" integer "]" }
function Parser:path()
  local root = self:take()
  if root.kind ~= "name" then
    fail(root.at, "a field's name expected, found '%s'", root.value)
  end
  local path = { root.value }
  while true do
    local token = self:peek()
    if token.kind == "." then
      self:take()
      local word = self:take()
      if not word.word then fail(word.at, "a name expected after '.'") end
      path[#path + 1] = word.value
    elseif token.kind == "[" then
      self:take()
      local index = self:take()
      if index.kind ~= "number" or index.number ~= "natural" or index.value == 0 then
        fail(index.at, "a position (1, 2, …) expected between brackets")
      end
      path[#path + 1] = index.value
      self:expect("]", token)
    else
      return { op = "field", path = path, at = root.at, text = parser.spell(path) }
    end
  end
end

-- Expressions between commas; what closes them is taken, too. A list may end in a comma,
-- arguments may not.
function Parser:list(opened, close, may_trail)
  local items, nodes = {}, self.nodes
  if self:peek().kind ~= close then
    repeat
      items[#items + 1] = self:expression(0)
      if may_trail then self.nodes = nodes end
      local comma = self:peek().kind == ","
      if comma then self:take() end
    until not comma or may_trail and self:peek().kind == close
  end
  self:expect(close, opened)
  return items
end

-- One more operand or operator.
function Parser:count(at)
  self.nodes = self.nodes + 1
  if self.nodes > MAX_NODES then fail(at, "more than %d operands and operators", MAX_NODES) end
end

function Parser:call(name)
  local args = self:list(self:take(), ")", false)
  return raised({ op = "call", name = name.path[1], args = args, at = name.at },
    height_of(args) + 1)
end

-- ['a/b']: a name that is not a word, as columns of a Table may have.
function Parser:quoted_name(opened)
  local name = self:take()
  if name.kind ~= "string" then
    fail(name.at, "a name in quotes expected between brackets, as in ['a/b']")
  end
  self:expect("]", opened)
  return { op = "field", path = { name.value }, at = opened.at, text = name.value }
end

-- Says how what stands there is written.
local function fail_spelling(token, instead)
  error({ at = token.at, is_spelling = true,
    message = ("'%s' is not expected here; write %s"):format(token.value, instead) }, 0)
end

-- 5 ms: a length of time is one word.
function Parser:check_unit(number)
  local unit = self:peek()
  if unit.kind == "name" and units.is_time(unit.value) then
    fail_spelling(unit, ("%s%s"):format(number.value, unit.value))
  end
end

function Parser:operand()
  local token = self:peek()
  self:count(token.at)
  if token.kind == "name" then
    local node = self:path()
    if self:peek().kind ~= "(" then return node end
    if #node.path > 1 then fail(self:peek().at, "a filter cannot call functions of Lua") end
    return self:call(node)
  end
  self:take()
  if token.kind == "number" then
    self:check_unit(token)
    return { op = "const", value = token.value, kind = token.number, at = token.at,
      is_time = token.is_time }
  elseif token.kind == "string" then
    return { op = "const", value = token.value, kind = "string", at = token.at }
  elseif constants[token.kind] then
    local constant = constants[token.kind]
    return { op = "const", value = constant.value, kind = constant.kind, at = token.at }
  elseif token.kind == "(" then
    local node = self:expression(0)
    self:expect(")", token)
    return node
  elseif token.kind == "[" then
    return self:quoted_name(token)
  end
  return fail(token.at, "a field, a number, a string or '(' expected, found '%s'", token.value)
end

function Parser:members(left, operator)
  local opened = self:take()
  if opened.kind ~= "{" then
    fail(opened.at, "a list expected after 'in': { 1, 2 } or { 'a', 'b' }")
  end
  local items = self:list(opened, "}", true)
  local height = math.max(height_of { left }, height_of(items)) + 1
  return raised({ op = "in", left = left, items = items, at = operator.at }, height)
end

-- a and b and c: one node, for which a tree of few levels is as good.
local function joined(left, right, operator)
  local parts = left.op == operator.kind and left.parts
    or { left, highest = height_of { left } }
  parts[#parts + 1], parts.highest = right, math.max(parts.highest, height_of { right })
  local levels = 1
  while 1 << levels < #parts do levels = levels + 1 end
  return raised({ op = operator.kind, parts = parts, at = operator.at }, parts.highest + levels)
end

function Parser:binary(left, operator)
  self:count(operator.at)
  if operator.kind == "in" then return self:members(left, operator) end
  local right = self:expression(binary[operator.kind][2])
  if operator.kind == "and" or operator.kind == "or" then
    return joined(left, right, operator)
  end
  return raised({ op = operator.kind, left = left, right = right, at = operator.at },
    height_of { left, right } + 1)
end

function Parser:expression(limit)
  self.depth = self.depth + 1
  if self.depth > MAX_DEPTH then too_deep(self:peek().at) end
  local token = self:peek()
  local left
  if unary[token.kind] then
    self:count(token.at)
    self:take()
    local operand = self:expression(UNARY_POWER)
    left = raised({ op = unary[token.kind], left = operand, at = token.at },
      height_of { operand } + 1)
  else
    left = self:operand()
  end
  local operator = self:peek()
  while binary[operator.kind] and binary[operator.kind][1] > limit do
    left = self:binary(left, self:take())
    operator = self:peek()
  end
  self.depth = self.depth - 1
  return left
end

---@param path (string|integer)[]
---@return string # as it is written: callchain[1].ip
function parser.spell(path)
  local parts = { path[1] }
  for i = 2, #path do
    parts[i] = math.type(path[i]) and ("[%d]"):format(path[i]) or "." .. path[i]
  end
  return table.concat(parts)
end

-- Words of other languages between two operands, and what is written here.
local instead_of = {
  like = "glob(f, 'text*')", contains = "find(f, 'text')", matches = "match(f, 'pattern')",
  startswith = "starts(f, 'text')", ["if"] = "and, or",
}

---@param text string
---@return table node # raises { at, message }
function parser.expression(text)
  local self = setmetatable({ tokens = lexer.tokens(text), pos = 1, depth = 0, nodes = 0 },
    Parser)
  local node = self:expression(0)
  local rest = self:peek()
  if rest.kind ~= "end" then
    local hint = rest.kind == "not" and "not (f in { … })" or instead_of[rest.value]
    if hint then fail_spelling(rest, hint) end
    fail(rest.at, "'%s' is not expected here", rest.value)
  end
  return node
end

return parser
