-- The recording and the events that a result is of, while the recording is there: a Table
-- outlives its File.

local origin = {}

local SAMPLE <const> = 9 -- PERF_RECORD_SAMPLE

---@param spec table of a Query
---@return (fun(): perflua.File?, perflua.Event[])? # the File, if it is still there, and the
--- events of the query; nil: it is not over samples alone
function origin.of(spec)
  local types = spec.types
  if not (types and types[SAMPLE] and next(types, next(types)) == nil) then return nil end
  local weak, scope = setmetatable({ file = spec.file }, { __mode = "v" }), {}
  for i, event in ipairs(spec.scope:events()) do scope[i] = event.index end
  return function()
    local file, events = weak.file, {}
    for i, index in ipairs(file and scope or {}) do events[i] = file.events[index] end
    return file, events
  end
end

return origin
