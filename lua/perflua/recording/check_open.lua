-- Raises at the script's line if a File is closed.

local guard = require "perflua.errors.guard"

local EVERY_RECORD = 0 -- any type would do

---@param file perflua.File
local function check_open(file) guard(file.fields, file, EVERY_RECORD) end

return check_open
