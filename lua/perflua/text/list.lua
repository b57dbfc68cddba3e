-- Lists as options have them: "comm,dso,bucket(time, 10ms)".

local list = {}

local closing = { ["("] = ")", ["["] = "]", ["{"] = "}" }

---Splits a text at commas that are in no brackets and no quotes.
---@param text string
---@return string[] # without blanks around them; empty ones are left out
function list.split(text)
  local parts, open, quote, from = {}, {}, nil, 1
  local function add(to)
    local part = text:sub(from, to):match("^%s*(.-)%s*$")
    if part ~= "" then parts[#parts + 1] = part end
  end
  for at, c in text:gmatch("()(.)") do
    if quote then
      if c == quote then quote = nil end
    elseif c == "'" or c == '"' then
      quote = c
    elseif closing[c] then
      open[#open + 1] = closing[c]
    elseif c == open[#open] then
      open[#open] = nil
    elseif c == "," and #open == 0 then
      add(at - 1)
      from = at + 1
    end
  end
  add(#text)
  return parts
end

return list
