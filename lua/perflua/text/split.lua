-- Splits lists as options have them, "comm,dso,bucket(time, 10ms)", and command lines of bash,
-- which may end inside of a word.

local split = {}

local closing = { ["("] = ")", ["["] = "]", ["{"] = "}" }

---Splits a text at commas that are in no brackets and no quotes.
---@param text string
---@return string[] # without blanks around them; empty ones are left out
function split.list(text)
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

---Splits a command line as bash does, but expands nothing.
---@param line string
---@return string[] words without their quotes; the last one is "" after a space
---@return string quote that is open at the end: "'", '"' or ""
---@return boolean is_plain false if bash would expand the last word, or it ends with a
--- backslash
function split.command(line)
  local words, word, quote, is_plain, at = {}, nil, "", true, 1
  while at <= #line do
    local c = line:sub(at, at)
    if c == quote then
      quote = ""
    elseif quote == "" and c:find "%s" then
      words[#words + 1] = word
      word, is_plain = nil, true
    elseif quote == "" and c:find "['\"]" then
      quote, word = c, word or ""
    else
      if c == "\\" and (quote == "" or quote == '"' and line:find('^[$`"\\]', at + 1)) then
        at = at + 1
        c = line:sub(at, at)
        is_plain = is_plain and c ~= ""
      elseif quote ~= "'" and c:find "[$`]" then
        is_plain = false
      end
      word = (word or "") .. c
    end
    at = at + 1
  end
  words[#words + 1] = word or ""
  return words, quote, is_plain
end

return split
