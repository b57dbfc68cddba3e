-- The record types there are.

local core = require "perflua.core"

local types -- made when first asked for

---@return table # descriptions { id, name, doc, container, trailer, fields } by id and by name
return function()
  if not types then
    types = {}
    for _, desc in ipairs(core.types()) do
      types[desc.id], types[desc.name] = desc, desc
    end
  end
  return types
end
