-- Stacks put together by what they have in common, caller by caller: the frames of a flame
-- graph.
--
-- Nodes are numbers; what is known of them lies in one array for each property, which takes a
-- quarter of what a table for each node would.

local tree = {}

tree.MAX_DEPTH = 1024 -- callees that lie deeper are cut off

local ROOT = 1

---@class perflua.flame.Tree
---@field names string[] the distinct ones
---@field name integer[] the place of a node's name among them
---@field kind string[] see kinds.lua
---@field total number[] of the node and all that it called
---@field own number[] of the node alone
---@field samples integer[]? how many samples are in the total; nil: it is not known
---@field binaries table<string, string>? by name, if one binary has all functions of that name
---@field srclines table<integer, string>? "path:line" of nodes whose line is known
---@field cut integer stacks that were cut off
---@field left { frames: integer, total: number } what was left out

-- Writes the names of the frames of an entry to `frames`, from the root on. Returns their
-- number.
local function split_stack(entry, reverse, frames)
  local n = 0
  for frame in entry.stack:gmatch("[^;]+") do
    n = n + 1
    frames[n] = frame
  end
  local letters = entry.kinds
  if reverse then
    for i = 1, n // 2 do frames[i], frames[n + 1 - i] = frames[n + 1 - i], frames[i] end
    letters = letters:reverse()
  end
  return n, letters
end

local function name_index(t, name)
  local id = t.ids[name]
  if not id then
    id = #t.names + 1
    t.names[id], t.ids[name] = name, id
  end
  return id
end

local function add_child(t, node, child)
  t.first[child], t.next[child] = 0, t.first[node]
  t.first[node] = child
end

local function child_of(t, node, name, letter)
  local id = name_index(t, name)
  local key = node << 32 | id
  local child = t.child[key]
  if not child then
    child = #t.name + 1
    t.child[key] = child
    t.name[child], t.kind[child], t.total[child], t.own[child] = id, letter, 0, 0
    if t.samples then t.samples[child] = 0 end
    add_child(t, node, child)
  end
  return child
end

-- Returns a tree of the root alone.
local function new_tree(counted)
  local t = { names = {}, ids = {}, child = {}, cut = 0, left = { frames = 0, total = 0 },
    name = {}, kind = { "n" }, total = { 0 }, own = { 0 },
    samples = counted and { 0 } or nil, first = { 0 }, next = { 0 } }
  t.name[ROOT] = name_index(t, "all")
  return t
end

---@param list table[] of { stack, value, kinds, samples }
---@param reverse boolean? callees first
---@param max_depth integer? default: 1024
---@return perflua.flame.Tree
function tree.build(list, reverse, max_depth)
  local t = new_tree(list[1] and list[1].samples)
  local frames, total, samples = {}, t.total, t.samples
  max_depth = max_depth or tree.MAX_DEPTH
  for _, entry in ipairs(list) do
    local n, letters = split_stack(entry, reverse, frames)
    local node, value = ROOT, entry.value
    total[ROOT] = total[ROOT] + value
    if samples then samples[ROOT] = samples[ROOT] + entry.samples end
    if n > max_depth then n, t.cut = max_depth, t.cut + 1 end
    for i = 1, n do
      local letter = letters:sub(i, i)
      node = child_of(t, node, frames[i], letter ~= "" and letter or "u")
      total[node] = total[node] + value
      if samples then samples[node] = samples[node] + entry.samples end
    end
    t.own[node] = t.own[node] + value
  end
  t.child, t.ids = nil, nil
  return t
end

---@param t table the nodes of a tree, as the core has them: src/binding/query/call_tree.c
---@return perflua.flame.Tree
function tree.of_nodes(t)
  t.cut, t.left = t.deep, { frames = t.small, total = t.small_total }
  t.first, t.next = { 0 }, { 0 }
  for child = 2, #t.caller do add_child(t, t.caller[child], child) end
  return t
end

-- Returns the children of a node that are large enough, by name; adds the totals of the others
-- to t.left.
local function kept_children(t, node, least)
  local kept, left, child = {}, t.left, t.first[node]
  while child ~= 0 do
    local total = t.total[child]
    if total >= least and total > 0 then
      kept[#kept + 1] = child
    else
      left.frames, left.total = left.frames + 1, left.total + total
    end
    child = t.next[child]
  end
  table.sort(kept, function(a, b) return t.names[t.name[a]] < t.names[t.name[b]] end)
  return kept
end

---Returns the frames as they are drawn: a caller before its callees, siblings by name from its
---left edge on. Frames below `least` and their callees are left out, and added to t.left.
---@param t perflua.flame.Tree
---@param least number
---@return table[] frames { node, depth from 0, start }
function tree.frames(t, least)
  local frames = {}
  local open = { { node = ROOT, depth = 0, start = 0 } } -- last is next
  while #open > 0 do
    local frame = table.remove(open)
    frames[#frames + 1] = frame
    local kept = kept_children(t, frame.node, least)
    local stop = frame.start
    for _, child in ipairs(kept) do stop = stop + t.total[child] end
    for i = #kept, 1, -1 do
      stop = stop - t.total[kept[i]]
      open[#open + 1] = { node = kept[i], depth = frame.depth + 1, start = stop }
    end
  end
  return frames
end

return tree
