-- Lua code at the worst moments: in finalizers, which run wherever something is allocated.
local finalizers = {}

--- Calls body() while hostile() runs in finalizers again and again, wherever the collector gets
--- to it.
function finalizers.during(body, hostile)
  local on = true
  local function again()
    setmetatable({}, { __gc = function()
      if on then
        again()
        hostile()
      end
    end })
  end
  collectgarbage("incremental", 1, 1000, 1)
  collectgarbage() -- from the end of a cycle on it does not pause any more
  again()
  local ok, message = pcall(body)
  on = false
  collectgarbage("incremental", 200, 100, 13)
  assert(ok, message)
end

--- Calls look(t) in the finalizer of t after those of all that fill(t) put into it.
function finalizers.last(fill, look)
  local seen
  do
    local t = setmetatable({}, { __gc = function(t) seen = table.pack(pcall(look, t)) end })
    fill(t)
  end
  collectgarbage()
  collectgarbage()
  assert(seen, "was not collected")
  return table.unpack(seen, 1, seen.n)
end

return finalizers
