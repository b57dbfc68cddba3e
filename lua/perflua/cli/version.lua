-- The version of this program, and the libraries that were built in.

local core = require "perflua.core"

local version = {}

---@param host table what src/host/perflua.c gives
---@return string
function version.line(host)
  return ("perflua %s, %s"):format(host.version, host.lua)
end

---@param host table
---@return string # with what was built in
function version.text(host)
  return table.concat({
    version.line(host),
    "with zstd " .. core.zstd,
    "with elfutils " .. core.elfutils,
    core.demangles and "with libiberty"
      or "without libiberty: names of C++ and Rust are not demangled",
    core.capstone and "with libcapstone " .. core.capstone
      or "without libcapstone: annotate shows source lines and offsets, no instructions",
    host.libedit and "with libedit " .. host.libedit
      or "without libedit: the prompt has no line editing and no history",
    host.screen and "with ncurses " .. host.screen.version
      or "without ncurses: top and browse print tables",
  }, "\n") .. "\n"
end

return version
