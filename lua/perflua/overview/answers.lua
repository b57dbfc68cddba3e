-- The questions that a recording can answer, as commands, and how to record for the others.

local fmt = require "perflua.text.fmt"
local json = require "perflua.text.json"
local needs = require "perflua.meta.needs"

local answers = {}

-- Returns which kinds of samples there are.
local function kinds_of(found)
  local kinds = {}
  for _, event in ipairs(found.events) do
    if event.samples > 0 then
      kinds[event.tracepoint and "tracepoints" or "counted"] = true
      kinds.chains = kinds.chains or event.chains ~= nil
    end
  end
  return kinds
end

-- Tools that need no event of their own: their words, the kind of samples that they are for,
-- what they show.
local general <const> = {
  { "report", "counted", "functions, binaries and threads by their share" },
  { "browse", "counted", "the same on the whole terminal, with callers and code of each row" },
  { "report -g caller", "chains", "the callers of each function as well" },
  { "flame -o flame.svg", "chains", "a flame graph, for any browser" },
  { "script", "tracepoints", "a line for each sample, with its arguments" },
}

---Adds the commands that a recording answers, and what to record to learn more.
---@param file perflua.File
---@param found table gets `commands` and `record`
---@param tools { name: string, tool: table }[]
---@param options string options of these commands, each behind a blank
function answers.add(file, found, tools, options)
  local kinds, lacking = kinds_of(found), json.array()
  found.commands, found.record = json.array(), json.array()
  local function add_command(words, text)
    table.insert(found.commands, { text = text,
      command = ("perflua %s%s %s"):format(words, options, fmt.shell_word(file.path)) })
  end
  for _, row in ipairs(general) do
    if kinds[row[2]] then add_command(row[1], row[3]) end
  end
  for _, one in ipairs(tools) do
    if one.tool.needs and needs.check(file, one.tool) then
      lacking[#lacking + 1] = one.name
    elseif one.tool.needs then
      add_command(one.name, one.tool.description)
    end
  end
  if kinds.counted and not kinds.chains then
    table.insert(found.record, { command = "perf record -g -- COMMAND",
      text = "the callers of each function" })
  end
  if lacking[1] then
    table.insert(found.record, { command = "perflua record NAME -- COMMAND",
      text = "what one of these needs:", tools = lacking })
  end
end

return answers
