-- What a frame is of, for its colour: a letter for each frame of a stack, callers first.
--
--   n  no code: the root, a command's name     k  kernel     i  inlined
--   u  user                                    j  made at run time (JIT)

local kinds = {}

local annotated = { k = true, j = true, i = true }

-- Binaries that stand for code made at run time: perf's map files, and what `perf inject --jit` writes.
local function is_jit(dso)
  return dso ~= nil and (dso:find("perf%-%d+%.map$") or dso:find("^%[JIT%]") or dso:find("jitted%-%d+%-%d+%.so$"))
    and true
end

local function kind_of(mode, dso)
  if mode == "kernel" or mode == "guest_kernel" or mode == "hypervisor" then return "k" end
  return is_jit(dso) and "j" or "u"
end

---@param frame table of a call chain
---@return string
function kinds.of_frame(frame)
  local mode = frame.cpumode
  return kind_of(mode, mode ~= "kernel" and frame.dso or nil)
end

---The frames of a sample, as its `stack` has them.
---@param record perflua.Record
---@return string
function kinds.of(record)
  local chain = record.callchain
  local n = chain and #chain or 0
  if n == 0 then return kind_of(record.cpumode, record.dso) end
  local letters = {}
  for i = n, 1, -1 do letters[#letters + 1] = kinds.of_frame(chain[i]) end
  return table.concat(letters)
end

---The name as `perflua fold --annotate` writes it, and as other makers of folded stacks do.
---@param name string
---@param kind string
---@return string
function kinds.annotate(name, kind)
  return annotated[kind] and ("%s_[%s]"):format(name, kind) or name
end

---@param name string of a frame in folded text
---@return string name, string? kind
function kinds.parse(name)
  local bare, kind = name:match("^(.+)_%[([kij])%]$")
  if bare then return bare, kind end
  return name
end

return kinds
