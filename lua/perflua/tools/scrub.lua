-- perflua scrub IN -o OUT: a recording without what may not leave the house.

local amounts = require "perflua.doctor.words"
local core = require "perflua.core"
local errors = require "perflua.errors"
local output = require "perflua.table.output"
local recording = require "perflua.recording"
local rules = require "perflua.write.rules"
local sharing = require "perflua.doctor.sharing"
local writing = require "perflua.toolkit.writing"

local tool = {
  description = "write a recording without names and other data that may not leave the house",
  usage = "scrub [--preset NAME] [--keep KINDS] [--hash KINDS] [--drop KINDS] IN -o OUT",
  reads = "records", paged = false,
  options = writing.with_options {
    preset = { "NAME", "the rules to begin with: anonymous (default) or share",
      values = { "anonymous", "share" } },
    keep = { "KINDS", "keep data of these kinds, which commas separate" },
    hash = { "KINDS", "replace names of these kinds by hashes" },
    drop = { "KINDS", "drop data of these kinds" },
    addresses = "make addresses relative to their binary",
    key = { "FILE", "the key of the hashes: with it they are the same in all recordings" },
    map = { "FILE", "write the table of hashes and names, for the owner of the recording" },
  },
}

local lines = {}
for i, kind in ipairs(rules.kinds()) do
  lines[i] = ("  %-11s %-9s %-5s %s"):format(kind.name, kind.anonymous, kind.share, kind.doc)
end

tool.help = [[
Names become hashes: equal names stay equal, so reports of the copy have the same numbers. What no
rule knows is dropped. Then says what remains, by kind, with examples. What becomes of the kinds by
each preset, where base hashes only the directory of a path:

  kind        anonymous share
]] .. table.concat(lines, "\n") .. [[


  $ perflua scrub perf.data -o scrubbed.data
  $ perflua scrub --preset share --keep comm --map names.txt perf.data -o scrubbed.data]]

-- Returns the bytes of the file of the key; nil and what is wrong.
local function read_key(path)
  local file <close>, message = io.open(path, "rb")
  if not file then return nil, "--key: " .. message end
  local key = file:read "a"
  if not key or key == "" then return nil, ("--key: %s: found no bytes"):format(path) end
  return key
end

function tool.prepare(args, out, host)
  local settings, message = writing.prepare(args, out, host)
  if not settings then return nil, message end
  local key
  if args.key then
    key, message = read_key(args.key)
    if not key then return nil, message end
  end
  if args.map and recording.is_at(args.map) then
    return nil, ("--map: %s: a recording is not overwritten: choose another name"):format(
      args.map)
  elseif args.map and not args.force and core.stat(args.map) then
    return nil, ("--map: %s: the file exists; --force replaces it"):format(args.map)
  end
  settings.scrub = { preset = args.preset, keep = args.keep, hash = args.hash,
    drop = args.drop, addresses = args.addresses, key = key }
  local ok, wrong = pcall(rules.of, settings.scrub)
  if not ok then
    return nil, (errors.strip_position(wrong):gsub("^scrub: ", "--", 1))
  end
  warn "@off" -- run() says the damage
  return settings
end

local function escape(text)
  return (text:gsub("[%c\\]", function(c) return ("\\x%02x"):format(c:byte()) end))
end

-- Writes the table of names, for its owner alone. Returns what went wrong.
local function write_map(path, names)
  local ok, message = output.to(path, function(write)
    for _, name in ipairs(names) do
      write(("%s\t%s\t%s\n"):format(escape(name[1]), name[2], escape(name[3])))
    end
  end, false, true)
  return not ok and message or nil
end

---@param file perflua.File
---@param args table
---@param out file*
---@param settings table
---@return integer? status
---@return string? message
function tool.run(file, args, out, settings)
  return writing.run("scrub", file:records { container = true }, args, out, settings, false,
    function(shown, summary)
      for _, line in ipairs(sharing.lines(summary.scrubbed)) do
        shown:write("  ", line, "\n")
      end
      for _, damage in ipairs(file.damage) do
        shown:write(("  lost at offset %d, %s: %s\n"):format(damage.offset,
          amounts.bytes(damage.size), damage.reason))
      end
      return args.map and write_map(args.map, summary.scrubbed.names)
    end)
end

return tool
