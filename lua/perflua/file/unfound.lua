-- Says why a condition may choose nothing: names in it that no thread and no function of a
-- recording has.

local core = require "perflua.core"
local functions = require "perflua.file.functions"
local suggest = require "perflua.errors.suggest"

local unfound = {}

-- Names of threads, also those that a thread had earlier.
local function names_of_threads(file)
  local names, samples = {}, file:samples()
  for _, thread in ipairs(file:threads()) do names[thread.comm or false] = true end
  if core.query_spec(samples).scope:root "comm" then
    for row in samples:group_by("comm"):all_events():each() do
      names[row.comm or false] = true
    end
  end
  names[false] = nil
  return names
end

local kinds <const> = {
  { "threads", names_of_threads, "no thread is named" },
  { "functions", functions.sampled, "no sample is of function" },
}

---Reads a recording, which must be readable again, at most once for each kind of names.
---@param file perflua.File
---@param wanted { functions: string[], threads: string[] }
---@param known table? # keeps what was read for the next call
---@return string[] # a sentence for each name that is none, with the closest one
function unfound.sentences(file, wanted, known)
  local list = {}
  known = known or {}
  for _, kind in ipairs(kinds) do
    local key, read, what = table.unpack(kind)
    for _, name in ipairs(wanted[key]) do
      known[key] = known[key] or read(file)
      if not known[key][name] then
        list[#list + 1] = suggest.message(("%s '%s'"):format(what, name), name,
          suggest.names(known[key]))
      end
    end
  end
  return list
end

return unfound
