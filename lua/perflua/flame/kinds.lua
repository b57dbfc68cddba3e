-- Kinds of frames in folded text, for their colour: a letter for each frame of a stack, callers
-- first. Trees that the core makes have the same letters (src/export/export.h).
--
--   n  no code: the root, a command's name     k  kernel     i  inlined
--   u  user                                    j  made at run time (JIT)
--   p  no code: the thread was preempted

local kinds = {}

local U = ("u"):byte()

-- Returns the name of a frame without the mark of its kind, and the kind; nil: it has none.
local function parse_name(name)
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
    bare[name], letter[name] = parse_name(name)
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
