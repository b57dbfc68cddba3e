-- Rows inside records in plain Lua: the items of a view, as loops over it find them.
--
-- A context of a row is { of = the context of its record or span, item }.

local closures = require "spec.support.model.closures"

local items = {}

local function kind_of(mode, dso)
  return mode == "user" and dso:find "perf%-%d+%.map$" and "jit" or mode
end

-- The items of a sample as a loop over its view finds them, each as a table of its members.
items.of = {
  callchain = function(s)
    local list, chain = {}, s.callchain
    for i = 1, chain and #chain or 0 do
      local frame = chain[i]
      list[i] = {
        index = i, ip = frame.ip, symbol = frame.symbol, symoff = frame.symoff, dso = frame.dso,
        srcline = frame.srcline, kind = kind_of(frame.cpumode, frame.dso), inlined = false,
      }
    end
    if #list == 0 and s.ip then
      list[1] = { index = 1, ip = s.ip, symbol = s.symbol, symoff = s.symoff, dso = s.dso,
        srcline = s.srcline, kind = kind_of(s.cpumode, s.dso), inlined = false }
    end
    return list
  end,
  branch_stack = function(s)
    local list, stack = {}, s.branch_stack
    for i = 1, stack and #stack or 0 do
      list[i] = { index = i }
      for name, value in pairs(stack[i]) do list[i][name] = value end
    end
    return list
  end,
  read = function(s)
    local list, read = {}, s.read
    if read and #read == 0 and read.value then
      list[1] = { index = 1, value = read.value, id = read.id, lost = read.lost,
        event = s.event }
    end
    for i = 1, read and #read or 0 do
      list[i] = { index = i, value = read[i].value, id = read[i].id, lost = read[i].lost,
        event = read[i].event }
    end
    return list
  end,
  regs_user = function(s)
    local list = {}
    for name, value in pairs(s.regs_user or {}) do
      if name ~= "abi" then
        list[#list + 1] = { index = #list + 1, name = name, value = value }
      end
    end
    return list
  end,
}

items.of.regs_intr = function(s) return items.of.regs_user { regs_user = s.regs_intr } end

---Has the rows of a query be items: of contexts that its filters before unnest let pass.
---@param is table spec.unnest
---@param filters perflua.Filter[] of rows
---@param next_context fun(): any
---@param reader fun(ref: table): fun(context: any): any
---@param record_of fun(context: any): perflua.Record whose items these are
---@param met fun(context: any)? told of each context, before its rows
---@return fun(): table? next_row
---@return fun(ref: table): fun(row: table): any reader
function items.rows(is, filters, next_context, reader, record_of, met)
  local function access(ref)
    if ref.item then return function(row) return row.item[ref.item] end end
    if ref.kind ~= "function" and not ref.path then return closures(ref.node, access) end
    local read = reader(ref)
    return function(row) return read(row.of) end
  end
  local tests = {}
  for i, filter in ipairs(filters) do
    tests[i] = filter.node and closures(filter.node, access)
      or access { kind = "function", get = filter.fn }
  end
  local once = is.once and access(is.once)
  local of, list, at, seen = nil, {}, 0, {}
  local function passes(row)
    for i = 1, #tests do
      if not tests[i](row) then return false end
    end
    if not once then return true end
    local value = once(row)
    if value == nil or value ~= value then value = items end
    if seen[value] then return false end
    seen[value] = true
    return true
  end
  return function()
    while true do
      while at < #list do
        at = at + 1
        local row = { of = of, item = list[at] }
        if passes(row) then return row end
      end
      of = next_context()
      if of == nil then return nil end
      if met then met(of) end
      local record = record_of(of) -- nil: no record closed the span
      list, at, seen = record and items.of[is.view](record) or {}, 0, {}
    end
  end, access
end

return items
