-- A span, as loops and functions of a script see it.

local core = require "perflua.core"

---@class perflua.Span
---@field start integer ns
---@field stop integer? ns; nil: it is still open
---@field duration integer? ns
---@field key any what open and close have in common; an array if it is several fields
---@field open perflua.Record|table<string, any> the record that opened it; with `fields` a table of these
---@field close perflua.Record|table<string, any>|nil
local meta = { __name = "perflua.Span" }

function meta:__tostring()
  local till = self.stop and core.seconds(self.stop) or "?"
  return ("span %s - %s (%s ns)"):format(core.seconds(self.start), till, self.duration or "?")
end

return meta
