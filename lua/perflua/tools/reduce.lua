-- perflua reduce [FILE…]: partial results, merged.

local merge = require "perflua.table.merge"
local strip_position = require("perflua.errors").strip_position
local saved = require "perflua.table.saved"
local result = require "perflua.map.result"
local Table = require "perflua.table"

local log = result.log

local tool = {
  description = "merge partial results, written by perflua map --partial",
  usage = "reduce [options] [FILE… | -]",
  reads = "nothing", operands = { 0, math.huge }, paged = false,
  options =
    { parts = "merge parts of one whole: their filters, times and events may differ" },
  help = [[
Reads partial results from files or standard input; each is one line, and a file may have many. The order
and grouping of merges do not change the result: it is that of one query over all recordings. With
--partial it is a partial result again. If one is damaged, perflua reports it, merges the rest, and exits
with status 1.]],
}

for name, option in pairs(result.options) do tool.options[name] = option end

local USAGE, FAILED = 2, 1

-- Adds all there is in a file; nil and why if something in it is of another query.
local function add_file(state, path, are_parts)
  for _, data, show in saved.each(path) do
    if not data then
      log("reduce", nil, show)
      state.failed = true
    elseif not state.all then
      state.all, state.show = merge.start(data), show
    else
      local ok, message = state.all:add(data, are_parts)
      if not ok then return nil, ("%s: a result of another query: %s"):format(path, message) end
    end
  end
  return true
end

---@param args table
---@param out file*
---@return integer | nil status
---@return string | nil message
function tool.run(args, out)
  local wrong = result.wrong(args)
  if wrong then return USAGE, "reduce: " .. wrong end
  local state = { failed = false }
  for _, path in ipairs(#args > 0 and args or { "-" }) do
    local ok, added, message = pcall(add_file, state, path, args.parts)
    if not ok then return nil, "reduce: " .. strip_position(added) end
    if not added then return nil, "reduce: " .. message end
  end
  if not state.all then
    -- nothing and nothing is nothing
    if state.failed or args.partial then return state.failed and FAILED or 0 end
    return nil, "reduce: there are no partial results"
  end
  local ok, message = result.write(Table.new(state.all.data, state.show), args, out)
  if not ok then return nil, message end
  return state.failed and FAILED or 0
end

return tool
