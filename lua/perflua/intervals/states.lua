-- The states of spans: their names, and the records with which spans enter them.

local usage_error = require("perflua.errors").usage_error

local states = {}

-- Returns the number of a state, which is added to `names`.
local function number_of(names, name, word)
  if type(word) ~= "string" or not word:find "^[%a_][%w_]*$" then
    usage_error("pair: %s: a state is a name, \"running\"; found %s", name, tostring(word))
  end
  for i, known in ipairs(names) do
    if known == word then return i end
  end
  names[#names + 1] = word
  return #names
end

-- Returns a set of states, a bit for each.
local function set_of(names, name, wanted)
  local numbers, set = {}, 0
  for i, known in ipairs(names) do numbers[known] = i end
  for _, state in ipairs(type(wanted) == "table" and wanted or { wanted }) do
    if not numbers[state] then
      usage_error("pair: %s: from: no state '%s'; there are %s", name, tostring(state),
        table.concat(names, ", "))
    end
    set = set | 1 << (numbers[state] - 1)
  end
  if set == 0 then usage_error("pair: %s: from: the list is empty", name) end
  return set
end

---Numbers the states of spans, as part.state and part.from.
---@param all { open: table, close: table, change: table? } sides
---@return string[]? # their names; nil: there are none
function states.number(all)
  local names, has_states = {}, all.change ~= nil
  for _, part in ipairs(all.open.parts) do has_states = has_states or part.state ~= nil end
  for name, side in pairs(all) do
    for _, part in ipairs(side.parts) do
      if part.from ~= nil and name == "open" then
        usage_error("pair: open: a span that begins comes 'from' no state")
      elseif part.from ~= nil and not has_states then
        usage_error("pair: %s: 'from' names states, which these spans do not have", name)
      end
    end
  end
  for _, part in ipairs(all.close.parts) do
    if part.state ~= nil then usage_error("pair: close: a span that ends has no 'state'") end
  end
  if not has_states then return nil end
  for _, name in ipairs { "open", "change" } do
    for _, part in ipairs(all[name] and all[name].parts or {}) do
      if part.state ~= nil then
        part.state = number_of(names, name, part.state)
      elseif part.to == nil then
        usage_error("pair: %s: 'state' is missing: the state of a span from then on", name)
      end
    end
  end
  for _, name in ipairs { "close", "change" } do
    for _, part in ipairs(all[name] and all[name].parts or {}) do
      part.from = part.from ~= nil and set_of(names, name, part.from) or nil
    end
  end
  return names
end

---@param all { open: table, change: table? } sides, with numbered states
---@param number integer
---@return table[] # the parts of records with which spans enter that state
function states.parts(all, number)
  local parts = {}
  for _, name in ipairs { "open", "change" } do
    for _, part in ipairs(all[name] and all[name].parts or {}) do
      if part.state == number then parts[#parts + 1] = part end
    end
  end
  return parts
end

---@param names string[] of states
---@param prefix "in_"|"at_"
---@param field any a field's name
---@return integer? # the number of the state that follows the prefix; 0: there is no such
--- state; nil: the name does not begin with it
function states.named(names, prefix, field)
  if type(field) ~= "string" or field:sub(1, #prefix) ~= prefix then return nil end
  for i, name in ipairs(names) do
    if prefix .. name == field then return i end
  end
  return 0
end

---@param names string[] of states
---@param prefix "in_"|"at_"
---@param text string of a field
---@return string # the message that there is no such state
function states.unknown(names, prefix, text)
  local known = {}
  for i, name in ipairs(names) do known[i] = prefix .. name end
  return ("'%s': no such state; there are %s"):format(text, table.concat(known, ", "))
end

return states
