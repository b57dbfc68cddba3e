-- Which recordings one process of perflua map reads. A process for each keeps a script apart
-- from what it did to another recording, but starting one takes longer than reading a small
-- recording. So small ones share a process if the script can do nothing that its next run would
-- notice.

local core = require "perflua.core"

local jobs = {}

local MOST <const> = 32 -- recordings of a process
local SMALL <const> = 1 << 20 -- bytes of a recording that may share one
local EACH <const> = 8 -- jobs for each processor, at least: they take unequal times

-- A script with one of these words can change what its next run sees, end the process, or
-- print.
local APART = {
  "_ENV", "_G", "collectgarbage", "coroutine", "debug", "dofile", "getmetatable", "io", "load",
  "loadfile", "os", "package", "print", "rawset", "require", "run", "setmetatable", "warn",
}

local function only_asks(script)
  local file <close> = io.open(script, "rb")
  local text = file and file:read "a"
  if not text then return false end
  for _, word in ipairs(APART) do
    if text:find("%f[%w_]" .. word .. "%f[^%w_]") then return false end
  end
  return true
end

local function is_small(path)
  local kind, size = core.stat(path)
  return kind == "file" and size <= SMALL
end

---@param script string path
---@param paths string[] of recordings
---@param are_apart boolean each recording gets a process of its own
---@return table[] # lists of paths, in order; `first`: the place of the first among all
function jobs.list(script, paths, are_apart)
  local list, most = {}, math.min(MOST, #paths // (EACH * core.processors()))
  local together = not are_apart and most > 1 and only_asks(script)
  local last -- a job that takes another small recording
  for i, path in ipairs(paths) do
    local is_one = together and is_small(path)
    if last and is_one and #last < most then
      last[#last + 1] = path
    else
      local job = { path, first = i }
      list[#list + 1], last = job, is_one and job or nil
    end
  end
  return list
end

local LIBRARIES <const> = { "math", "perflua", "string", "table", "utf8" }

---Gives a script globals of its own, so that its next run begins as its first did.
---@param chunk function the script
function jobs.renew_globals(chunk)
  local globals = setmetatable({}, { __index = _G })
  for _, name in ipairs(LIBRARIES) do
    globals[name] = setmetatable({}, { __index = _G[name] })
  end
  debug.setupvalue(chunk, 1, globals)
end

return jobs
