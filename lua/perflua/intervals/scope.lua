-- The fields of spans: their own, those of the record that opened one ("open.comm", or "comm")
-- and of the record that closed it ("close.comm").
--
-- A Ref of it (fields/init.lua) says in `span` where its value comes from: { own = "duration"
-- }, { key = 2 }, or { side = "open", ref = the record's Ref }. The pass over the spans reads
-- it; there is no get.

local fields = require "perflua.fields"
local members = require "perflua.fields.members"
local parser = require "perflua.filter.parser"

local scope = {}

local own = { start = "unsigned", stop = "unsigned", duration = "signed" }

-- The kinds of fields that spans have only if an option of pair() asks for them.
local asked = {
  so_far = { kind = "signed", option = "unfinished", shown = "unfinished = true" },
  cut = { kind = "boolean", option = "cuts", shown = "slice = …, window = …" },
}


local Scope = setmetatable({}, { __index = fields.class })
Scope.__index = Scope

---@param pairing table
---@return table scope
function scope.of(pairing)
  return setmetatable({ pairing = pairing, file = pairing.file, event_set = pairing.events },
    Scope)
end

local function made(text, kind, path, span)
  local ref = { text = text, kind = kind, path = path, plain = false, span = span }
  ref.node = { op = "field", kind = kind, ref = ref, path = path, text = text }
  return ref
end

function Scope:key(path, text)
  local keys = self.pairing.close.keys
  local i = path[2] or #keys == 1 and 1
  if #keys == 0 then return nil, ("'%s': the spans have no key"):format(text) end
  if #path > 2 or not math.type(i) or not keys[i] then
    return nil, ("'%s' is beyond the spans' key, whose length is %d"):format(text, #keys)
  end
  return made(text, self.pairing.key_kinds[i], path, { key = i })
end

-- The time that a span spent in a state.
function Scope:state(state, path, text)
  local known = {}
  for i, name in ipairs(self.pairing.states) do
    if name == state then
      return made(text, "signed", path, { own = "in_state", number = i })
    end
    known[i] = "in_" .. name
  end
  return nil, ("'%s': no such state; there are %s"):format(text, table.concat(known, ", "))
end

-- The message about a name that neither spans nor records have.
function Scope:unknown(path, text, message)
  if #path > 1 then return nil, message end
  local kinds = { open = "view", close = "view", key = "any" }
  for name, kind in pairs(own) do kinds[name] = kind end
  for name, one in pairs(self.pairing.open.scope:known()) do kinds[name] = one.kind end
  return members.unknown(text, path[1], kinds)
end

function Scope:of_side(side, path, text)
  local ref, message = self.pairing[side].scope:resolve(path, parser.spell(path))
  if not ref then return nil, message end
  return made(text, ref.kind, path, { side = side, ref = ref })
end

function Scope:resolve(path, text)
  local name = path[1]
  if own[name] and #path == 1 then return made(text, own[name], path, { own = name }) end
  if asked[name] and #path == 1 then
    if not self.pairing[asked[name].option] then
      return nil, ("'%s': only spans of pair { %s } have it"):format(text, asked[name].shown)
    end
    return made(text, asked[name].kind, path, { own = name })
  end
  if name == "state" and #path == 1 and self.pairing.states then
    local ref = made(text, "string", path, { own = name })
    ref.words = self.pairing.states
    return ref
  end
  local state = #path == 1 and self.pairing.states and type(name) == "string"
    and name:match "^in_(.+)"
  if state then return self:state(state, path, text) end
  if name == "key" then return self:key(path, text) end
  if name == "open" or name == "close" then
    if not path[2] then
      return nil, ("'%s' is a record; name a field of it: '%s.comm'"):format(text, text)
    end
    return self:of_side(name, table.move(path, 2, #path, 1, {}), text)
  end
  local ref, message = self:of_side("open", path, text)
  if ref then return ref end
  return self:unknown(path, text, message)
end

local Answering = setmetatable({}, { __index = fields.class })
Answering.__index = Answering

--- The fields of records that close spans: their own, and as "open.comm" those of the record
--- that opened the span.
---@param records table the records' scope
---@param opening table that of the records that open spans
---@return table scope
function scope.answering(records, opening)
  return setmetatable({ records = records, opening = opening, file = records.file,
    event_set = records.event_set }, Answering)
end

function Answering:resolve(path, text)
  if path[1] ~= "open" then return self.records:resolve(path, text) end
  if not path[2] then
    return nil, "'open' is a record; name a field of it: 'open.comm'"
  end
  local of_record = table.move(path, 2, #path, 1, {})
  local ref, message = self.opening:resolve(of_record, parser.spell(of_record))
  if not ref then return nil, message end
  return made(text, ref.kind, path, { side = "open", ref = ref })
end

local Inner = setmetatable({}, { __index = fields.class })
Inner.__index = Inner

--- The fields of records inside of spans: their own, and those of the span: "span.duration",
--- "span.open.comm".
---@param records table the records' scope
---@param spans table the spans'
---@return table scope
function scope.inner(records, spans)
  return setmetatable({ records = records, spans = spans, file = records.file,
    event_set = records.event_set }, Inner)
end

function Inner:resolve(path, text)
  if path[1] ~= "span" then return self.records:resolve(path, text) end
  if not path[2] then
    return nil, "'span' is one itself; name a field of it: 'span.duration'"
  end
  local ref, message = self.spans:resolve(table.move(path, 2, #path, 1, {}), text)
  if ref then ref.around = true end
  return ref, message
end

return scope
