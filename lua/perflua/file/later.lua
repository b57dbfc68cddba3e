-- The methods of a File that need the recorded system: threads, maps, symbols.

local blame = require "perflua.errors.blame"

local later = {}

for _, name in ipairs { "thread", "threads", "resolve", "missing" } do
  later[name] = function() blame("file:%s() comes with a later version of perflua", name) end
end

return later
