-- Names by which rows of two recordings are matched: binaries by their file name, call chains
-- by their functions, all after the renaming that was asked for.

local has = require("perflua.filter.kinds").has

local names = {}

-- Returns whether a key is a binary: "dso", "dso_daddr", "frame.dso", "callchain[1].dso".
local function is_binary(key)
  local field = key.text or key.name
  return field:find "%f[%w]dso$" ~= nil or field:find "%f[%w]dso_%w+$" ~= nil
end

-- The name of a binary without its directories. A kernel has one name, wherever its symbols
-- came from.
local function name_of_binary(path)
  local base = path:match "([^/]+)$" or path
  if base:find "^vmlinux%f[^%w]" or path:find "^%[kernel" then return "[kernel.kallsyms]" end
  return base
end

local function rename_frames(stack, match)
  return (stack:gsub("[^;]+", match))
end

---Returns a function that matches the keys of a group.
---@param keys { name: string, kind: string, text: string? }[]
---@param match table<string, string> renames values of keys, and functions of folded stacks
---@return fun(values: table): string, table # what equal groups have in common; and the values
--- that are shown
function names.matcher(keys, match)
  local renames, binaries = next(match) ~= nil, {}
  for i, key in ipairs(keys) do binaries[i] = key.kind == "string" and is_binary(key) end
  local function value_of(value, i)
    if type(value) ~= "string" then return value end
    if binaries[i] then value = name_of_binary(value) end
    if not renames then return value end
    return match[value] or rename_frames(value, match)
  end
  return function(values)
    local shown, parts = {}, {}
    for i = 1, #keys do
      local value = value_of(values[i], i)
      local text = tostring(value)
      if renames and has.stack(value) then text = rename_frames(text, match) end
      shown[i], parts[i] = value, ("%s%d:%s"):format(math.type(value) and "n"
        or type(value):sub(1, 1), #text, text)
    end
    return table.concat(parts), shown
  end
end

return names
