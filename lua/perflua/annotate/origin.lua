-- The head of a listing: the files that it comes from, what proves that they are the recorded
-- ones, and what is not as it should be.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"

local origin = {}

---Returns what proves that code is the recorded one, in a few words.
---@param binary perflua.Binary
---@param program table? what bpf.find() gave
---@return string?
function origin.proof(binary, program)
  if program then return "tag " .. program.tag end
  if binary.build_id then return "build-id " .. binary.build_id end
  if binary.kind == "jit" then return "written by the process" end
  if binary.unproven or binary.proof and (binary.kind == "file" or binary.kind == "module") then
    return "no build-id recorded; device, inode and generation are the recorded ones, or "
      .. "--any-binary was given"
  end
  return nil
end

---Returns lines that say where a listing comes from, for its head.
---@param self perflua.Listing
---@return string[]
function origin.lines(self)
  local lines = {}
  local function add(...) lines[#lines + 1] = fmt.escape((...):format(select(2, ...))) end
  if self.program then
    add("code: the recording itself (%s), %s", self.machine, self.proof)
  elseif self.code then
    add("code: %s (%s)%s", self.code_file, self.machine, self.proof and ", " .. self.proof
      or "")
  else
    add("no instructions: %s%s", self.reason, self.code_file and ": " .. self.code_file or "")
    if self.proof then add("symbols: %s, %s", self.binary.symbol_file or "?", self.proof) end
  end
  add("lines: %s", self.program and next(self.program.texts) and "the recording itself"
    or self.lines_file or "no debug information was found")
  for _, change in ipairs(self.changes) do add("%s", change) end
  if self.unknown > 0 then
    add("%s unknown to libcapstone %s", fmt.phrase(self.unknown, "{byte|bytes}"),
      core.capstone)
  end
  if self.missing > 0 then
    add("the file lacks the last %s of the function", fmt.phrase(self.missing,
      "{byte|bytes}"))
  end
  if self.between > 0 then
    add("%s between instructions, shown at the one that covers them",
      fmt.phrase(self.between, "{sample|samples}"))
  end
  if self.outside > 0 then
    add("%s beyond the code that is there", fmt.phrase(self.outside, "{sample|samples}"))
  end
  return lines
end

return origin
