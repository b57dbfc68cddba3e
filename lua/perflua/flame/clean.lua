-- Names for folded stacks: nothing that separates frames or lines, or could move a terminal's
-- cursor. In a call chain's own names the core has done so already (src/machine/stack.c).

local fmt = require "perflua.text.fmt"

local clean = {}

-- Returns valid UTF-8, in which controls, hidden characters and invalid bytes are "?".
local function beyond_ascii(text)
  local parts, at = {}, 1
  while at <= #text do
    local length, bad = utf8.len(text, at)
    local stop = length and #text or bad - 1
    parts[#parts + 1] = fmt.replace_hidden(text:sub(at, stop), "?")
    if not length then parts[#parts + 1] = "?" end
    at = (bad or #text) + 1
  end
  return table.concat(parts)
end

---@param text string frames joined by ";"
---@return string
function clean.stack(text)
  if text:find("%c") then text = text:gsub("%c", "?") end
  return text:find("[\x80-\xff]") and beyond_ascii(text) or text
end

---@param text string one name
---@return string
function clean.name(text)
  return clean.stack((text:gsub(";", ":")))
end

return clean
