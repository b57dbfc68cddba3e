-- Stacks of saved Tables as tokens, and back, exactly.
--
-- A token is @ and the frames, separated by commas: N for the Nth frame of the line, or
-- KIND;BINARY;BUILD-ID;ADDRESS;SYMBOL, which is then the next one. BINARY, BUILD-ID and SYMBOL
-- are "TEXT, or ~ for none.

local core = require "perflua.core"

local stack_tokens = {}

local UNMAPPED = "[unknown]" -- the binary of frames without one
local MAX_ADDRESS = #"0x" + 16

local separators = { [","] = "\\2c", [";"] = "\\3b" }

---@param escape_text fun(text: string): string
---@return fun(stack: perflua.Stack): string # gives tokens, for one line
function stack_tokens.make_writer(escape_text)
  local function text_token(text)
    return text and '"' .. escape_text(text):gsub("[,;]", separators) or "~"
  end
  local function frame_token(frame)
    return ("%s;%s;%s;0x%x;%s"):format(frame.kind,
      text_token(frame.dso ~= UNMAPPED and frame.dso),
      text_token(frame.build_id), frame.address, text_token(frame.symbol))
  end
  local known, n = {}, 0 -- by the stacks that frames are of, and their numbers there
  return function(stack)
    local numbers, of = core.stack_frames(stack)
    known[of] = known[of] or {}
    for i, number in ipairs(numbers) do
      numbers[i] = known[of][number]
      if not numbers[i] then
        n = n + 1
        known[of][number], numbers[i] = n, frame_token(stack[i])
      end
    end
    return "@" .. table.concat(numbers, ",")
  end
end

---@param unescape_text fun(text: string): string
---@return fun(token: string): perflua.Stack? # reads tokens of one line; nil: it is no such
--- token
function stack_tokens.make_reader(unescape_text)
  local stacks, frames = core.stacks(), {}
  local function text_of(token) -- false: it is no text
    if token == "~" then return nil end
    return token:byte() == 34 and unescape_text(token:sub(2))
  end
  local function frame_of(token)
    local kind, dso, build_id, address, symbol =
      token:match("^([%l_]+);([^;]*);([^;]*);(0x%x+);([^;]*)$")
    if not kind or #address > MAX_ADDRESS then return nil end
    dso, build_id, symbol = text_of(dso), text_of(build_id), text_of(symbol)
    if dso == false or build_id == false or symbol == false then return nil end
    local number = core.stacks_frame(stacks, kind, dso, build_id, tonumber(address), symbol)
    frames[#frames + 1] = number
    return number
  end
  return function(token)
    local numbers = {}
    for one in token:gmatch("[^,]+", 2) do
      local number = frames[tonumber(one)] or frame_of(one)
      if not number then return nil end
      numbers[#numbers + 1] = number
    end
    return core.stacks_add(stacks, numbers)
  end
end

return stack_tokens
