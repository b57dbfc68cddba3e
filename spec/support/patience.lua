-- Specs that wait for what another process does in the meantime.
--
--   patience(function(slower) … ("sleep %g"):format(0.2 * slower) … end)

--- Calls fn(1), where nothing else runs; if it raises, on a machine that others keep busy,
--- fn(4), and fn(16), whose error is the caller's.
---@param fn fun(slower: integer) a factor for the times that it waits
return function(fn)
  for _, slower in ipairs { 1, 4 } do
    if pcall(fn, slower) then return end
  end
  fn(16)
end
