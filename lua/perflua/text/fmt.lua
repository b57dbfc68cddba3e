-- Values as text for the eyes: aligned, and nothing of a file can move the cursor.

local core = require "perflua.core"
local display = require "perflua.text.display"

local fmt = {}

local function hex_escape(c) return ("\\x%02x"):format(c:byte()) end

-- Patterns of hidden characters, and of controls beyond ASCII: see pd_hidden_character() in
-- src/perfdata/format/print_scalar.h.
local HIDDEN <const> = { "\xc2[\x80-\x9f\xad]", "\xcd\x8f", "\xd8\x9c", "\xe1\x85[\x9f\xa0]",
  "\xe1\xa0\x8e", "\xe2\x80[\x8b-\x8f\xa8-\xae]", "\xe2\x81[\xa0-\xaf]", "\xe3\x85\xa4",
  "\xef\xbb\xbf", "\xef\xbe\xa0", "\xef\xbf[\xb9-\xbb]", "\xf3\xa0[\x80\x81][\x80-\xbf]" }

---@param text string valid UTF-8
---@param with string | fun(c: string): string
---@return string # with other text instead of controls and hidden characters
function fmt.replace_hidden(text, with)
  text = text:gsub("%c", with)
  if not text:find "[\x80-\xff]" then return text end
  for _, pattern in ipairs(HIDDEN) do text = text:gsub(pattern, with) end
  return text
end

local function escape_hidden(c)
  return #c == 1 and hex_escape(c) or ("\\u{%x}"):format(utf8.codepoint(c))
end

-- Escapes what may not go to a terminal: controls, hidden characters and invalid UTF-8.
---@param text string
---@return string
function fmt.escape(text)
  if not text:find("[^ -~]") then return text end
  local parts, at = {}, 1
  while at <= #text do
    local length, bad = utf8.len(text, at)
    local stop = length and #text or bad - 1
    parts[#parts + 1] = fmt.replace_hidden(text:sub(at, stop), escape_hidden)
    if not length then parts[#parts + 1] = hex_escape(text:sub(bad, bad)) end
    at = (bad or #text) + 1
  end
  return table.concat(parts)
end

-- Patterns begin with ^.* here: without it Lua tries a repeat before the end from every place
-- where it may begin, which takes the square of the text's length.

---@param text string
---@return string # without the blanks at its end
function fmt.trim_end(text) return text:match "^.*%S" or "" end

---@param path string
---@return string # its last part; the whole path if it ends with a slash
function fmt.base_name(path) return path:match "^.*/([^/]+)$" or path end

---@param x integer read without a sign
---@return string # in decimal
function fmt.unsigned(x)
  if x >= 0 then return ("%d"):format(x) end
  local tens = (x >> 1) // 5
  return ("%d%d"):format(tens, x - tens * 10)
end

local FEW <const>, SHORT <const> = 10, 80

---@param name string
---@return string # at most 80 bytes of it
function fmt.short(name)
  if #name <= SHORT then return name end
  local to = SHORT - 2
  while to > SHORT - 6 and name:find("^[\x80-\xbf]", to) do to = to - 1 end -- whole characters
  return name:sub(1, to - 1) .. "…"
end

---@param names string[]
---@param most integer? default: 10
---@return string # so many of them, in short, and how many more there are
function fmt.names(names, most)
  local shown = {}
  most = most or FEW
  for i = 1, math.min(#names, most) do shown[i] = fmt.short(names[i]) end
  local more = #names > most and (" and %d more"):format(#names - most) or ""
  return table.concat(shown, ", ") .. more
end

---@param word string
---@return string # as a shell takes it for one word, in quotes where that is needed
function fmt.shell_word(word)
  return word:find "^[%w_:./,@%%+=-]+$" and word or "'" .. word:gsub("'", "'\\''") .. "'"
end

---Returns a count with its phrase: phrase(1, "{call has|calls have} no time") is "1 call has no
---time".
---@param n integer unsigned
---@param text string in braces: the words for one, and for any other number
---@return string
function fmt.phrase(n, text)
  return fmt.unsigned(n) .. " " .. text:gsub("{([^|}]*)|([^}]*)}", n == 1 and "%1" or "%2")
end

local by_kind = { unsigned = fmt.unsigned, address = core.hex }

---Spells a float so that it reads back as the same number.
---@param value number
---@return string # in as few digits as that takes
function fmt.shortest(value)
  for digits = 15, 16 do
    local text = ("%." .. digits .. "g"):format(value)
    if tonumber(text) == value then return text end
  end
  return ("%.17g"):format(value)
end

-- Formats a value in full, for CSV.
---@param value any
---@param kind string
---@return string
function fmt.exact(value, kind)
  if value == nil then return "" end
  if by_kind[kind] and math.type(value) == "integer" then return by_kind[kind](value) end
  if math.type(value) == "float" then return fmt.shortest(value) end
  return tostring(value)
end

-- Formats a float with two decimals, or three significant digits if they say more: 12.35, 0.50,
-- 0.0032.
local function round_float(value)
  local decimals, digits = ("%.2f"):format(value), ("%.3g"):format(value)
  if value > -1 and value < 1 and tonumber(digits) ~= tonumber(decimals) then return digits end
  return decimals
end

-- A value in a column of text.
---@param value any
---@param kind string
---@return string
function fmt.cell(value, kind)
  if value == nil then return "-" end
  if math.type(value) == "float" then
    return kind == "percent" and ("%.2f%%"):format(value) or round_float(value)
  end
  return fmt.escape(fmt.exact(value, kind))
end

---Returns rows aligned in the columns of a terminal, below the names of their columns. A
---histogram takes a line for each bucket.
---@param columns {name: string, kind: string, unit: string?, measured: boolean?}[]
---@param rows any[][] # by column
---@return string # lines, each with its end
function fmt.table(columns, rows)
  local parts = {}
  core.write_table("text", function(text) parts[#parts + 1] = text end, display.form(),
    columns, rows)
  return table.concat(parts)
end

---@param path string|string[] of a recording, or of several that are read as one
---@return string # as messages have it
function fmt.paths(path)
  return type(path) == "table" and ("%s and %d more"):format(path[1], #path - 1) or path
end

return fmt
