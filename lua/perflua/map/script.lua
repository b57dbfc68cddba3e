-- A query script run over one recording in this process.

local needs = require "perflua.meta.needs"
local returned = require "perflua.meta.returned"

local script = {}

-- What the script prints is none of its result.
local function quiet_output()
  local err = io.stderr
  io.output(err)
  io.stdout = err -- luacheck: ignore 122
  function _G.print(...)
    local words = table.pack(...)
    for i = 1, words.n do words[i] = tostring(words[i]) end
    err:write(table.concat(words, "\t"), "\n")
  end
end

local NOTHING = "the script returned no table: it is to end in return file:samples():group_by(…) and measures"

---@param chunk function the script
---@param path string of the script
---@param recording string
---@return perflua.Table? table, string? message
function script.run(chunk, path, recording)
  _G.arg = { [0] = path, recording }
  quiet_output()
  local ok, result, message = xpcall(function()
    local value, second = chunk(recording)
    local function open(meta) return needs.open(recording, meta) end
    return returned.table(value, open, returned.meta(value, second))
  end, function(err)
    return type(err) == "string" and err or tostring(err)
  end)
  if not ok then return nil, result end
  if not result then return nil, message or NOTHING end
  return result
end

return script
