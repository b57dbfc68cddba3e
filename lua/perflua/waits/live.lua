-- Memory that was allocated and has not been freed: which pointers are live, and whose they
-- are.

local live = {}

local Live = {}
Live.__index = Live

local MOST <const> = 1 << 20 -- pointers that are followed at once
local FIRST <const> = 4096 -- places before they are swept for the first time
-- what the kernel gives for no bytes (ZERO_SIZE_PTR) is never freed
local ZERO_SIZE <const> = 16

-- Makes an index of pointers that are or were live: a place with row, bytes and CPU for each.
-- Places of dead pointers are kept for a while, as allocators return the same addresses again
-- and again.
---@return table # { live, failed, unfollowed, unseen, unknown }
function live.new()
  return setmetatable({
    place_of = {}, owner = {}, bytes = {}, cpu = {}, places = 0, limit = FIRST,
    live = 0, failed = 0, unfollowed = 0, unseen = 0, unknown = 0,
  }, Live)
end

local function sweep_table(self)
  local place_of, owner, bytes, cpu, n = {}, {}, {}, {}, 0
  for ptr, i in pairs(self.place_of) do
    if self.owner[i] then
      n = n + 1
      place_of[ptr], owner[n], bytes[n], cpu[n] = n, self.owner[i], self.bytes[i], self.cpu[i]
    end
  end
  self.place_of, self.owner, self.bytes, self.cpu, self.places = place_of, owner, bytes, cpu, n
  self.limit = math.max(FIRST, 2 * n)
end

-- Returns a new place, nil if there are too many.
local function find_slot(self, ptr)
  if self.places >= self.limit then sweep_table(self) end
  if self.live >= MOST then return nil end
  local i = self.places + 1
  self.places, self.place_of[ptr], self.owner[i] = i, i, false
  return i
end

---@param row table { allocs, requested, allocated, … }
---@param ptr integer
---@param requested integer
---@param allocated integer
---@param cpu integer|false
function Live:alloc(row, ptr, requested, allocated, cpu)
  if ptr == 0 then
    self.failed = self.failed + 1
    return
  end
  row.allocs = row.allocs + 1
  row.requested, row.allocated = row.requested + requested, row.allocated + allocated
  local i = self.place_of[ptr] or find_slot(self, ptr)
  if not i then
    self.unfollowed = self.unfollowed + 1
  else
    if self.owner[i] then self.unseen = self.unseen + 1 else self.live = self.live + 1 end
    self.owner[i], self.bytes[i], self.cpu[i] = row, allocated, cpu
  end
end

---@param ptr integer
---@param cpu integer|false
function Live:free(ptr, cpu)
  local i = self.place_of[ptr]
  local row = i and self.owner[i]
  if row then
    self.owner[i], self.live = false, self.live - 1
    row.frees, row.freed = row.frees + 1, row.freed + self.bytes[i]
    if self.cpu[i] ~= cpu then row.moved = row.moved + 1 end
  elseif ptr ~= 0 and ptr ~= ZERO_SIZE then
    self.unknown = self.unknown + 1
  end
end

---Adds to each row what is left of it. Call it once, at the end.
function Live:finish()
  for i = 1, self.places do
    local row = self.owner[i]
    if row then row.left, row.left_bytes = row.left + 1, row.left_bytes + self.bytes[i] end
  end
end

---@param list table of table/result_table.lua
function Live:note(list)
  list:note("failed", self.failed, "{allocation|allocations} failed and {is|are} not counted")
  list:note("unseen", self.unseen,
    "{allocation was|allocations were} freed without a record: the same address was allocated "
      .. "again")
  list:note("unknown", self.unknown,
    "{free is|frees are} of memory that was allocated before the recording")
  list:note("unfollowed", self.unfollowed,
    "{allocation was|allocations were} not followed: too many were live")
end

return live
