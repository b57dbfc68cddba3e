-- perflua fold FILE: the distinct call chains of a recording, as flame graphs are made of.

local output = require "perflua.table.output"
local errno = require("perflua.errors").errno
local folding = require "perflua.toolkit.folding"
local stacks = require "perflua.flame.stacks"

local tool = {
  description = "fold call chains: one line for each distinct chain, with its weight",
  usage = "fold [options] FILE…",
  several = true,
  options = folding.with_options {
    annotate =
      "mark kernel frames with _[k], inlined frames with _[i], JIT frames with _[j]",
    o = { "FILE", "write to FILE; default: standard output" },
  },
  help = [[
Prints lines "command;caller;…;callee WEIGHT", the format of flame graph tools, sorted by name.
In names, ; becomes : and control characters become ?.]],
}

local USAGE = 2

---@param args table
---@param out file*
---@return integer | nil status
---@return string | nil message
function tool.run(args, out)
  local message = folding.wrong("by", args.by, stacks.heads)
  if message then return USAGE, "fold: " .. message end
  local set, status, ok
  set, message, status = folding.recording("fold", args, { names = not args.annotate })
  if not set then return status, message end
  ok, message = output.with_file(args.o or out, function(file)
    return errno(set:fold(file, args.annotate))
  end)
  return ok and 0 or nil, message
end

return tool
