-- The fields of rows that are items of records: those of the item after a prefix
-- ("frame.symbol"), and the record's.
--
-- A Ref of an item has `view` and `item`, the name of its member; the core alone reads it.
-- There is neither root nor get.

local core = require "perflua.core"
local fields = require "perflua.fields"
local members = require "perflua.fields.members"

local items = {}

local frame = {
  ip = "address", address = "address", symbol = "string", symoff = "unsigned", dso = "string",
  srcline = "string", kind = "string", inlined = "boolean",
}
local branch = {
  symbol_from = "string", symbol_to = "string", dso_from = "string", dso_to = "string",
  srcline_from = "string", srcline_to = "string", address_from = "address",
  address_to = "address", kind_from = "string", kind_to = "string",
  symoff_from = "unsigned", symoff_to = "unsigned", symoff_block = "unsigned",
  srcline_block = "string",
}
local register = { name = "string", value = "address" }

-- By view: the prefix of its items, their members beside `index`, and whether the view's own
-- are among them.
local views = {
  callchain = { prefix = "frame", members = frame },
  branch_stack = { prefix = "branch", members = branch, has_own = true },
  read = { prefix = "counter", members = {}, has_own = true },
  regs_user = { prefix = "reg", members = register },
  regs_intr = { prefix = "reg", members = register },
}

---@return string[] # the views whose items can be rows
function items.views()
  local names = {}
  for name in pairs(views) do names[#names + 1] = name end
  table.sort(names)
  return names
end

---@param view string
---@return string? # what stands before the members of its items, if nothing else is said; nil:
--- its items are not rows
function items.prefix(view) return views[view] and views[view].prefix end

local function kinds_of(view)
  local kinds = { index = "unsigned" }
  for _, member in ipairs(views[view].has_own and core.views()[view].items or {}) do
    kinds[member.name] = member.kind
  end
  for name, kind in pairs(views[view].members) do kinds[name] = kind end
  return kinds
end

local Scope = setmetatable({}, { __index = fields.class })
Scope.__index = Scope

---@param scope table of records, or of spans
---@param view string
---@param prefix string
---@return table # the scope of their items
function items.scope(scope, view, prefix)
  local inside = setmetatable({ outer = scope, view = view, prefix = prefix,
    kinds = kinds_of(view) }, Scope)
  for name, value in pairs(scope) do inside[name] = value end
  inside.members = {} -- their Refs by name, each of which is one
  return inside
end

function Scope:resolve(path, text)
  if path[1] ~= self.prefix then return self.outer:resolve(path, text) end
  local name = path[2]
  if not name then
    local message = "'%s' is an item of %s; name a member of it: '%s.index'"
    return nil, message:format(text, self.view, text)
  end
  local kind = self.kinds[name]
  if not kind or path[3] then return members.unknown(text, name, self.kinds) end
  local ref = self.members[name] or { text = text, kind = kind, path = path, plain = false,
    view = self.view, item = name }
  ref.node = { op = "field", kind = kind, ref = ref, path = path, text = text }
  self.members[name] = ref
  return ref
end

---@param node table a checked tree
---@return boolean # true if it reads a member of items
function Scope:reads_items(node)
  if node.ref and node.ref.item then return true end
  for _, part in ipairs { "left", "right" } do
    if node[part] and self:reads_items(node[part]) then return true end
  end
  return false
end

return items
