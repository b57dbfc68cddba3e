-- perflua symbol FILE ADDRESS: where the name of an address comes from, step by step.

local address = require "perflua.address"
local between = require "perflua.recording.between"
local interrupted = require "perflua.table.interrupted"
local json = require "perflua.text.json"
local show = require "perflua.address.show"

local tool = {
  description =
    "explain the symbol of an address step by step: mapping, binary, symbol file, line",
  usage = "symbol [--pid PID] [--time TIME] [options] FILE ADDRESS",
  reads = "records",
  takes = "symbols",
  options = {
    pid = { "PID", "the process that the address belongs to; not needed for the kernel" },
    time = { "TIME",
      "only at this time: seconds as perf prints them, or after the first sample: 1.5s, 20ms" },
    guest = { "PID", "the guest that this process of the host runs" },
    json = "one JSON object",
  },
  operands = { 1, 1 },
  help = [[
ADDRESS is hexadecimal, as perf script prints it. Shows the process, the mapping that covers the
address and the record that made it, the binary and the address in it, the files that were
tried for its symbols with the verdict on each, the symbol, the source line and the functions
inlined there. If a step fails, says what is missing and what to do.

Without --time, shows every time range with a different mapping; without --pid, shows the processes
that had the address mapped.]],
}

local USAGE = 2

-- Parses an option that is a process id; returns nil and a message if it is none.
local function process_of(args, name)
  if not args[name] then return nil end
  local pid = args[name]:find "^%d+$" and math.tointeger(tonumber(args[name]))
  if not pid or pid > 0x7fffffff then
    return nil, ("--%s: '%s' is not a process id"):format(name, args[name])
  end
  return pid
end

local function time_of(file, text)
  if not text then return nil end
  local ok, time = pcall(between.time, file, text:find "^%d+%.?%d*$" and "@" .. text or text,
    false)
  if ok then return time end
  return nil,
    ("symbol: --time: '%s' is not a time: seconds as perf prints them, 8590.143543%s")
      :format(text,
    file.first_time and ", or after the first sample, 1.5s 20ms 3us, or 10%" or "")
end

-- Addresses and texts for programs: of integers only times and counts stay numbers.
local addresses = {
  address = true, elf_address = true, start = true, stop = true, pgoff = true, addr = true,
}

local function make_plain(value, key)
  if math.type(value) == "integer" then
    return addresses[key] and json.address(value) or value < 0 and key ~= "pid"
      and json.unsigned(value) or value
  elseif type(value) ~= "table" then
    return value
  end
  for name, member in pairs(value) do value[name] = make_plain(member, name) end
  return value
end

function tool.prepare(args)
  local ip = address.parse(args[2])
  if not ip then
    return nil,
      ("'%s' is not an address: hexadecimal digits, with or without 0x"):format(args[2])
  end
  local pid, message = process_of(args, "pid")
  local guest, more = process_of(args, "guest")
  return { ip = ip, pid = pid, guest = guest }, message or more
end

---@param file perflua.File
---@param args table
---@param out file*
---@param asked { ip: integer, pid: integer?, guest: integer? }
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, asked)
  local time, message = time_of(file, args.time)
  if message then return USAGE, message end
  local report = address.explain(file, asked.ip,
    { pid = asked.pid, time = time, guest = asked.guest })
  report.interrupted, report.unnamed = interrupted.value()
  if args.json then
    out:write(json.encode(make_plain(report)), "\n")
  else
    out:write(table.concat(show(report), "\n"), "\n")
    if report.interrupted then out:write(interrupted.text(report.interrupted), "\n") end
  end
  return 0
end

return tool
