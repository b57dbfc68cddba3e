-- What the tools for many recordings say of them, on standard error.

local fmt = require "perflua.text.fmt"

---@param tool string its name
---@param path string? the file that is meant: named once
---@param message string
return function(tool, path, message)
  if path and not message:find(path, 1, true) then message = path .. ": " .. message end
  io.stderr:write("perflua: ", tool, ": ", fmt.escape(message), "\n")
end
