-- How the interpreter's own text for people is shown where it goes: in colour, in how many
-- columns. Texts that are values of scripts, and all of plain Lua's, are plain.

local core = require "perflua.core"

local display = {}

-- The form of text for standard output: options of core.view_write(), and `cuts`: rows that
-- hardly count are left out; nil: text is plain. `errors`: standard error is in colour.
local shown, errors

local PLAIN <const> = {}

-- Colours by what they tell, as SGR has them.
local COLORS <const> = {
  heading = "1", good = "32", damage = "1;31", problem = "31", note = "36", kernel = "33",
  error = "31",
}

---Sets what standard output is; nil: text is plain from now on.
---@param form { color: boolean?, columns: integer?, cuts: boolean? }?
function display.set(form) shown = form end

---@return table # options of core.view_write() and core.write_table(): color, columns
function display.form() return shown or PLAIN end

---@param is_colored boolean are messages on standard error in colour?
function display.set_errors(is_colored) errors = is_colored end

local function wrap(text, color) return ("\27[%sm%s\27[0m"):format(color, text) end

---@param text string whose controls are escaped
---@param what string heading, good, damage, problem, note
---@return string
function display.styled(text, what)
  local color = shown and shown.color and COLORS[what]
  return color and text ~= "" and wrap(text, color) or text
end

---@param text string
---@param percent number the share that it tells
---@return string
function display.share(text, percent)
  local color = shown and shown.color and core.share_color(percent)
  return color and wrap(text, color) or text
end

---@param line string whose controls are escaped
---@param what string|number|nil heading: the whole line is one; the level of a finding, or a
--- share in percent, which the first word tells; nil: nothing
---@return string
function display.mark(line, what)
  if not what then return line end
  if what == "heading" then return display.styled(line, what) end
  local blanks, word, rest = line:match "^(%s*)(%S+)(.*)$"
  local mark = type(what) == "number" and display.share or display.styled
  return blanks .. mark(word, what) .. rest
end

---Breaks a line of words that is longer than the terminal.
---@param line string whose controls are escaped
---@param indent integer blanks before the words that follow on further lines
---@return string[] # lines
function display.wrap(line, indent)
  local room = shown and shown.columns
  if not room or core.columns(line) <= room then return { line } end
  local lines, before = { "" }, (" "):rep(math.min(indent, room // 3))
  for blanks, word in line:gmatch "( *)([^ ]+)" do
    local longer = lines[#lines] .. blanks .. word
    if core.columns(longer) <= room or lines[#lines]:find "^ *$" then
      lines[#lines] = longer
    else
      lines[#lines + 1] = before .. word
    end
  end
  return lines
end

---@param text string of a message
---@return string
function display.error(text) return errors and wrap(text, COLORS.error) or text end

return display
