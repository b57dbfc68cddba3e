-- Help on options: as they are written, a line for each.

local declaration = require "perflua.options.declaration"
local fmt = require "perflua.text.fmt"

local help = {}

---@param rows string[][] an option as it is written, and its help
---@return string # a line for each
function help.columns(rows)
  local width, names, lines = 10, {}, {}
  for i, row in ipairs(rows) do
    names[i] = fmt.escape(row[1])
    width = math.max(width, utf8.len(names[i]))
  end
  for i, row in ipairs(rows) do
    lines[i] = ("  %s%s  %s\n"):format(names[i], (" "):rep(width - utf8.len(names[i])),
      fmt.escape(row[2]))
  end
  return table.concat(lines)
end

---@param row table
---@param letter string? another spelling
---@return string # the option as help shows it
function help.spelled(row, letter)
  local value = declaration.value_name(row)
  if row[2] == "flag" and row.choices then
    return ("%s[=%s]"):format(declaration.spell(row[1]), table.concat(row.choices, "|"))
  end
  return (letter and ("-%s, "):format(letter) or "") .. declaration.spell(row[1])
    .. (value ~= "" and " " .. value or "")
end

local function help_of(row)
  local text = row.help or ""
  if row.default == nil or row.default == false then return text end
  return ("%s%sdefault: %s"):format(text, text ~= "" and "; " or "", tostring(row.default))
end

---@param declared table
---@param name string of the script
---@return string # "usage: perflua script.lua [options] SYMBOL [perf.data…]"
function help.usage(declared, name)
  local words = { "usage: perflua", name }
  if #declared.named > 0 then words[#words + 1] = "[options]" end
  for _, row in ipairs(declared.positional) do
    words[#words + 1] = declaration.value_name(row)
  end
  return fmt.escape(table.concat(words, " ")) .. " [perf.data…]\n"
end

---@param declared table
---@return string # a line for each option, those that are positional first; "" without options
function help.options(declared)
  local rows = {}
  for _, row in ipairs(declared.positional) do
    rows[#rows + 1] = { declaration.value_name(row), help_of(row) }
  end
  for _, row in ipairs(declared.named) do
    rows[#rows + 1] = { help.spelled(row), help_of(row) }
  end
  return help.columns(rows)
end

return help
