-- Calls of the core for a script: what the core raises there is the script's error, at the script's line.

local blame = require "perflua.errors.blame"

local function result(ok, first, ...)
  if ok then return first, ... end
  return blame("%s", (tostring(first):gsub("^perflua: ", "")))
end

---@param fn function of the core, in C: called by pcall itself, so that its message names no line
---@param ... any
---@return any ... # what it returns
local function guard(fn, ...) return result(pcall(fn, ...)) end

return guard
