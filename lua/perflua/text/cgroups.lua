-- Paths of control groups, as container engines make them.

local cgroups = {}

local ID <const> = ("%x"):rep(64) -- of a container
-- of a pod
local UUID <const> = "(%x%x%x%x%x%x%x%x)[-_]%x%x%x%x[-_]%x%x%x%x[-_]%x%x%x%x[-_]" .. ("%x")
  :rep(12)

---@param path string
---@return string # ids as short as docker ps and others show them
function cgroups.short(path)
  path = path:gsub(ID, function(id) return id:sub(1, 12) end)
  return (path:gsub(UUID, "%1"))
end

---@param path string
---@return string? # path of the innermost container that it is of; nil: of none
function cgroups.container(path)
  local stop
  for from, to in path:gmatch("()[^/]+()") do
    if path:sub(from, to - 1):find(ID) then stop = to - 1 end
  end
  return stop and path:sub(1, stop)
end

---@param path string
---@return string[] # of the groups that it is nested in
function cgroups.above(path)
  local list = {}
  for at in path:gmatch("()/") do
    local above = at == 1 and "/" or path:sub(1, at - 1)
    if above ~= path then list[#list + 1] = above end
  end
  return list
end

---Returns the names that paths are shown with: short, unless two would be the same then.
---@param rows table[] each with a path or nil, `group`
---@param full boolean?
---@return fun(path: string?): string
function cgroups.names(rows, full)
  local path_of = {}
  for _, row in ipairs(rows) do
    local short = row.group and cgroups.short(row.group)
    if short then
      path_of[short] = (path_of[short] == nil or path_of[short] == row.group) and row.group
    end
  end
  return function(path)
    if not path then return "[unknown]" end
    local short = cgroups.short(path)
    return not full and path_of[short] and short or path
  end
end

return cgroups
