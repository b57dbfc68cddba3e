-- Makes rows that can be compared of listings of perf annotate and perflua annotate:
-- instructions by address and share, and the source lines between them. The spelling of
-- instructions, and of names of functions and files, differs: they are left out.

local listings = {}

-- Returns a source line without its blanks; nil: it is a label, or names a place.
local function source_row(text)
  text = text:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")
  if text == "" or text:find ":$" or text:find ":%d+$" or text:find "^Disassembly of"
    or text:find "discriminator" then
    return nil
  end
  return text
end

-- Returns a listing up to the end of its first section: in a module several have code at the
-- same addresses, and perf shows all of it, with the same shares.
local function first_section(text)
  local _, first = text:find("Disassembly of section", 1, true)
  local second = first and text:find("\n[^\n]*Disassembly of section", first)
  return second and text:sub(1, second) or text
end

---@param text string in the layout of --stdio
---@return string[] # "401136 13.84" for an instruction, and source lines
function listings.stdio(text)
  local rows = {}
  for line in first_section(text):gmatch "[^\n]+" do
    local percent, address = line:match "^ +(%d+%.%d%d) +: +(%x+):%s"
    local source = line:match "^ +: %d* *(.*)$"
    if percent then
      rows[#rows + 1] = address .. " " .. percent
    elseif source then
      rows[#rows + 1] = source_row(source)
    end
  end
  return rows
end

local ARROWS <const> = { "↓", "↑", "→", "←" }

-- Returns the arrow that a text begins with, and where a jump goes in the function.
local function arrow_of(text)
  for i, arrow in ipairs(ARROWS) do
    if text:sub(1, #arrow) == arrow then
      return arrow .. (i < 3 and text:match "%s(%x+)%s*$" or "")
    end
  end
  return nil
end

-- Returns the row of a line; nil: it has none. indent: where source begins; is_bare: all lines
-- are instructions.
local function stdio2_row(line, indent, is_bare)
  -- a line of a loop is drawn in one column
  for _, mark in ipairs { "┌", "│", "└" } do line = line:gsub(mark, " ", 1) end
  local percent = line:match "^ *(%d+%.%d%d) " or ""
  local label = line:sub(1, indent):match "(%x+): *$"
  local rest = line:sub(indent + 1)
  local arrow = arrow_of(rest)
  if is_bare or arrow or label or percent ~= "" or rest:find "^  %S" then
    return ("%s|%s|%s"):format(percent, label or "", arrow or "")
  end
  return source_row(rest)
end

-- Returns where instructions begin in lines of perf 7, which has no source lines there, and its
-- heading, if any, beside the first instruction: some line has an arrow.
local function find_indent(body)
  local least
  for line in body:gmatch "[^\n]+" do
    for _, arrow in ipairs(ARROWS) do
      local at = line:find(arrow, 1, true)
      if at and (not least or at < least) then least = at end
    end
  end
  return least and least - 1
end

---@param text string one listing of one event in the layout of --stdio2
---@return string[] # "13.84|1a|↓22" for an instruction: share, label, arrow, and source lines
---@return boolean # there are none of those
function listings.stdio2(text)
  local rows, indent = {}, nil
  local heading, body = first_section(text):match "\n(Percent[^\n]*)\n(.*)"
  local is_bare = not heading or heading:find "^Percent +%S" ~= nil
  if is_bare then
    body = (text:match "^[^\n]*\n[^\n]*\n(.*)" or ""):gsub("^Percent", "       ")
    indent = find_indent(body)
  end
  for line in body:gmatch "[^\n]+" do
    indent = indent or line:find "%S" and #line:match "^ *"
    if indent and not line:find "^#" then
      rows[#rows + 1] = stdio2_row(line, indent, is_bare)
    end
  end
  return rows, is_bare
end

---@param rows string[] as stdio2() returns them
---@return string[] # those of instructions
function listings.instructions(rows)
  local list = {}
  for _, row in ipairs(rows) do
    if row:find "^[%d.]*|%x*|" then list[#list + 1] = row end
  end
  return list
end

return listings
