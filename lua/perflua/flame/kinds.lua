-- Kinds of frames, for their colour: a letter for each frame of a stack, callers first.
--
--   n  no code: the root, a command's name     k  kernel     i  inlined
--   u  user                                    j  made at run time (JIT)
--   p  no code: the thread was preempted

local kinds = {}

local annotated = { k = true, j = true, i = true }

local U = ("u"):byte()

-- Binaries that stand for code made at run time: perf's map files, and what `perf inject --jit`
-- writes.
local function is_jit(dso)
  return dso ~= nil and (dso:find("perf%-%d+%.map$") or dso:find("^%[JIT%]")
    or dso:find("jitted%-%d+%-%d+%.so$"))
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

---Returns the kind of the only frame of a sample without a call chain.
---@param record perflua.Record
---@return string
function kinds.alone(record) return kind_of(record.cpumode, record.dso) end

---Returns the name as `perflua fold --annotate` writes it, and other makers of folded stacks
---do.
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
  return name, name == "[preempted]" and "p" or nil
end

---Returns a function for many annotated stacks: it returns the names without their kinds, and a
---letter for each.
---@param first string? the letter of the first name, unless it says one: "n" of a command
---@return fun(text: string): string, string
function kinds.splitter(first)
  local bare, letter = {}, {} -- by name: most names are in many stacks
  setmetatable(bare, { __index = function(_, name)
    bare[name], letter[name] = kinds.parse(name)
    letter[name] = letter[name] or "u"
    return bare[name]
  end })
  return function(text)
    local stack = text:gsub("[^;]+", bare)
    local letters = text:gsub("[^;]+", letter):gsub(";", "")
    if first and letters:byte() == U then letters = first .. letters:sub(2) end
    return stack, letters
  end
end

return kinds
