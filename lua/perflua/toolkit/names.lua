-- Asks for the names of all addresses that occur in a recording.

local annotate = require "perflua.annotate"
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

-- Returns the names of tracepoints whose texts name functions of the kernel.
local function naming_events(file)
  local found = {}
  for _, event in ipairs(file.events) do
    if (event.print_fmt or ""):find "%%[^%a%%]*p[FfSs]" then found[#found + 1] = event.name end
  end
  return found
end

---Looks up the functions of all samples, call chains, branches, data addresses, and texts of
---tracepoints.
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
  local naming = naming_events(file)
  -- no text is empty: the pass makes all texts, and keeps none
  if naming[1] then file:samples { event = naming }:where("message == ''"):count() end
end

---Reads the code and the source text of hot functions, as perflua annotate shows them.
---@param file perflua.File
---@param least number share of an event, in percent
function names.ask_source(file, least)
  local html = require "perflua.annotate.html" -- loaded when it is asked for
  local text = require "perflua.annotate.text"
  local read = annotate.read(file, {})
  local settings, seen = { percent_type = "local-period" }, {}
  local function drop() end
  for index in ipairs(read and file.events or {}) do
    for _, func in ipairs(read:hottest(index, least)) do
      if not seen[func] then
        local listing = read:listing(func)
        local event = listing:event(index)
        text.ask(listing)
        html.write(listing, event, settings, drop)
        seen[func] = true
      end
    end
  end
end

---@param found table the summary of core.pack()
---@param bytes integer of the bundle
---@return string
function names.describe(found, bytes)
  return ("%s of %s, and the lines of %s: %s"):format(amounts.count(found.symbols, "symbol"),
    amounts.count(found.binaries, "binary", "binaries"),
    amounts.count(found.lines, "address", "addresses"), amounts.bytes(bytes))
    .. (found.functions > 0 and ("; the code of %s, and %s of source"):format(
      amounts.count(found.functions, "function"), amounts.count(found.texts, "line")) or "")
end

return names
