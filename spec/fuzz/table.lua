-- Reads saved tables for table.c: they are refused with a message for people,
local check_message = dofile "spec/fuzz/internal.lua"
local saved = require "perflua.table.saved"
local Table = require "perflua.table"

-- Returns the methods of an open file that saved.lua needs.
local function stream(text)
  local at = 1
  return { read = function(_, how)
    if at > #text then return nil end
    local stop = how == "L" and (text:find("\n", at, true) or #text) or at + how - 1
    local part = text:sub(at, stop)
    at = at + #part
    return part
  end }
end

local function encoded(t)
  local parts = {}
  assert(saved.encode(t.data, t.show, function(text) parts[#parts + 1] = text end))
  return table.concat(parts)
end

---@param text string
return function(text)
  local ok, data, show = pcall(saved.all, stream(text))
  if not ok then return check_message(data, text) end
  if not data then return check_message(show, text) end
  local t = Table.new(data, show)
  local line = encoded(t)
  local again, again_show = saved.all(stream(line))
  assert(again, again_show)
  assert(encoded(Table.new(again, again_show)) == line, "saved again it is another")
  local shown, lines = pcall(tostring, t)
  if not shown then return check_message(lines, text) end
  assert(tostring(Table.new(again, again_show)) == lines, "shown again it is another")
  local fine, merged = pcall(t.merge, t, Table.new(again, again_show))
  if not fine then return check_message(merged, text) end
  check_message(select(2, pcall(tostring, merged)), text)
end
