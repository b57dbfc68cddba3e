-- Trees of calls below the rows of a report: the words of perf report -g.

local split = require "perflua.text.split"
local suggest = require "perflua.errors.suggest"

local graph = {}

-- Each word, and which of the settings it is.
local WORDS <const> = { graph = "form", fractal = "form", flat = "form", folded = "form",
  none = "form", caller = "order", callee = "order", percent = "value", period = "value",
  count = "value", ["function"] = "key", address = "key", srcline = "key", branch = "branches" }

-- Says what is wrong with a word that is none of these.
local function wrong_word(word)
  local names = suggest.names(WORDS)
  local message = ("'%s' is not a word of it: there are %s"):format(word,
    table.concat(names, ", "))
  return suggest.message(message, word, names)
end

---@param text string an argument after -g
---@return boolean # whether it may be its words; else it is a recording
function graph.is_words(text)
  if graph.parse(text) then return true end
  for _, word in ipairs(split.list(text)) do
    if not (tonumber(word) or word:find "^%a+$") then return false end
  end
  local there <close> = io.open(text)
  return not there
end

---@param text string as perf report -g takes it: words in any order; the first number is the
--- share, in percent, of the smallest call that is shown, the second the number of calls shown
--- of each caller
---@return { form: string, order: string?, value: string, least: number, most: integer, key:
--- string, branches: string? }? key: what a call is; branches: they are in the chains, too
---@return string? message what is wrong with it
function graph.parse(text)
  local made = { form = "graph", value = "percent", most = 0, key = "function" }
  for _, word in ipairs(split.list(text)) do
    local number = tonumber(word)
    if not number then
      if not WORDS[word] then return nil, wrong_word(word) end
      made[WORDS[word]] = word
    elseif number ~= number or number < 0 or made.least and math.tointeger(number) == nil then
      return nil, ("'%s': a share in percent expected, and then a number of calls"):format(word)
    elseif made.least then
      made.most = math.tointeger(number)
    else
      made.least = number
    end
  end
  made.least = made.least or 0.5
  return made
end

return graph
