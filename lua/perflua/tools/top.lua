-- perflua top: where the time goes now, as perf top shows it.

local columns = require "perflua.report.columns"
local perflua = require "perflua"
local samples = require "perflua.toolkit.samples"
local screen = require "perflua.screen"
local symbols = require "perflua.toolkit.symbols"
local top = require "perflua.top"
local written = require "perflua.report.written"

local USAGE <const> = 2

local tool = {
  description = "where the time goes now: a report of a command, a machine or a stream",
  usage = "top [options] [-a | - | -- COMMAND…]",
  reads = "nothing", operands = { 0, math.huge }, paged = false,
  options = {
    a = "record all processors, which is the default without COMMAND",
    F = { "RATE", "samples a second, as perf record -F" },
    g = "record call chains",
    p = { "PID,…", "record these processes" },
    t = { "TID,…", "record these threads" },
    sort = { "FIELDS", "group by these fields, default comm,dso,symbol", fields = true },
    children = "count a sample for all functions of its call chain; default if there are call "
      .. "chains",
    ["no-children"] = "count a sample for its own function only",
    d = { "TIME", "the time between two tables, also --delay; default: 1s" },
    z = "count from zero after each table, also --zero",
    count = { "N", "show the first N rows of each event" },
    stdio = "print tables one after another, also on a terminal",
  },
  help = [[
Starts perf record and shows its samples as they come, or reads a stream of perf record -o - from
standard input with -. On a terminal it draws the table each second, and h lists its keys. Elsewhere, and
with --stdio, it prints a table each second and one at the end, which is that of perflua report. Options
such as --event and --cpu say what is recorded; of a stream, which samples are counted.]],
}

for name, option in pairs(samples.options) do
  if name ~= "time" then tool.options[name] = option end
end
for name, option in pairs(symbols.options) do tool.options[name] = option end

-- Long names of options, as perf top has them.
local letters = { ["--delay"] = "-d", ["--zero"] = "-z" }

---Puts an empty operand in front of the words of a command, which may look like options.
---@param args string[]
---@return string[]
function tool.spell_out(args)
  local spelled = {}
  for i, word in ipairs(args) do
    if word == "--" then
      spelled[#spelled + 1], spelled[#spelled + 2] = "--", ""
      return table.move(args, i + 1, #args, #spelled + 1, spelled)
    end
    local name, value = word:match "^(%-%-%a+)=(.*)$"
    spelled[#spelled + 1] = letters[word] or letters[name] and letters[name] .. value or word
  end
  return spelled
end

-- Returns the words of perf record; nil: a stream is read.
local function recorder(args)
  if args[1] == "-" then return nil end
  local words = { "perf", "record", "-q", "-o", "-", "--control=fd:3" }
  local function add(...) table.move({ ... }, 1, select("#", ...), #words + 1, words) end
  if args.event then add("-e", args.event) end
  if args.F then add("-F", args.F) end
  if args.g then add "-g" end
  if args.p then add("-p", args.p) end
  if args.t then add("-t", args.t) end
  if args.cpu then add("-C", args.cpu) end
  if args.a or not (args.p or args.t or args.cpu or args[1]) then add "-a" end
  if args[1] then
    add "--"
    table.move(args, 2, #args, #words + 1, words)
  end
  return words
end

-- Returns the options of top/init.lua; or nil, and what is wrong with those of the user.
local function parse(args)
  if args[1] and args[1] ~= "-" and args[1] ~= "" then
    return nil, ("'%s' is neither - nor a command after --: perflua report reads a file")
      :format(args[1])
  elseif args[1] == "" and not args[2] then
    return nil, "a command is missing: perflua top -- COMMAND"
  elseif args[1] == "-" and (args.a or args.F or args.g or args.p or args.t) then
    return nil, "-a, -F, -g, -p and -t are for recording, not for a stream"
  elseif args.children and args["no-children"] then
    return nil, "--children and --no-children exclude each other"
  end
  local parsed, message = columns.parse({ sort = args.sort }, {})
  if not parsed then return nil, message end
  local children
  if args.children or args["no-children"] then children = args.children or false end
  local interval
  interval, message = top.parse_delay(args.d or "1s")
  if not interval then return nil, "-d: " .. message end
  local count = args.count and math.tointeger(tonumber(args.count))
  if args.count and (not count or count < 0) then
    return nil, "--count: a number of rows expected, got " .. args.count
  end
  return { columns = parsed, children = children, interval = interval, zeroes = args.z,
    count = count }
end

-- Returns the options that choose samples of the stream. perf record has applied --event and
-- --cpu to what it records.
local function chosen_of(args, is_recorded)
  if not is_recorded then return args end
  return setmetatable({ event = false, cpu = false }, { __index = args })
end

local function print_file(file)
  if not file then return end
  file:seek("set", 0)
  io.stderr:write(file:read "a")
end

-- Opens the stream, and shows it. Returns as top.run().
local function show(args, out, host, options, is_screen, is_recorded)
  local file <close>, message = perflua.open("-", symbols.of(args, { options = { as = true } }))
  if not file then return nil, message end
  message = samples.choose(file, chosen_of(args, is_recorded))
  if message then return nil, message, USAGE end
  options.is_screen = is_screen
  options.wake = is_recorded and host.wake or function() end
  local is_first = true
  function options.write(made)
    if not is_first then out:write "\n\n" end
    is_first = false
    written.text(made, file, nil, out, args, options.columns)
    out:flush()
  end
  function options.open(commands)
    if not is_screen then return nil end
    return (screen.open(host, options.columns, commands,
      { "perflua top: " .. tool.description }))
  end
  return top.run(file, options)
end

---@param args table
---@param out file*
---@param host table of the interpreter
---@return integer | nil status
---@return string | nil message
function tool.run(args, out, host)
  local options, message = parse(args)
  message = message or symbols.wrong(args)
  if message then return USAGE, "top: " .. message end
  local is_screen = not args.stdio and host.screen and host.is_terminal "stdout"
  local words, pid, errors = recorder(args), nil, nil
  if words then
    pid, errors = host.record(words, is_screen)
    if not pid then return nil, "top: " .. errors end
  end
  local shown, why, status = show(args, out, host, options, is_screen, pid)
  if pid then
    if not shown then host.stop(pid, shown == nil and 1000 or 0) end
    local _, ended = host.wait()
    print_file(errors)
    if shown == nil and ended ~= 0 then
      return ended > 0 and ended or 1, ("top: perf record ended with status %d"):format(ended)
    elseif shown and ended ~= 0 then
      return ended > 0 and ended or 1
    end
  end
  if shown == nil then return status, "top: " .. why end
end

return tool
