-- A script's description of itself, for `perflua help SCRIPT` and `perflua SCRIPT --help`.

local fmt = require "perflua.text.fmt"
local needs = require "perflua.meta.needs"
local options = require "perflua.options"

---@param path string of the script
---@param meta table its description
---@return string # for people; raises what is wrong with meta
return function(path, meta)
  local declared = options.declare(meta.options or {})
  local title = meta.description ~= nil and ("%s: %s"):format(path, tostring(meta.description))
  local text = { title and fmt.escape(title) .. "\n" or "", options.usage(declared, path) }
  for _, line in ipairs(needs.lines(meta)) do text[#text + 1] = line .. "\n" end
  local help = options.help(declared)
  if help ~= "" then text[#text + 1] = "\n" .. help end
  return table.concat(text)
end
