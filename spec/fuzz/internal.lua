-- Errors that the library did not mean to raise, by what Lua says of them.
local patterns = {
  "attempt to", "bad argument", "stack overflow", "number has no integer", "C stack",
  "invalid value",
  "too many", "memory", "perflua/[%w_/]+%.lua:%d+:", "bad 'for'", "nested too deeply",
}

--- Raises if the message is one of those; text: what it may quote.
---@param message any
---@param text string
return function(message, text)
  assert(type(message) == "string", "an error that is not a string: " .. tostring(message))
  for _, pattern in ipairs(patterns) do
    assert(not message:find(pattern) or text:find(pattern), message)
  end
end
