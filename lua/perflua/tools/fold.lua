-- perflua fold FILE: the distinct call chains of a recording, as flame graphs are made of.

local output = require "perflua.table.output"
local errno = require("perflua.errors").errno
local folding = require "perflua.toolkit.folding"
local stacks = require "perflua.flame.stacks"

local tool = {
  description = "fold call chains: one line for each distinct chain, with its weight",
  usage = "fold [options] FILE…",
  reads = "samples", several = true, passes = 2, paged = false,
  applies = { event = false },
  options = folding.with_options {
    annotate =
      "mark kernel frames with _[k], inlined frames with _[i], JIT frames with _[j]",
    o = { "FILE", "write to FILE; default: standard output" },
  },
  help = [[
Prints lines "command;caller;…;callee WEIGHT", the format of flame graph tools, sorted by name.
In names, ; becomes : and control characters become ?.]],
}

function tool.prepare(args) return nil, folding.wrong("by", args.by, stacks.heads) end

local function shown(args) return { names = not args.annotate } end

function tool.explain(file, args)
  return folding.explain(file, args, shown(args), { { "C", "stacks, sorted by name" } })
end

---@param file perflua.File
---@param args table
---@param out file*
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out)
  local ok
  local set, message, status = folding.recording("fold", file, args, shown(args))
  if not set then return status, message end
  ok, message = output.with_file(args.o or out, function(to)
    return errno(set:fold(to, args.annotate))
  end)
  return ok and 0 or nil, message
end

return tool
