-- The keys that perf report -b has for branches: fields { name, kind, of, other, beside } of
-- rows that are branches. of: the member of a branch; other: what is shown where it is absent;
-- beside: another member by which rows are told apart, and which shows in the same cell.

local fmt = require "perflua.text.fmt"

local branches = {}

local fields = {}

for _, side in ipairs { "from", "to" } do
  fields["symbol_" .. side] = { kind = "address", of = "branch.symbol_" .. side,
    other = "branch.address_" .. side, beside = "branch.kind_" .. side }
  fields["dso_" .. side] = { kind = "string", of = "branch.dso_" .. side }
  fields["srcline_" .. side] = { kind = "string", of = "branch.srcline_" .. side }
  fields["addr_" .. side] = { kind = "address", of = "branch." .. side }
end
-- perf takes the target for the function and the binary of a branch
fields.symbol, fields.dso, fields.srcline = fields.symbol_to, fields.dso_to, fields.srcline_to
fields.mispredict = { kind = "boolean", of = "branch.mispred", beside = "branch.predicted" }
fields.in_tx = { kind = "boolean", of = "branch.in_tx" }
fields.abort = { kind = "boolean", of = "branch.abort" }
fields.cycles = { kind = "unsigned", of = "branch.cycles" }

--- The keys of perf report -b, if none are named.
branches.DEFAULT = { "comm", "dso_from", "symbol_from", "symbol_to", "cycles" }

---@param name string
---@return table? # a copy of the field; nil: it is not of branches
function branches.field(name)
  local field = fields[name]
  return field and { name = name, kind = field.kind, of = field.of, other = field.other,
    beside = field.beside }
end

local headings = {
  dso_from = "Source Shared Object", dso_to = "Target Shared Object",
  symbol_from = "Source Symbol", symbol_to = "Target Symbol",
  srcline_from = "From Source:Line", srcline_to = "To Source:Line",
  addr_from = "Source Address", addr_to = "Target Address", abort = "Transaction abort",
  mispredict = "Branch Mispredicted", in_tx = "Branch in transaction",
  cycles = "Basic Block Cycles", dso = "Shared Object", symbol = "Symbol",
}

---@param name string of a field of branches
---@return string # the heading of its column
function branches.heading(name) return headings[name] end

local marks = { kernel = "k", user = ".", jit = ".", guest_kernel = "g", guest_user = "u" }

local function symbol_cell(value, kind)
  if math.type(value) then value = ("%#.16x"):format(value) end
  return ("[%s] %s"):format(marks[kind] or "H", fmt.escape(value))
end

-- The short name of a binary: those of a module and of a kernel's file are in brackets, and
-- that of a perf map names the thread whose code it is of (see dso__set_basename,
-- tools/perf/util/dso.c).
local function dso_cell(value)
  local tid = value:match "^/tmp/perf%-(%d+)%.map"
  if tid then return "[JIT] tid " .. tid end
  local base = fmt.base_name(value)
  if base:find "^vmlinux%f[-.%z]" and value:find "/" then return "[kernel.vmlinux]" end
  local module = value:find "/" and base:match "^(.+)%.ko%f[.%z]"
  return fmt.escape(module and ("[%s]"):format(module:gsub("-", "_")) or base)
end

local cells = {
  mispredict = function(mispredicted, predicted)
    return predicted and "N" or mispredicted and "Y" or "N/A"
  end,
  in_tx = function(value) return value and "T" or "." end,
  abort = function(value) return value and "A" or "." end,
  cycles = function(value) return value == 0 and "-" or fmt.unsigned(value) end,
  dso = dso_cell, dso_from = dso_cell, dso_to = dso_cell,
  symbol = symbol_cell, symbol_from = symbol_cell, symbol_to = symbol_cell,
}

---@param name string of a field of branches
---@return fun(value: any, beside: any): string # makes the text of a cell; nil: as of any field
function branches.cell(name) return cells[name] end

return branches
