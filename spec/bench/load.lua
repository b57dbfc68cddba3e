-- load.lua SECONDS: computes and allocates until the processor time is used up; part of load.

local deadline = os.clock() + tonumber(arg[1])

local function words(n)
  local list = {}
  for i = 1, n do
    list[i] = ("%x:%s"):format(i * 2654435761 % 4294967296, ("ab"):rep(i % 7))
  end
  return list
end

local function spell(list)
  local seen = {}
  for _, word in ipairs(list) do
    local stem = word:gsub("%d+", "0"):match "^[^:]*"
    seen[stem] = (seen[stem] or 0) + 1
  end
  return seen
end

while os.clock() < deadline do
  local list = words(40000)
  table.sort(list)
  spell(list)
  list = nil -- luacheck: ignore 311
  collectgarbage() -- what is freed here must be faulted in again
end
