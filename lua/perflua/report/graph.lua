-- Trees of calls below the rows of a report: the words of perf report -g.

local list = require "perflua.text.list"
local suggest = require "perflua.errors.suggest"

local graph = {}

local FORMS <const> = { graph = "graph", fractal = "fractal", flat = "flat", folded = "folded",
  none = "none" }
local ORDERS <const> = { caller = "caller", callee = "callee" }
local VALUES <const> = { percent = "percent", period = "period", count = "count" }
-- what frames of a tree are told apart by: the one way that there is
local KEYS <const> = { ["function"] = true }

local WORDS <const> = { "graph", "fractal", "flat", "folded", "none", "caller", "callee",
  "function", "percent", "period", "count" }

-- Sets what a word says. Returns nil and what is wrong with it.
local function set_word(made, word)
  if FORMS[word] then
    made.form = word
  elseif ORDERS[word] then
    made.order = word
  elseif VALUES[word] then
    made.value = word
  elseif not KEYS[word] then
    local message = ("'%s' is not a word of it: there are %s"):format(word,
      table.concat(WORDS, ", "))
    return nil, suggest.message(message, word, WORDS)
  end
  return true
end

---@param text string as perf report -g takes it: words in any order; the first number is the
--- share, in percent, of the smallest call that is shown, the second the number of calls shown
--- of each caller
---@return { form: string, order: string?, value: string, least: number, most: integer }?
---@return string? message what is wrong with it
function graph.parse(text)
  local made = { form = "graph", value = "percent", most = 0 }
  for _, word in ipairs(list.split(text)) do
    local number = tonumber(word)
    if not number then
      local ok, message = set_word(made, word)
      if not ok then return nil, message end
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
