-- Samples of some events together with the records that tell of lost ones, which a pass that pairs them has to know of.

local losses = {}

local LOST = { "lost", "lost_samples" }

---A Query in the order of time. Where nothing was lost it has the samples only, and is faster for it.
---@param file perflua.File
---@param names string[] events or globs that the recording has
---@return perflua.Query
function losses.with(file, names)
  if file.mode ~= "pipe" and not file:records({ type = LOST }):first() then return file:samples(names) end
  local tests = { "type_id ~= 9" }
  for _, name in ipairs(names) do tests[#tests + 1] = ("event == '%s'"):format(name) end
  return file:records({ type = { "sample", table.unpack(LOST) } }):where(table.concat(tests, " or "))
end

return losses
