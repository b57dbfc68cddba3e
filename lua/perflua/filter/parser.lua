-- Tokens to a tree, with the precedence of Lua's own expressions.
--
-- Nodes: { op = "const", value, kind }, { op = "field", path, text }, { op = <operator>, left, right },
-- { op = "not" | "neg" | "bnot", left }. Every node has `at`, the column of its first token or operator.

local lexer = require "perflua.filter.lexer"
local fail = lexer.fail

local parser = {}

-- Left and right binding powers, as in Lua's own grammar; ^ binds to the right.
local binary = {
  ["or"] = { 1, 1 }, ["and"] = { 2, 2 },
  ["<"] = { 3, 3 }, [">"] = { 3, 3 }, ["<="] = { 3, 3 }, [">="] = { 3, 3 }, ["~="] = { 3, 3 },
  ["=="] = { 3, 3 },
  ["|"] = { 4, 4 }, ["~"] = { 5, 5 }, ["&"] = { 6, 6 }, ["<<"] = { 7, 7 }, [">>"] = { 7, 7 },
  ["+"] = { 10, 10 }, ["-"] = { 10, 10 },
  ["*"] = { 11, 11 }, ["/"] = { 11, 11 }, ["//"] = { 11, 11 }, ["%"] = { 11, 11 },
  ["^"] = { 14, 13 },
}
local unary = { ["not"] = "not", ["-"] = "neg", ["~"] = "bnot" }
local UNARY_POWER = 12
local MAX_DEPTH = 200

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

-- root { "." word | "[" integer "]" }
function Parser:path()
  local root = self:take()
  if root.kind ~= "name" then fail(root.at, "a field's name expected, found '%s'", root.value) end
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

function Parser:operand()
  local token = self:peek()
  if token.kind == "name" then
    local node = self:path()
    if self:peek().kind == "(" then fail(self:peek().at, "a filter cannot call functions") end
    return node
  end
  self:take()
  if token.kind == "number" then
    return { op = "const", value = token.value, kind = token.number, at = token.at }
  elseif token.kind == "string" then
    return { op = "const", value = token.value, kind = "string", at = token.at }
  elseif constants[token.kind] then
    local constant = constants[token.kind]
    return { op = "const", value = constant.value, kind = constant.kind, at = token.at }
  elseif token.kind == "(" then
    local node = self:expression(0)
    self:expect(")", token)
    return node
  end
  return fail(token.at, "a field, a number, a string or '(' expected, found '%s'", token.value)
end

function Parser:expression(limit)
  self.depth = self.depth + 1
  if self.depth > MAX_DEPTH then fail(self:peek().at, "nested deeper than %d levels", MAX_DEPTH) end
  local token = self:peek()
  local left
  if unary[token.kind] then
    self:take()
    left = { op = unary[token.kind], left = self:expression(UNARY_POWER), at = token.at }
  else
    left = self:operand()
  end
  local operator = self:peek()
  while binary[operator.kind] and binary[operator.kind][1] > limit do
    self:take()
    local right = self:expression(binary[operator.kind][2])
    left = { op = operator.kind, left = left, right = right, at = operator.at }
    operator = self:peek()
  end
  self.depth = self.depth - 1
  return left
end

local function parse(text, rule, ...)
  local self = setmetatable({ tokens = lexer.tokens(text), pos = 1, depth = 0 }, Parser)
  local node = rule(self, ...)
  local rest = self:peek()
  if rest.kind ~= "end" then
    fail(rest.at, "'%s' is not expected here", rest.value)
  end
  return node
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

---@param text string
---@return table node # raises { at, message }
function parser.expression(text) return parse(text, Parser.expression, 0) end

---@param text string
---@return table node # of op "field"; raises { at, message }
function parser.field(text) return parse(text, Parser.path) end

return parser
