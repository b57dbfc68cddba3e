-- What a pass reads of the records: columns of values, each once.

local columns = {}

-- Kinds of which false is a value: whether it is there needs a column of its own.
local telling = { boolean = true, any = true }

local Columns = {}
Columns.__index = Columns

---@param scope table of the records of the pass
---@return table
function columns.of(scope) return setmetatable({ scope = scope, refs = {}, places = {}, presence = {} }, Columns) end

---@param ref table to be read of every record
---@return integer # its place
function Columns:push(ref)
  self.refs[#self.refs + 1] = ref
  return #self.refs
end

-- A field or an expression, as the records of one side have it; a function is read once, too.
---@param ref table
---@return integer # its place
function Columns:add(ref)
  local name = ref.node and ref.text or ref
  local place = self.places[name]
  if place then return place end
  local read = ref
  if ref.node then read = ref.path and self.scope:resolve(ref.path, ref.text) or self.scope:ref(ref.text) end
  place = self:push(read)
  self.places[name] = place
  if telling[ref.kind] and ref.node and ref.root ~= "args" then
    local get = read.get
    self.presence[place] = self:push {
      text = ref.text .. " ~= nil", kind = "boolean", plain = false,
      node = { op = "nil-test", kind = "boolean", at = 1, left = read.node, present = true },
      get = function(record) return get(record) ~= nil end,
    }
  end
  return place
end

---@param place integer
---@return boolean # is what is absent there ABSENT? Else it is false
function Columns:tells(place) return self.presence[place] ~= nil end

return columns
