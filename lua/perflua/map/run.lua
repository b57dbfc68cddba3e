-- Runs a query script: over one recording in this process, over several in a process for each,
-- some of them at a time.

local core = require "perflua.core"
local needs = require "perflua.meta.needs"
local returned = require "perflua.meta.returned"

local run = {}

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

-- Returns the options of our own command line but for those of a prompt, and those that make a
-- process one of many.
local function own_options()
  local words, first = {}, 0
  while arg[first - 1] do first = first - 1 end
  for i = first, -1 do
    if arg[i] ~= "-i" and arg[i] ~= "-v" then words[#words + 1] = arg[i] end
  end
  table.insert(words, 2, "-lperflua.map.child")
  return words
end

-- Adds the number of workers of each process: one if the user said how many recordings are read
-- at a time, otherwise its share of the processors. An option of the user comes after it, and
-- wins.
local function add_workers(words, at_a_time, n)
  local workers = at_a_time and 1 or core.processors() // math.min(core.processors(), n)
  table.insert(words, 2, "-j")
  table.insert(words, 3, ("%d"):format(math.min(16, workers)))
end

local function words_for(options, script, path)
  local words = table.move(options, 1, #options, 1, {})
  return table.move({ "map", "--partial", "--", script, path }, 1, 5, #words + 1, words)
end

local function describe_status(status)
  if status < 0 then return ("its process was killed by signal %d"):format(-status) end
end

---@param host table of the interpreter
---@param script string
---@param paths string[]
---@param at_a_time integer? default: one for each processor
---@param done fun(i: integer, out: file*?, message: string?): boolean? for each as it ends,
--- with what it wrote; or without if it failed, and why if it did not say so itself. false: no
--- others are to be started
function run.children(host, script, paths, at_a_time, done)
  local options, running, n, next_one, going = own_options(), {}, 0, 1, true
  add_workers(options, at_a_time, #paths)
  at_a_time = at_a_time or core.processors()
  local function end_child(i, out, message)
    if done(i, out, message) == false then going = false end
    if out then out:close() end
  end
  local function start_child(i)
    local pid, out = host.start(words_for(options, script, paths[i]))
    if not pid then return end_child(i, nil, out) end
    running[pid], n = { i = i, out = out }, n + 1
  end
  while true do
    going = going and not host.interrupted()
    while going and n < at_a_time and paths[next_one] do
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
