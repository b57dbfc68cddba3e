-- The words of a result that an interrupt (^C) ended early.

local core = require "perflua.core"

local interrupted = { told = false }

---@return boolean # has there been an interrupt?
function interrupted.now() return (core.interrupted()) end

---@return number|true|nil # the part of the recording that the last pass read, if an interrupt
--- ended it; true: it is not known
---@return boolean # does its result lack names that were not read?
function interrupted.part()
  local _, part, is_unnamed = core.interrupted()
  return part, is_unnamed == true
end

---@param message any of an error
---@return boolean # is it of a pass that began after an interrupt, and read nothing?
function interrupted.came_before(message)
  return type(message) == "string" and message:find "interrupted$" ~= nil and interrupted.now()
end

---@param message any of an error
---@return boolean # is it of a pass that came to nothing because of an interrupt: one that
--- began later, or one that read names?
function interrupted.stops_pass(message)
  return interrupted.came_before(message)
    or type(message) == "string" and message:find "interrupted while reading names$" ~= nil
end

---@param part number|true
---@param is_unnamed boolean? does the result lack names? default: that of the last pass
---@return string # for people
function interrupted.text(part, is_unnamed)
  interrupted.told = true
  if is_unnamed == nil then is_unnamed = select(2, interrupted.part()) end
  local place = part == true and "before the end of the recording"
    or ("at %d %% of the recording"):format(math.floor(100 * part))
  return "interrupted " .. place .. (is_unnamed and ", before all names were read" or "")
end

---@param written integer
---@param n integer
---@return string # for people, of an interrupt that came while rows were written
function interrupted.rows(written, n)
  return ("interrupted while writing: %d of %d rows"):format(written, n)
end

---@param part number|true|nil default: that of the last pass
---@param is_unnamed boolean? as for text()
---@return number|true|nil # `interrupted` in JSON; nil: nothing was interrupted
---@return true? # `unnamed` in JSON
function interrupted.value(part, is_unnamed)
  local last, lacks = interrupted.part()
  part = part or last
  if is_unnamed == nil then is_unnamed = lacks end
  interrupted.told = interrupted.told or part ~= nil
  return type(part) == "number" and math.floor(100 * part) / 100 or part, is_unnamed or nil
end

---Says it on standard error, beside what other programs read.
---@param text string
function interrupted.log(text) io.stderr:write("# ", text, "\n") end

---@param a number|true|nil
---@param b number|true|nil
---@return number|true|nil # the part of a result made of both
function interrupted.least(a, b)
  if a == nil or b == nil then return a or b end
  if a == true or b == true then return true end
  return math.min(a, b)
end

return interrupted
