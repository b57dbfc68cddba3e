-- Whether the paths that a user gives are what they should be.

local errno = require("perflua.errors").errno

local paths = {}

local LOOK = 256 -- bytes that tell what a file is

local says = {
  ELF = function(head) return head:sub(1, 4) == "\x7fELF" or "not an ELF file" end,
  kallsyms = function(head)
    return head == "" or head:find("^%s*%x+ %a %S") ~= nil
      or "not a list of symbols like /proc/kallsyms"
  end,
}

---@param path string
---@param kind "directory"|"ELF"|"kallsyms" what it should be; an empty file is a list of no
--- symbols
---@return string? message, string? code # what is wrong with it; nil: nothing is
function paths.wrong(path, kind)
  local file <close>, message, code = errno(io.open(path, "rb"))
  if not file then return message, code end
  local head
  head, message, code = errno(file:read(LOOK))
  if kind == "directory" then
    if code == "EISDIR" then return nil end
    return path .. ": not a directory", "ENOTDIR"
  end
  if code then return ("%s: %s"):format(path, message), code end
  local verdict = says[kind](head or "")
  if verdict ~= true then return ("%s: %s"):format(path, verdict), "FORMAT" end
end

return paths
