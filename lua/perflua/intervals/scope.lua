-- The fields of spans: their own, those of the record that opened one ("open.comm", or "comm")
-- and of those that closed it ("close.comm"), or changed its state ("at_woken.comm").
--
-- A Ref of it (fields/init.lua) says in `span` where its value comes from: { own = "duration"
-- }, { key = 2 }, or { side = "open", ref = the record's Ref }; of the record with which the
-- span entered a state { side = "open", state = its number, ref }. The pass over the spans
-- reads it; there is no get.

local fields = require "perflua.fields"
local members = require "perflua.fields.members"
local parser = require "perflua.filter.parser"
local states = require "perflua.intervals.states"

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

-- Resolves a field of a record, of which `text` names the rest.
local function of_record(records, path, text, span)
  if not path[2] then
    return nil, ("'%s' is a record; name a field of it: '%s.comm'"):format(text, text)
  end
  local rest = table.move(path, 2, #path, 1, {})
  local ref, message = records:resolve(rest, parser.spell(rest))
  if not ref then return nil, message end
  span.ref = ref
  return made(text, ref.kind, path, span)
end

-- Resolves what begins with the name of a state: the time that a span spent in it, or a field
-- of the record with which it entered it. Returns false if the name is not of this form.
local function of_state(names, entered, path, text)
  local number = #path == 1 and states.named(names, "in_", path[1])
  if number == 0 then return nil, states.unknown(names, "in_", text) end
  if number then return made(text, "signed", path, { own = "in_state", number = number }) end
  number = states.named(names, "at_", path[1])
  if number == 0 then return nil, states.unknown(names, "at_", text) end
  if not number then return false end
  return of_record(entered[number].scope, path, text, { side = "open", state = number })
end

-- The message about a name that neither spans nor records have.
function Scope:unknown(path, text, message)
  if #path > 1 then return nil, message end
  local kinds = { open = "view", close = "view", key = "any" }
  for name, kind in pairs(own) do kinds[name] = kind end
  for name, field in pairs(self.pairing.open.scope:known()) do kinds[name] = field.kind end
  return members.unknown(text, path[1], kinds)
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
  local ref, message = false, nil
  if self.pairing.states then
    ref, message = of_state(self.pairing.states, self.pairing.entered, path, text)
  end
  if ref ~= false then return ref, message end
  if name == "key" then return self:key(path, text) end
  if name == "open" or name == "close" then
    return of_record(self.pairing[name].scope, path, text, { side = name })
  end
  ref, message = self.pairing.open.scope:resolve(path, parser.spell(path))
  if not ref then return self:unknown(path, text, message) end
  return made(text, ref.kind, path, { side = "open", ref = ref })
end

local Answering = setmetatable({}, { __index = fields.class })
Answering.__index = Answering

--- The fields of records that close or change spans: their own, and those of the records that
--- opened the span ("open.comm") or changed its state ("at_woken.comm").
---@param records table the records' scope
---@param opening table that of the records that open spans
---@param names string[]? of states
---@param entered table[]? as sides.of() returns them
---@return table scope
function scope.answering(records, opening, names, entered)
  return setmetatable({ records = records, opening = opening, names = names or {},
    entered = entered, file = records.file, event_set = records.event_set }, Answering)
end

function Answering:resolve(path, text)
  if path[1] == "open" then
    return of_record(self.opening, path, text, { side = "open" })
  elseif path[2] and (states.named(self.names, "at_", path[1]) or 0) > 0 then
    return of_state(self.names, self.entered, path, text)
  end
  return self.records:resolve(path, text)
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
