-- Rows with a stack and an amount of time, as folded text or as a flame graph: for tools whose
-- rows are spans.

local flame = require "perflua.flame"
local fmt = require "perflua.text.fmt"
local folded = require "perflua.flame.folded"
local output = require "perflua.table.output"
local pair_counts = require "perflua.table.pair_counts"
local result_table = require "perflua.table.result_table"

local folded_rows = {}

folded_rows.options = {
  folded = "print folded stacks, as perflua fold does; weights are nanoseconds",
  svg = "draw a flame graph of them, as perflua flame does",
  o = { "FILE", "write to FILE; default: standard output" },
  title = { "TEXT", "the heading of the graph" },
}

---@param args table of the command line
---@return string? message # these options exclude each other
function folded_rows.wrong(args)
  if args.folded and args.svg then return "--folded and --svg exclude each other" end
  if (args.folded or args.svg) and (args.csv or args.json or args.count or args.sort) then
    return "--csv, --json, --count and --sort apply to the table only"
  end
  if args.o and not (args.folded or args.svg) then return "-o needs --folded or --svg" end
  if args.title and not args.svg then return "--title needs --svg" end
  return result_table.check_options(args)
end

-- Returns the rows of each stack as one, in the order of their names.
local function added_up(rows, headless)
  local by_text, list, split = {}, {}, folded.splitter(not headless and "n" or nil)
  for _, row in ipairs(rows) do
    local entry = by_text[row.stack]
    if not entry then
      entry = { value = 0, samples = 0 }
      entry.stack, entry.kinds = split(row.stack)
      by_text[row.stack], list[#list + 1] = entry, entry
    end
    entry.value, entry.samples = entry.value + row.value, entry.samples + row.count
  end
  table.sort(list, function(a, b) return a.stack < b.stack end)
  return list
end

-- The line below the title: what was measured, and what could not be paired.
local function about(file, args, tree, graph)
  local parts = { graph.measured,
    fmt.phrase(tree.samples and tree.samples[1] or 0, "{time|times}") }
  parts[#parts + 1] = graph.note
  parts[#parts + 1] = args.where and "where " .. args.where or nil
  parts[#parts + 1] = fmt.paths(file.path)
  local cmdline = file.features.cmdline
  parts[#parts + 1] = cmdline and table.concat(cmdline, " ") or nil
  return table.concat(parts, "  ·  ")
end

---@param file perflua.File
---@param args table of the command line
---@param out file*
---@param rows table[] { stack, value, count }; frames may have kinds, as in flame/folded.lua
---@param graph { title: string, measured: string, made: perflua.Table, headless: boolean? }
--- made: of spans, whose notes are told; headless: the first frames are no names of threads
---@return integer? status
---@return string? message
function folded_rows.write(file, args, out, rows, graph)
  local list, text = added_up(rows, graph.headless), pair_counts.text(graph.made.counts,
    "{time off CPU|times off CPU}")
  if text then io.stderr:write(text, "\n") end
  graph.note = text and text:sub(3)
  local ok, message = output.to(args.o and args.o ~= "-" and args.o or out, function(write)
    if args.folded then return folded.write(write, list) end
    local tree = flame.tree(list)
    flame.write(write, flame.graph(tree, { title = args.title or graph.title,
      about = about(file, args, tree, graph), unit = "ns", counted = "time",
      html = args.o and args.o:find "%.html?$" ~= nil }))
  end)
  return ok and 0 or nil, message
end

return folded_rows
