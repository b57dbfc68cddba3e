-- perflua dump FILE: every record with every field, as text or JSON. Lines are made by the core.

local perflua = require "perflua"

local tool = {
  description = "one line for each record, with every field",
  usage = "dump [--json] FILE",
  options = { json = "one JSON object a line; integers are exact" },
  help = [[
Records come in file order, the container's own among them.]],
}

---@param args table
---@param out file*
---@return integer | nil status
---@return string | nil message
function tool.run(args, out)
  local file <close>, message = perflua.open(args[1])
  if not file then
    return nil, message
  end
  file:dump(out, { json = args.json, container = true })
end

return tool
