-- Runs a query script: over one recording in this process, over several in child processes, a
-- few of them at a time. A child is a copy of this process, with the library and the script
-- loaded: forking takes a tenth of the time of a start.

local core = require "perflua.core"
local handlers = require "perflua.map.handlers"
local needs = require "perflua.meta.needs"
local output = require "perflua.table.output"
local returned = require "perflua.meta.returned"

local run = {}

run.STOP, run.APART = "stop", "apart" -- verdicts of done(), see run.children()

local FAILED = 1

-- Redirects what a script prints, which is not part of its result.
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

local NOTHING =
  "the script returned no table: end it with return file:samples():group_by(…) and measures"

---@param chunk function the script
---@param path string of the script
---@param recording string
---@return perflua.Table? table, string? message
function run.script(chunk, path, recording)
  _G.arg = { [0] = path, recording }
  quiet_output()
  local ok, result, message = xpcall(function()
    local value, second = chunk(recording)
    local function open_file(meta) return needs.open(recording, meta) end
    return returned.table(value, open_file, returned.meta(value, second))
  end, function(err)
    return type(err) == "string" and err or tostring(err)
  end)
  if not ok then return nil, result end
  if not result then return nil, message or NOTHING end
  return result
end

-- Sets the number of workers of a process: one if the user said how many recordings are read at
-- a time, otherwise its share of the processors; unless the user said that, too.
local function set_workers(host, at_a_time, n)
  if host.workers then return end
  local workers = at_a_time and 1 or core.processors() // math.min(core.processors(), n)
  host.set_threads(math.min(16, workers))
end

-- Ends this process, a copy of the one that reads its output, with what read(paths) returns.
local function run_child(read, paths, wrong)
  if wrong then
    io.stderr:write("perflua: map: ", paths[1], ": no output: ", wrong, "\n")
    os.exit(FAILED)
  end
  handlers.collect()
  math.randomseed()
  local stdout = io.stdout -- which a script may not write to
  local status = read(paths)
  local ok = stdout:flush()
  os.exit((output.failure or not ok) and FAILED or status)
end

local function describe_status(status)
  if status < 0 then return ("its process was killed by signal %d"):format(-status) end
end

---@param host table of the interpreter
---@param read fun(paths: string[]): integer writes the results of recordings to standard
--- output, one after another, and returns the exit status; called in a process of its own
---@param jobs table[] of jobs(): the recordings of each process
---@param at_a_time integer? default: one for each processor
---@param done fun(job: table, out: file*?, message: string?): any for each as it ends, with
--- what it wrote; without it if the process failed, and with a message if it wrote none.
--- Returns run.STOP to start no others, run.APART to read the job's recordings again, each in
--- a process of its own
function run.children(host, read, jobs, at_a_time, done)
  local running, n, next_one, going = {}, 0, 1, true
  local most, total = at_a_time or core.processors(), jobs[#jobs].first + #jobs[#jobs] - 1
  local function read_apart(job)
    for i, path in ipairs(job) do jobs[#jobs + 1] = { path, first = job.first + i - 1 } end
  end
  local function end_child(job, out, message)
    local verdict = done(job, out, message)
    if out then out:close() end
    if verdict == run.STOP then going = false end
    if verdict == run.APART then read_apart(job) end
  end
  local function start_child(job)
    local pid, out = host.fork()
    if pid == false then
      set_workers(host, at_a_time, total)
      run_child(read, job, out)
    end
    if not pid then
      for i, path in ipairs(job) do end_child({ path, first = job.first + i - 1 }, nil, out) end
      return
    end
    running[pid], n = { job = job, out = out }, n + 1
  end
  while true do
    going = going and not host.interrupted()
    while going and n < most and jobs[next_one] do
      start_child(jobs[next_one])
      next_one = next_one + 1
    end
    if n == 0 then return end
    local pid, status = host.wait()
    local child = running[pid]
    if child then
      running[pid], n = nil, n - 1
      if status ~= 0 then child.out:close() end
      if status ~= 0 and #child.job > 1 then
        read_apart(child.job) -- some of its recordings may have results
      else
        end_child(child.job, status == 0 and child.out or nil, describe_status(status))
      end
    end
  end
end

-- A process for each recording keeps a script apart from what it did to another one, but
-- starting one takes longer than reading a small recording. So small ones share a process if
-- the script can do nothing that its next run would notice.

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
function run.jobs(script, paths, are_apart)
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
function run.renew_globals(chunk)
  local globals = setmetatable({}, { __index = _G })
  for _, name in ipairs(LIBRARIES) do
    globals[name] = setmetatable({}, { __index = _G[name] })
  end
  debug.setupvalue(chunk, 1, globals)
end

return run
