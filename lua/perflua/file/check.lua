-- What the methods of a File ask before anything else.

local blame = require "perflua.errors.blame"
local guard = require "perflua.errors.guard"

local EVERY_RECORD = 0 -- any type would do

---Raises if file is not an open File.
---@param file any
---@param method string its name
local function check(file, method)
  if type(file) ~= "userdata" or getmetatable(file) ~= "perflua.file" then
    blame("%s: a File expected, got a %s; use file:%s(…)", method, type(file), method)
  end
  guard(file.fields, file, EVERY_RECORD)
end

return check
