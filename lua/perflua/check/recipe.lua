-- The commands that make the recordings of a performance spec: `perflua check --record`.

local recipe = {}

local fmt = require "perflua.text.fmt"
local split = require "perflua.text.split"
local words = require "perflua.check.words"

local function add_event(list, name)
  for _, one in ipairs(list) do
    if one == name then return end
  end
  list[#list + 1] = name
end

local function add_spans(events, call)
  if type(call) == "string" then
    add_event(events, "raw_syscalls:sys_enter")
    add_event(events, "raw_syscalls:sys_exit")
    return
  end
  for _, side in ipairs { call.open, call.close } do
    local event = type(side) == "table" and (side.event or side[1]) or side
    if type(event) == "string" then add_event(events, event) end
  end
end

-- Quotes the words of a text, each for itself, so that a shell evaluates nothing of them.
local function quote_words(text)
  local list = split.command((text:gsub("%s+$", "")))
  for i, word in ipairs(list) do list[i] = fmt.shell_word(word) end
  return table.concat(list, " ")
end

-- Returns the words after -- of perf record: a command, or a shell that runs what needs one.
local function quote_command(text)
  if text:find "[;|&<>()$`*?%[#~\\!{}]" or text:find "^%s*[%a_][%w_]*=" then
    return "sh -c " .. fmt.shell_word(text)
  end
  return quote_words(text)
end

-- Returns the options of perf record that the quantities of a spec need.
local function options_of(spec)
  local events, has_chains, is_sampled = {}, false, false
  for _, condition in ipairs(spec.conditions) do
    local quantity = condition.quantity
    if quantity.kind == "quantile" then add_spans(events, quantity.of) end
    if quantity.is_sampled then
      is_sampled = true
      if type(quantity.event) == "string" then add_event(events, quantity.event) end
    end
    has_chains = has_chains or quantity.kind == "children"
  end
  local options = { has_chains and "-g" or nil }
  if is_sampled and #events > 0 then table.insert(events, 1, "cycles") end
  for _, event in ipairs(events) do
    options[#options + 1] = "-e"
    options[#options + 1] = fmt.shell_word(event)
  end
  options[#options + 1] = spec.options and quote_words(spec.options)
  return table.concat(options, " ")
end

local function add_runs(lines, name, spec, options)
  local paths = {}
  for i = 1, spec.runs or words.RUNS do
    paths[i] = ("%s%d.data"):format(name, i)
    lines[#lines + 1] = ("perf record %s-o %s -- %s"):format(options ~= "" and options .. " "
      or "", paths[i], spec.workload and quote_command(spec.workload) or "COMMAND")
  end
  return table.concat(paths, " ")
end

---@param spec table of words.run
---@param path string of the spec
---@return string[] # lines of a shell script
function recipe.lines(spec, path)
  local options, lines = options_of(spec), {}
  local baseline
  if words.needs_baseline(spec) then
    lines[1] = "# with the version to compare with, built and run as the other one is:"
    baseline = add_runs(lines, "baseline", spec, options)
    lines[#lines + 1] = "# with the version that is checked:"
  end
  local runs = add_runs(lines, "run", spec, options)
  lines[#lines + 1] = ("perflua check %s %s%s"):format(fmt.shell_word(path), runs,
    baseline and " --baseline " .. baseline or "")
  return lines
end

return recipe
