-- What a script should know and that stops nothing: said through warn(), as damage is.

local fmt = require "perflua.text.fmt"

---@param format string for string.format
---@param ... any names from a recording are escaped
return function(format, ...) warn("perflua: " .. fmt.escape(format:format(...))) end
