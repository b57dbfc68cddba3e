-- The pass that pairs records, as Lua text made for one query: what it reads of a record are locals c1, c2 …, what it
-- keeps of an open span the items of its state, which become locals o2, o3 … when it is closed.

local text = {}

local PASS = [[
  local read, row, fns, states, counts, ABSENT, span_meta, setmetatable = ...
  local v, root, n_states, limit = {}, {}, 0, states.FIRST_LIMIT
  local pairs, unopened, restarted, lost, unkeyed, n_held, n_lost = 0, 0, 0, 0, 0, 0, 0
  local queue, at, held -- records whose span has ended, and what is known of it
  local function finish()
    counts.pairs, counts.unopened, counts.unclosed = pairs, unopened, states.open(root, DEPTH)
    counts.restarted, counts.lost, counts.unkeyed = restarted, lost, unkeyed
  end
  local function step()
    while true do
      QUEUED
      READ
      local LOCALS
      if CLOSES then
        FIND_CLOSE
        if s and s[1] and TIME and TIME - s[1] >= 0 then
          CLOSED
          s[1] = false
          pairs = pairs + 1
        elseif TIME and HAS_CLOSE then
          unopened = unopened + 1
        else
          unkeyed = unkeyed + 1
        end
      end
      if OPENS then
        if TIME and HAS_OPEN then
          FIND_OPEN
          if s then
            if s[1] then
              restarted = restarted + 1
              RESTARTED
            end
            REUSED
          else
            n[LAST] = NEW
            n_states = n_states + 1
            if n_states > limit then n_states, limit = states.sweep(root, DEPTH) end
          end
        else
          unkeyed = unkeyed + 1
        end
      end
      OTHERS
      GIVEN
    end
  end
  return step, finish
]]

-- The queue of records whose span has ended.
local QUEUED = [[
  while queue do
    at = at + 1
    local row = queue[at]
    if not row then
      queue = nil
    else
      HELD
      MADE
      if KEPT then return RESULTS end
    end
  end
]]

-- What was found, if it is wanted.
local GIVEN = [[
  if start then
    MADE
    if KEPT then return RESULTS end
  end
]]

-- What is raised there is raised here.
local SOURCE = debug.getinfo(1, "S").source

-- A template with its words in capitals replaced.
local function filled(template, words) return (template:gsub("%u[%u_]+", words)) end
text.filled = filled

---@param prefix string
---@param places integer[]
---@return string # "c1, c2"
function text.list(prefix, places)
  local names = {}
  for i, place in ipairs(places) do names[i] = prefix .. place end
  return table.concat(names, ", ")
end

-- Finds the state of a key, if there is one: locals s.
function text.find(keys)
  if #keys == 1 then return ("local s = root[c%d]"):format(keys[1]) end
  local lines = { ("local n = root[c%d]"):format(keys[1]) }
  for i = 2, #keys - 1 do lines[i] = ("n = n and n[c%d]"):format(keys[i]) end
  lines[#keys] = ("local s = n and n[c%d]"):format(keys[#keys])
  return table.concat(lines, "\n")
end

-- The same, with the tables on the way made: locals n, s.
function text.reach(keys)
  local lines = { "local n = root" }
  for i = 1, #keys - 1 do
    lines[#lines + 1] = ("do local m = n[c%d] if not m then m = {} n[c%d] = m end n = m end"):format(keys[i], keys[i])
  end
  lines[#lines + 1] = ("local s = n[c%d]"):format(keys[#keys])
  return table.concat(lines, "\n")
end

---@param words table<string, string>
---@return function # (read, row, fns, states, counts, ABSENT, span_meta, setmetatable) -> step, finish
function text.load(words)
  local pass = filled(PASS, { QUEUED = words.HELD and QUEUED or "", GIVEN = words.HELD and "" or GIVEN })
  pass = filled(pass, words)
  return assert(load(pass, SOURCE, "t"))
end

return text
