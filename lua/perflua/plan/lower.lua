-- Checked trees (filter/expr.lua) to plain tables, of which the core makes programs: see src/binding/query.h
-- for their form. What only Lua can answer says so.

local lower = {}

-- As the core has them, with room for what holds several filters together.
local MAX_DEPTH, MAX_NODES, MAX_STEPS = 240, 1 << 16, 8

local binary = {
  ["+"] = "add", ["-"] = "sub", ["*"] = "mul", ["/"] = "div", ["//"] = "idiv", ["%"] = "mod", ["^"] = "pow",
  ["&"] = "band", ["|"] = "bor", ["~"] = "bxor", ["<<"] = "shl", [">>"] = "shr",
  ["and"] = "and", ["or"] = "or", find = "find", starts = "starts", bucket = "bucket",
}
local unary = { ["not"] = "not", neg = "neg", bnot = "bnot" }
local constant = { number = true, string = true, boolean = true }

local function fail(...) error({ why = (...):format(select(2, ...)) }, 0) end

-- What is known of an event by records that are met while others are read.
local late = { unit = true, scale = true }

-- What a member of events is: it does not change while records are read, unless events come late.
local function by_event(ref, file)
  if file.mode == "pipe" then fail("%s: events may come late in a stream", ref.text) end
  if late[ref.path[2]] then fail("%s is read among the records", ref.text) end
  local values = {}
  for i, event in ipairs(file.events) do
    local value = event[ref.path[2]]
    if value ~= nil and not constant[type(value)] then fail("%s is a composite", ref.text) end
    values[i] = value
  end
  return values
end

-- A composite is there or not; as a value only Lua has it.
local function is_composite(ref)
  local path = ref.path
  return ref.kind == "view" or math.type(path[#path]) ~= nil and path[#path - 1] == "inlined"
end

---@class perflua.Lowering
---@field file perflua.File
---@field fields table<string, table> by their text: the core reads what is one table once
local Lowering = {}
Lowering.__index = Lowering

function Lowering:field(ref)
  if not ref.root then fail("%s is a function of Lua", ref.text) end
  local field = self.fields[ref.text]
  if field then return field end
  if #ref.path > MAX_STEPS + 1 then fail("%s has more than %d parts", ref.text, MAX_STEPS) end
  if ref.mixed then fail("%s is a composite in some events", ref.text) end
  field = table.move(ref.path, 2, #ref.path, 2, { ref.root, types = ref.types, kind = ref.checks })
  if ref.root == "event" and #ref.path > 1 then
    field.by_event = by_event(ref, self.file)
  end
  self.fields[ref.text] = field
  return field
end

---@return table # of a field's node, lowered
function Lowering:leaf(node) return { op = "field", kind = node.kind, field = self:field(node.ref) } end

-- For who lowers trees over other things than records, and has to refuse what asks these.
lower.fail = fail
Lowering.under, Lowering.length = function() end, function() end

local visit -- [op](lowering, node) -> table

function Lowering:node(node)
  self.depth, self.nodes = self.depth + 1, self.nodes + 1
  if self.depth > MAX_DEPTH or self.nodes > MAX_NODES then fail("it is too large") end
  local lowered = visit[node.op](self, node)
  self.depth = self.depth - 1
  return lowered
end

local function list_of(set)
  local list = {}
  for value in pairs(set) do list[#list + 1] = value end
  return list
end

visit = {
  const = function(_, node) return { op = "const", kind = node.kind, value = node.value } end,
  field = function(self, node) return self:leaf(node) end,
  ["nil-test"] = function(self, node)
    return { op = "present", kind = "boolean", negated = not node.present, left = self:node(node.left) }
  end,
  compare = function(self, node)
    return { op = node.comparison, kind = "boolean", negated = node.negated,
      left = self:node(node.left), right = self:node(node.right) }
  end,
  event = function(self, node)
    local of = self:node(node.field)
    return { op = "event_in", kind = "boolean", negated = node.negated, left = of, events = node.set }
  end,
  ["in"] = function(self, node)
    return { op = "in", kind = "boolean", negated = node.negated, left = self:node(node.left), set = list_of(node.set) }
  end,
  under = function(self, node)
    self:under()
    return { op = "under", kind = "boolean", right = { op = "const", kind = "string", value = node.value } }
  end,
}
for spelling, op in pairs(binary) do
  visit[spelling] = function(self, node)
    return { op = op, kind = node.kind, left = self:node(node.left), right = self:node(node.right) }
  end
end
visit.count = function(self, node)
  self:length(node)
  return { op = "count", kind = node.kind, left = self:node(node.left) }
end
for spelling, op in pairs(unary) do
  visit[spelling] = function(self, node) return { op = op, kind = node.kind, left = self:node(node.left) } end
end

-- nil and why not, if it cannot be lowered.
local function tried(self, fn, ...)
  self.depth, self.nodes = 0, 0
  local ok, result = pcall(fn, ...)
  if ok then return result end
  if type(result) ~= "table" then error(result, 0) end
  return nil, result.why
end

---@param file perflua.File
---@return perflua.Lowering # for the trees of one query
function lower.of(file) return setmetatable({ file = file, fields = {} }, Lowering) end

---A condition.
---@param node table?
---@return table?, string? why
function Lowering:condition(node)
  if not node then return nil, "a function of Lua" end
  return tried(self, self.node, self, node)
end

---A value: of a key, of a measure, of a column.
---@param ref table
---@return table?, string? why
function Lowering:value(ref)
  if not ref.node then return nil, ("%s is a function of Lua"):format(ref.text) end
  if ref.root and is_composite(ref) then return nil, ("%s is a composite"):format(ref.text) end
  local tree, why = tried(self, self.node, self, ref.node)
  if tree and tree.op == "const" then tree.kind = ref.kind end -- which alone is not what it would be beside another
  return tree, why
end

local function all(list, from, to)
  if from == to then return list[from] end
  local middle = (from + to) // 2
  return { op = "and", kind = "boolean", left = all(list, from, middle), right = all(list, middle + 1, to) }
end

---All of them, as a tree of few levels.
---@param conditions table[] lowered ones
---@return table? # nil: there are none
function lower.all(conditions) return #conditions > 0 and all(conditions, 1, #conditions) or nil end

lower.class = Lowering -- for trees over other things than records

return lower
