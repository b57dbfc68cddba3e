-- The functions and threads that a condition asks for by name, so that a name which nothing has
-- can be told where nothing met the condition.

local parser = require "perflua.filter.parser"

-- Names of fields, also of items of call chains, by what they name.
local named_by = { comm = "threads", symbol = "functions", sym = "functions",
  ["frame.symbol"] = "functions" }

local function add_texts(list, nodes)
  for _, node in ipairs(nodes) do
    if node.op == "const" and node.kind == "string" then list[#list + 1] = node.value end
  end
end

local function add_names(names, node)
  local list = node.left and names[named_by[node.left.text]]
  if node.op == "and" or node.op == "or" then
    for _, part in ipairs(node.parts) do add_names(names, part) end
  elseif node.op == "call" and node.name == "under" then
    local name = node.args[1] and node.args[1].value
    local is_glob = type(name) == "string" and name:find "[*?%[]"
    if not is_glob then add_texts(names.functions, node.args) end
  elseif list and (node.op == "==" or node.op == "in") then
    add_texts(list, node.items or { node.right })
  end
end

---@param condition string
---@return { functions: string[], threads: string[] } # none of what must not be there
return function(condition)
  local names = { functions = {}, threads = {} }
  add_names(names, parser.expression(condition))
  return names
end
