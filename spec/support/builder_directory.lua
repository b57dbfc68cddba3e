-- A directory as `perf record --threads` leaves it: `data` is a whole recording, data.0, data.1 … hold records alone.
local files = require "spec.support.files"

local directory = {}

-- Holds the directories; collecting it, at the latest when the run ends, removes them.
local made = setmetatable({}, {
  __gc = function(paths)
    for _, path in ipairs(paths) do
      os.remove(path)
    end
  end,
})

--- Writes them to a temporary directory, which goes away with the run; more: bytes by number. Returns its path.
function directory.write(data, more)
  local path = files.output "mktemp -d":match "%S+"
  local function add(name, bytes)
    files.write(path .. "/" .. name, bytes)
    made[#made + 1] = path .. "/" .. name
  end
  add("data", data)
  for n, bytes in pairs(more) do
    add("data." .. n, bytes)
  end
  made[#made + 1] = path
  return path
end

return directory
