-- Asks for the names of all addresses that occur in a recording.

local amounts = require "perflua.doctor.words"

local names = {}

-- Bits of sample_type.
local ADDR <const>, BRANCH_STACK <const> = 0x8, 0x800
local CALLCHAIN <const>, REGS_USER <const>, STACK_USER <const> = 0x20, 0x1000, 0x2000

-- Returns whether samples of an event have one of these fields.
local function has(file, bits)
  for _, event in ipairs(file.events) do
    if event.sample_type & bits ~= 0 then return true end
  end
  return false
end

---Looks up the functions of all samples, call chains, branches and data addresses.
---@param file perflua.File
function names.ask(file)
  local function each(query) query:count():first() end
  each(file:samples():group_by "symbol")
  if has(file, CALLCHAIN | BRANCH_STACK | REGS_USER | STACK_USER) then
    each(file:samples():group_by "stack")
  end
  if has(file, ADDR) then each(file:samples():group_by "symbol_daddr") end
  if has(file, BRANCH_STACK) then
    each(file:samples():unnest "branch_stack"
      :group_by("branch.symbol_from", "branch.symbol_to"))
  end
end

---@param found table the summary of core.pack()
---@param bytes integer of the bundle
---@return string
function names.describe(found, bytes)
  return ("%s of %s, and the lines of %s: %s"):format(amounts.count(found.symbols, "symbol"),
    amounts.count(found.binaries, "binary", "binaries"),
    amounts.count(found.lines, "address", "addresses"), amounts.bytes(bytes))
end

return names
