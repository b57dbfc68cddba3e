-- Trees of calls below the rows of a report: the words of perf report -g.

local core = require "perflua.core"
local has_difference = require("perflua.recording").has_difference
local split = require "perflua.text.split"
local strip_position = require("perflua.errors").strip_position
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

-- The options of call chains that a report of a file has: what core.set_chain_options() takes.

local CALL_STACK <const> = 1 << 11 -- PERF_SAMPLE_BRANCH_CALL_STACK

-- Returns whether an event has call stacks of branches: perf record --call-graph lbr.
local function has_call_stacks(file)
  for _, event in ipairs(file.events) do
    if event.branch_sample_type & CALL_STACK ~= 0 then return true end
  end
  return false
end

-- Returns how many branches the processor keeps; 0: it is not known.
local function lbr_depth(file)
  local caps = file.features.cpu_pmu_caps or {}
  local depth = math.tointeger(tonumber(caps.branches)) or 0
  return depth > 0 and depth < 1 << 16 and depth or 0
end

-- Returns the options of call chains of a file, which core.set_chain_options() takes; or nil,
-- and why they are not for it.
local function chain_options(file, settings)
  local query, asked = settings.query, settings.chains
  local options = { parent = asked.parent, root = asked.root, from_caller = asked.from_caller,
    is_named = asked.is_named, branches = asked.branches, max_frames = query.max_stack }
  if query.is_stitched then
    if not has_call_stacks(file) then
      return nil, "--stitch-lbr: no event has call stacks of branches; perf record "
        .. "--call-graph lbr records them"
    end
    options.lbr_depth = lbr_depth(file)
  end
  if asked.is_exact then
    options.inlined = query.without_inlined and "none"
      or has_difference(file, "inlined_always") and "all" or "unwound"
  end
  return options
end

---Sets the options of call chains, before names are looked up in a file.
---@param file perflua.File
---@param settings table of report/asked.lua
---@return string? message what is wrong with them
function graph.set_chains(file, settings)
  if not settings.chains then return nil end
  local options, wrong = chain_options(file, settings)
  if not options then return wrong end
  local ok, message = pcall(core.set_chain_options, file, options)
  return not ok and strip_position(message) or nil
end

return graph
