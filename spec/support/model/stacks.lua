-- Call chains as Stacks, made frame by frame in plain Lua of what the recording had mapped.

local Scope = require("perflua.fields").class
local core = require "perflua.core"

local stacks = {}

local function is_jit(dso)
  return dso:find "^%[JIT%]" or dso:find "perf%-%d+%.map$" or dso:find "jitted%-%d+%-%d+%.so$"
end

---Returns what identifies a frame of a sample, from the mapping at its ip then.
---@param file perflua.File
---@param s perflua.Record
---@param frame table # { ip, cpumode, dso, symbol }
---@return string kind
---@return string? dso # nil: nothing was mapped there
---@return string? build_id
---@return integer address
function stacks.frame(file, s, frame)
  local at = file:resolve(s.pid or -1, frame.ip, s.time)
  local map = frame.dso ~= "[unknown]" and at and at.map
  if not map then return frame.cpumode, nil, nil, frame.ip end
  local dso = at.dso
  local is_absolute = is_jit(dso) or dso:find "^//anon" or dso:find "^bpf_"
    or dso:find "^%[kernel"
  return frame.cpumode == "user" and is_jit(dso) and "jit" or frame.cpumode, dso, map.build_id,
    is_absolute and frame.ip or frame.ip - map.start + map.pgoff
end

---Returns the frames of a sample's call chain, or one of its ip.
---@param s perflua.Record
---@return table[] # { ip, cpumode, dso, symbol }
function stacks.frames(s)
  local list, chain = {}, s.callchain
  for i = 1, chain and #chain or 0 do list[i] = chain[i] end
  return (list[1] or not s.ip) and list
    or { { ip = s.ip, cpumode = s.cpumode, dso = s.dso, symbol = s.symbol } }
end

local function make_getter(file)
  local set = core.stacks()
  return function(s)
    local numbers = {}
    for i, frame in ipairs(stacks.frames(s)) do
      local kind, dso, build_id, address = stacks.frame(file, s, frame)
      numbers[i] = core.stacks_frame(set, kind, dso, build_id, address, frame.symbol)
    end
    return numbers[1] and core.stacks_add(set, numbers)
  end
end

local stack = Scope.stack
function Scope:stack(text, chain) -- luacheck: ignore 122
  local ref = stack(self, text, chain)
  if chain == "values" then ref.get = make_getter(self.file) end
  return ref
end

return stacks
