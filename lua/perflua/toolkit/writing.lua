-- Options and messages of the tools that write a recording.

local amounts = require "perflua.doctor.words"
local core = require "perflua.core"
local write = require "perflua.write"

local writing = {}

-- The options of these tools.
writing.options = {
  o = { "OUT", "write to OUT; - is standard output, which gets pipe mode" },
  force = "replace OUT if it exists; never the recording that is read",
  pipe = "in pipe mode, as perf record -o - writes it; default: a file",
  compress = { choices = { "1", "2" },
    "compress the records by zstd; 2: in records of type COMPRESSED2, which perf 6.1 "
      .. "does not read" },
  sort = "in the order of time; a directory always is",
  level = { "N", "the level of compression; default: 1, which is fast" },
}

---@param more table options of a tool
---@return table # with those of these tools
function writing.with_options(more)
  for name, option in pairs(writing.options) do more[name] = option end
  return more
end

local units <const> = { [""] = 1, k = 1e3, m = 1e6, g = 1e9, t = 1e12 }

---@param word string "20M", "1.5 GB"
---@return integer? bytes
function writing.size_of(word)
  local number, unit = word:lower():match "^([%d.]+) ?([kmgt]?)b?$"
  number = number and tonumber(number)
  local bytes = number and number * units[unit]
  return bytes and bytes >= 1 and bytes < 2 ^ 62 and math.floor(bytes) or nil
end

---Checks the options of a tool, as its `prepare` (tools/init.lua). Returns those of
---Query:write(); or nil and what is wrong.
---@param args table
---@param out file*
---@param host table
---@return table?
---@return string?
function writing.prepare(args, out, host)
  if not args.o then return nil, "-o OUT says where to write the recording" end
  if args.o == "-" and out == io.stdout and host.is_terminal "stdout" then
    return nil, "a recording is binary, which a terminal cannot show: -o FILE says where to "
      .. "write it"
  end
  local level = args.level and math.tointeger(tonumber(args.level))
  if args.level and (not level or level < 1 or level > core.compress_most()) then
    return nil, ("--level: '%s' is not a level from 1 to %d"):format(args.level,
      core.compress_most())
  end
  return { pipe = args.pipe or args.o == "-", level = level, sort = args.sort,
    compress = args.compress and (tonumber(args.compress) or 1), force = args.force }
end

local function list(names) return table.concat(names, ", ") end

-- Adds what became of call chains.
local function note_chains(lines, summary)
  local function add(n, text, ...)
    if n > 0 then lines[#lines + 1] = text:format(amounts.count(n, "sample"), ...) end
  end
  add(summary.unwound, "%s unwound")
  add(summary.kept_stacks, "%s not unwound: the stack keeps its bytes, as it does not lead to "
    .. "the outermost frame")
  add(summary.merged_callchains, "%s merged with the user's part of the call chain")
  add(summary.unmatched_callchains, "%s without the user's part of the call chain, which was "
    .. "not recorded")
  add(summary.damaged_samples, "%s left out or without a new call chain: the parts do not fit")
end

-- Adds what could not be turned to another byte order.
local function note_order(lines, summary)
  local what = {}
  local function add(n, noun) if n > 0 then what[#what + 1] = amounts.count(n, noun) end end
  add(summary.unturned_records, "record")
  add(summary.unturned_data, "sample's data")
  if summary.unturned[1] then what[#what + 1] = "features: " .. list(summary.unturned) end
  if what[1] then
    lines[#lines + 1] = "left out, as the form is not known in the other byte order: "
      .. list(what)
  end
end

-- Adds lines on how several recordings became one.
local function note_merged(lines, merged, paths)
  for i, shift in ipairs(merged.shifts) do
    if shift ~= 0 then
      lines[#lines + 1] = ("%s: %.9f s added to its times: clocks are aligned by the wall "
        .. "clock"):format(paths[i], shift / 1e9)
    end
  end
  if merged.doubles > 0 then
    lines[#lines + 1] = ("%s of several recordings written once"):format(
      amounts.count(merged.doubles, "record"))
  end
  if merged.rebuilt > 0 then
    lines[#lines + 1] = amounts.count(merged.rebuilt, "build-id") .. " left out: an earlier "
      .. "recording has another one of the same binary"
  end
  if merged.unpacked then
    lines[#lines + 1] = "names that were packed left out: those of one recording may not be "
      .. "those of another"
  end
end

-- Returns what the written recording lacks, a line each.
local function notes(summary, selects, turns, paths)
  local lines = {}
  if summary.merged then note_merged(lines, summary.merged, paths) end
  if summary.every then
    lines[#lines + 1] = ("1 of %s of each event, with the period of all"):format(
      amounts.count(summary.every, "sample"))
  end
  note_chains(lines, summary)
  note_order(lines, summary)
  if summary.aux_records > 0 then
    lines[#lines + 1] = ("%s of AUX areas (%s) left out: %s"):format(
      amounts.count(summary.aux_records, "record"), amounts.bytes(summary.aux_bytes),
      (selects or summary.merged) and "a selection cannot be decoded"
        or turns and "they have the byte order of their processor"
        or "the data is not all there")
  end
  if summary.unfit[1] then
    lines[#lines + 1] = "features that a pipe cannot carry: " .. list(summary.unfit)
  end
  if summary.unreadable[1] then
    lines[#lines + 1] = "features that cannot be read: " .. list(summary.unreadable)
  end
  return lines
end

---Writes the recording, and says what was written.
---@param name string of the tool
---@param query perflua.Query
---@param args table
---@param out file*
---@param settings table of writing.prepare()
---@param selects boolean? whether records are left out
---@param more (fun(shown: file*, summary: table): string?)? says more of what was written, or
--- returns what went wrong
---@param bundle string? of core.pack()
---@return integer? status
---@return string? message
function writing.run(name, query, args, out, settings, selects, more, bundle)
  local target = args.o == "-" and out or args.o
  local summary, message, code = write.query(core.query_spec(query), target, settings, query,
    bundle)
  if not summary then
    local may_force = code == "EEXIST" and not args.force
    return nil, may_force and message .. "; --force replaces it" or message
  end
  local shown = args.o == "-" and io.stderr or out
  shown:write(("%s: %s, %s\n"):format(args.o == "-" and "perflua: " .. name or args.o,
    amounts.count(summary.samples, "sample") .. " in "
      .. amounts.count(summary.records, "record"), amounts.bytes(summary.bytes)))
  local turns = write.turns(core.query_spec(query).file, settings.byte_order)
  for _, line in ipairs(notes(summary, selects, turns, args[1])) do
    shown:write("  ", line, "\n")
  end
  if more then
    message = more(shown, summary)
    if message then return nil, message end
  end
  return 0
end

return writing
