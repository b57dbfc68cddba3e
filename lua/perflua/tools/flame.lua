-- perflua flame FILE -o flame.svg: a flame graph that needs nothing but a browser.

local flame = require "perflua.flame"
local folded = require "perflua.flame.folded"
local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local output = require "perflua.table.output"
local strip_position = require("perflua.errors").strip_position
local folding = require "perflua.toolkit.folding"
local stacks = require "perflua.flame.stacks"

local tool = {
  description = "draw a flame graph: an SVG to zoom and search in any browser",
  usage = "flame [options] FILE… -o FILE.svg",
  reads = "samples", several = true, passes = 2, paged = false,
  applies = { event = false },
  options = folding.with_options {
    o = { "FILE", "write the SVG to FILE, or HTML if it ends in .html; - is standard output" },
    folded = "FILE has folded stacks, from perflua fold or other tools; - is standard input",
    title = { "TEXT", "the heading" },
    inverted = "draw callers at the top and callees below them (icicle graph)",
    ["no-lines"] = "leave out the source lines of frames",
    ["max-depth"] = { "N", "leave out frames deeper than N in a stack" },
    reverse = "merge stacks from the callee: shows who calls expensive functions",
    colors = { "kind|warm|cool|gray",
      "color by kind of frame: user, kernel, JIT (default), or in one color" },
    width = { "PIXELS", "a fixed width; default: the window's" },
    ["min-share"] = { "PERCENT", ("leave out smaller frames; default: %s"):format(
      flame.MIN_SHARE) },
  },
  help = [[
In the graph: a click or Enter zooms in, Escape goes back; / or Ctrl-F searches for a text
or a regular expression, Enter, n and N step through the matches; arrows move. Icicle and Reverse turn
it. The address of the page keeps the zoom, the search and the direction. As HTML the page has a policy
by which a browser runs no other script and loads nothing.]],
}

-- Options that are numbers become numbers; what is wrong with one.
local function check_options(args)
  if not args.o then return "-o FILE.svg says where to write it; -o - is standard output" end
  local message = folding.wrong("by", args.by, stacks.heads)
    or folding.wrong("colors", args.colors, flame.schemes)
  if message then return message end
  local width, share = args.width, args["min-share"]
  args.width = width and math.tointeger(tonumber(width))
  if width and not (args.width and args.width >= 200 and args.width <= 100000) then
    return ("--width: from 200 to 100000 pixels, not '%s'"):format(width)
  end
  local depth = args["max-depth"]
  args.max_depth = depth and math.tointeger(tonumber(depth))
  if depth and not (args.max_depth and args.max_depth >= 1) then
    return ("--max-depth: a number of frames from 1 on, not '%s'"):format(depth)
  end
  args.min_share = share and tonumber((share:gsub("%%$", "")))
  if share and not (args.min_share and args.min_share >= 0 and args.min_share <= 100) then
    return ("--min-share: from 0 to 100 %%, not '%s'"):format(share)
  end
  if args.folded and type(args[1]) == "table" then
    return ("one argument too many: '%s'; --folded reads one file"):format(args[1][2])
  end
  for name in pairs(args) do
    if args.folded and (folding.reads(name) or name == "no-lines") then
      return ("--%s works for recordings, not of folded stacks"):format(name)
    end
  end
end

local function open_input(path)
  if path == "-" then return io.stdin end -- /dev/stdin cannot be opened where it is a socket
  return io.open(path, "rb")
end

local function read_folded(path)
  local file <close>, message = open_input(path)
  if not file then return nil, message end
  local ok, set
  ok, set, message = pcall(folded.read, file:lines()) -- which raises what reading raises
  if not ok then message = strip_position(set) end
  if message then return nil, ("%s: %s"):format(path, message) end
  return set
end

local function group_thousands(n)
  return (("%d"):format(n):reverse():gsub("%d%d%d", "%0,"):reverse():gsub("^,", ""))
end

-- The line below the title: what was measured, and how well.
local function describe_graph(set, tree, args)
  local parts = {}
  local function add(format, ...) parts[#parts + 1] = format:format(...) end
  if args.folded then
    add("%s folded stacks", group_thousands(#set.list))
  else
    add("%s", set.event_name)
    add("%s samples", group_thousands(set.samples))
    if set.lost then add("%s lost", group_thousands(set.lost)) end
    local unresolved = set.total > 0 and 100 * tree.unresolved / set.total or 0
    add("%.3g %% unresolved", unresolved)
    if set.cmdline then add("%s", table.concat(set.cmdline, " ")) end
  end
  if args.where then add("where %s", args.where) end
  local part = interrupted.part()
  if part then
    add("%s", interrupted.text(part))
    interrupted.told = false -- whoever waits for the file does not see it there
  end
  return table.concat(parts, "  ·  ")
end

-- Returns the unit of a weight: software clocks have periods of nanoseconds.
local function unit_of(set, args)
  if args.folded or args.count then return "samples" end
  local event = set.event
  if event and event.type == 1 and (event.config == 0 or event.config == 1) then return "ns" end
  return set.event_name:match("^([%w_.-]+):[%a]+$") or set.event_name
end

local function shown(args) return { lines = not args["no-lines"] } end

local function read_set(file, args)
  if args.folded then
    local set, message = read_folded(args[1])
    if set and set.skipped > 0 then
      folding.log("flame", "%s", fmt.phrase(set.skipped,
        "{line is not a folded stack|lines are not folded stacks}"))
    end
    if set and set.total <= 0 then return nil, args[1] .. ": no folded stacks" end
    return set, message
  end
  local set, message, status = folding.recording("flame", file, args, shown(args))
  if set and set.samples > 0 and set.total <= 0 then
    return nil, fmt.paths(args[1])
      .. ": all periods are 0: --count counts samples instead"
  end
  return set, message, status
end

function tool.prepare(args) return nil, check_options(args) end

-- Folded stacks are not a recording.
function tool.opens(args) return { not args.folded and args[1] or nil } end

function tool.explain(file, args)
  if args.folded then return nil, "--explain works for recordings, not for folded stacks", 2 end
  return folding.explain(file, args, shown(args),
    { { "C", "the tree of the stacks" }, { "Lua", "the graph, of the frames that it shows" } })
end

---@param file? perflua.File
---@param args table
---@param out file*
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out)
  local ok
  local set, message, status = read_set(file, args)
  if not set then return status, message end
  local shape = { reverse = args.reverse, max_depth = args.max_depth,
    min_share = args.min_share or flame.MIN_SHARE }
  local tree = args.folded and flame.tree(set.list, shape) or set:tree(shape)
  local graph = flame.graph(tree, {
    reverse = args.reverse, inverted = args.inverted, min_share = args.min_share,
    width = args.width, html = args.o:find "%.html?$" ~= nil, colors = args.colors,
    unit = unit_of(set, args), title = args.title or "Flame graph",
    about = describe_graph(set, tree, args),
  })
  ok, message = output.to(args.o == "-" and out or args.o, function(write)
    flame.write(write, graph)
  end)
  return ok and 0 or nil, message
end

return tool
