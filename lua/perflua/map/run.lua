-- Runs a query script: over one recording in this process, over several in a process for each,
-- some of them at a time. A process is a copy of this one, which has loaded the library and the
-- script: that takes a tenth of the time of a start.

local core = require "perflua.core"
local needs = require "perflua.meta.needs"
local output = require "perflua.table.output"
local returned = require "perflua.meta.returned"

local run = {}

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

-- Ends this process, a copy of the one that reads its output, with what read(path) returns.
local function run_child(read, path, wrong)
  if wrong then
    io.stderr:write("perflua: map: ", path, ": no output: ", wrong, "\n")
    os.exit(FAILED)
  end
  require "perflua.map.child"
  math.randomseed()
  local stdout = io.stdout -- which a script may not write to
  local status = read(path)
  local ok = stdout:flush()
  os.exit((output.failure or not ok) and FAILED or status)
end

local function describe_status(status)
  if status < 0 then return ("its process was killed by signal %d"):format(-status) end
end

---@param host table of the interpreter
---@param read fun(path: string): integer writes the result of one recording to standard output,
--- and returns the exit status; called in a process of its own
---@param paths string[]
---@param at_a_time integer? default: one for each processor
---@param done fun(i: integer, out: file*?, message: string?): boolean? for each as it ends,
--- with what it wrote; or without if it failed, and why if it did not say so itself. false: no
--- others are to be started
function run.children(host, read, paths, at_a_time, done)
  local running, n, next_one, going = {}, 0, 1, true
  local most = at_a_time or core.processors()
  local function end_child(i, out, message)
    if done(i, out, message) == false then going = false end
    if out then out:close() end
  end
  local function start_child(i)
    local pid, out = host.fork()
    if pid == false then
      set_workers(host, at_a_time, #paths)
      run_child(read, paths[i], out)
    end
    if not pid then return end_child(i, nil, out) end
    running[pid], n = { i = i, out = out }, n + 1
  end
  while true do
    going = going and not host.interrupted()
    while going and n < most and paths[next_one] do
      start_child(next_one)
      next_one = next_one + 1
    end
    if n == 0 then return end
    local pid, status = host.wait()
    local child = running[pid]
    if child then
      running[pid], n = nil, n - 1
      if status ~= 0 then child.out:close() end
      end_child(child.i, status == 0 and child.out or nil, describe_status(status))
    end
  end
end

return run
