-- The keys that perf report -b has for branches: fields { name, kind, of, other, beside } of
-- rows that are branches. of: the member of a branch; other: what is shown where it is absent;
-- beside: other members by which rows are told apart, and which show in the same cell, by the
-- places that they have there (src/script/report.h).

local branches = {}

local fields = {}

for _, side in ipairs { "from", "to" } do
  local function of(name) return ("branch.%s_%s"):format(name, side) end
  -- of branches without a line
  local function else_of(name) return ("%s == nil and %s"):format(of "srcline", of(name)) end
  fields["symbol_" .. side] = { kind = "address", of = of "symbol", other = of "address",
    beside = { beside = of "kind" } }
  fields["dso_" .. side] = { kind = "string", of = of "dso" }
  fields["srcline_" .. side] = { kind = "address", of = of "srcline", other = of "address",
    beside = { beside = else_of "symbol", offset = else_of "symoff", binary = else_of "dso" } }
  fields["addr_" .. side] = { kind = "address", of = of "symbol", other = of "address",
    beside = { beside = of "kind", offset = of "symoff", binary = of "dso" } }
end
-- perf takes the target for the function and the binary of a branch, and shows the address of
-- an unknown one as it was recorded
fields.dso, fields.srcline = fields.dso_to, fields.srcline_to
fields.symbol = { kind = "address", of = "branch.symbol_to", other = "branch.to",
  beside = { beside = "branch.kind_to" } }
fields.mispredict = { kind = "boolean", of = "branch.mispred",
  beside = { beside = "branch.predicted" } }
fields.in_tx = { kind = "boolean", of = "branch.in_tx" }
fields.abort = { kind = "boolean", of = "branch.abort" }
fields.cycles = { kind = "unsigned", of = "branch.cycles" }

--- The keys of perf report -b, if none are named.
branches.DEFAULT = { "comm", "dso_from", "symbol_from", "symbol_to", "cycles" }

local headings = {
  dso_from = "Source Shared Object", dso_to = "Target Shared Object",
  symbol_from = "Source Symbol", symbol_to = "Target Symbol",
  srcline_from = "From Source:Line", srcline_to = "To Source:Line",
  addr_from = "Source Address", addr_to = "Target Address", abort = "Transaction abort",
  mispredict = "Branch Mispredicted", in_tx = "Branch in transaction",
  cycles = "Basic Block Cycles", dso = "Shared Object", symbol = "Symbol",
}

local shown = {
  mispredict = "mispredict", in_tx = "in_tx", abort = "abort", cycles = "cycles",
  dso = "dso", dso_from = "dso", dso_to = "dso",
  symbol = "symbol", symbol_from = "symbol", symbol_to = "symbol",
  addr_from = "location", addr_to = "location",
  srcline = "srcline", srcline_from = "srcline", srcline_to = "srcline",
}

---@param name string
---@return table? # a copy of the field, with its heading, and how its cells are shown
--- (src/script/report.h); nil: it is not of branches
function branches.field(name)
  local field = fields[name]
  return field and { name = name, kind = field.kind, of = field.of, other = field.other,
    beside = field.beside, heading = headings[name], shown = shown[name] or "plain" }
end

--- The column of instructions per cycle (report/ipc.lua), which options cannot name. As in
--- perf, it tells rows apart by the function that branches lead to.
branches.IPC = { name = "ipc_lbr", word = "ipc_lbr", kind = "address", of = "branch.symbol_to",
  other = "branch.to", beside = { binary = "branch.dso_to" },
  heading = "IPC   [IPC Coverage]", shown = "label" }

return branches
