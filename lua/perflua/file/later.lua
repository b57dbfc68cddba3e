-- The methods of a File that need maps and symbols.

local blame = require "perflua.errors.blame"

local later = {}

for _, name in ipairs { "resolve", "missing" } do
  later[name] = function() blame("file:%s() comes with a later version of perflua", name) end
end

return later
