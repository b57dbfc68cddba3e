-- States of measures, as the model makes them, in a result of one group.

local core = require "perflua.core"
local sums = require "perflua.measures.sums"

local states = {}

-- Returns a result of these states; raises what is wrong with their sum.
local function result_of(measure, kind, list)
  local groups = {}
  for i, state in ipairs(list) do groups[i] = { keys = {}, state } end
  local result = core.result { keys = {}, measures = { { measure = measure, kind = kind } } }
  local done, wrong = core.result_put(result, groups)
  if not done then error(sums.wrong[wrong], 0) end
  return result
end

---@param measure string
---@param kind string of the values
---@param ... any states
---@return any # their sum
function states.merged(measure, kind, ...)
  return core.result_groups(result_of(measure, kind, { ... }))[1][1]
end

---@param measure string
---@param kind string of the values
---@param state any
---@param option any of the measure, as a quantile's share
---@return any # what a row shows
function states.shown(measure, kind, state, option)
  local view = core.result_view(result_of(measure, kind, { state }), { columns = {
    { name = "m", kind = "any", measure = 1, option = option, measured = true },
  } })
  return core.view_row(view, 1).m
end

return states
