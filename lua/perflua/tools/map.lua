-- perflua map QUERY.lua FILE…: a query over many recordings, in processes, and the merged
-- result.

local handlers = require "perflua.map.handlers"
local interrupted = require "perflua.table.interrupted"
local strip_position = require("perflua.errors").strip_position
local saved = require "perflua.table.saved"
local result = require "perflua.map.result"
local run = require "perflua.map.run"
local Table = require "perflua.table"

local log = result.log

local tool = {
  description = "run a query script over many recordings and merge the results",
  usage = "map [options] QUERY.lua FILE…",
  reads = "nothing", operands = { 2, math.huge }, paged = false,
  options =
    { j = { "N",
      "read N recordings at a time, each by one worker; default: one for each processor" } },
  help = [[
QUERY.lua returns its result: a Table, a query with groups, or a function of a File that returns one
of them. perflua QUERY.lua FILE prints the result for one recording:

  local file = assert(perflua.open(arg[1]))
  return file:samples():group_by("comm", "symbol"):sum("period"):top(20)

Each recording is read by its own process; with -j always, else small ones share one if the script
cannot notice. The results are merged exactly, as if one query had read all recordings. If a
recording fails, perflua reports it, merges the others, and exits with status 1. A result written
with --partial can be merged with others later, by perflua reduce.]],
}
for name, option in pairs(result.options) do tool.options[name] = option end

local USAGE, FAILED = 2, 1

-- Reads one recording in this process. Returns its result.
local function run_one(chunk, args, out, host)
  local made, message = run.script(chunk, args[1], args[2])
  -- it is not that of all records
  if made and args.partial and host.interrupted() then return FAILED end
  if not made then
    handlers.warn()
    log("map", args[2], message)
    return FAILED
  end
  handlers.write(out)
  local raised, ok
  raised, ok, message = pcall(result.write, made, args, out)
  if raised and ok then return 0 end
  log("map", args[2], raised and message or strip_position(ok))
  return FAILED
end

-- Reads recordings in this process. Those that fail say so, and have no table in the output.
local function run_each(chunk, script, paths, out, host)
  local status
  for _, path in ipairs(paths) do
    if host.interrupted() then break end
    if #paths > 1 then
      collectgarbage "step" -- frees the File before with its symbols
      run.renew_globals(chunk)
    end
    status = run_one(chunk, { script, path, partial = true }, out, host)
  end
  return #paths > 1 and 0 or status or FAILED
end

-- Adds a result to those before; nil and why it cannot be one of them.
local function add_result(all, i, data)
  local ok, added, message = pcall(all.add, all, i, data)
  if not ok then return nil, strip_position(added) end
  return added, message
end

-- Merges the tables in the file that the process of a job wrote, after the handlers that
-- matched no event. Returns how many there are, their data, and how the first is shown; nil and
-- why they cannot be read or merged.
local function tables_in(out, missing)
  local n, all, shown = 0, result.segments(), nil
  missing:read(out)
  for _, data, show in saved.each(out) do
    if not data then return nil, "its result cannot be read: " .. show end
    n, shown = n + 1, shown or show
    local ok, why = add_result(all, n, data)
    if not ok then return nil, why end
  end
  return n, all:result(), shown
end

local function run_many(chunk, args, out, host, at_a_time)
  local paths, all = table.move(args, 2, #args, 1, {}), result.segments()
  local missing = handlers.new()
  local show, failed, n, wrong = nil, 0, 0, nil
  local function read(some) return run_each(chunk, args[1], some, out, host) end
  local function take(job, file, message)
    local taken, data, shown = 0, nil, nil
    if file then taken, data, shown = tables_in(file, missing) end
    if not taken and #job > 1 then return run.APART end
    message = message or not taken and data or nil
    if message then log("map", job[1], message) end
    if not taken then taken, data = 0, nil end
    n, failed, show = n + taken, failed + #job - taken, show or shown
    for i = 1, #job do
      local ok, why = add_result(all, job.first + i - 1, i == 1 and data or nil)
      if not ok and #job > 1 then return run.APART end
      if not ok then wrong = ("%s: %s"):format(job[1], why) end
    end
    return wrong and run.STOP
  end
  run.children(host, read, run.jobs(args[1], paths, at_a_time ~= nil), at_a_time, take)
  missing:log_totals(#paths)
  if wrong then return nil, "map: these results cannot be merged: " .. wrong end
  if n < #paths then
    log("map", nil, ("%d of %d recordings are not in the result"):format(#paths - n, #paths))
  end
  local data = all:result()
  if not data then return FAILED end
  if n < #paths and host.interrupted() then
    data.interrupted = interrupted.least(data.interrupted, n / #paths)
  end
  local ok, message = result.write(Table.new(data, show), args, out)
  if not ok then return nil, message end
  return failed > 0 and FAILED or 0
end

---@param args table
---@param out file*
---@param host table of the interpreter
---@return integer | nil status
---@return string | nil message
function tool.run(args, out, host)
  local at_a_time = math.tointeger(tonumber(args.j))
  local wrong = result.wrong(args)
    or args.j and not (at_a_time and at_a_time > 0)
    and ("-j: a number of processes, not '%s'"):format(args.j)
  if wrong then return USAGE, "map: " .. wrong end
  local chunk, message = loadfile(args[1])
  if not chunk then return nil, message end
  if #args == 2 then return run_one(chunk, args, out, host) end
  for i = 2, #args do
    if args[i] == "-" then
      return USAGE, "map: standard input is one recording, to be read alone"
    end
  end
  return run_many(chunk, args, out, host, at_a_time)
end

return tool
