-- Names as perf report prints them.

local names = {}

-- By their letter, see thread__find_map, tools/perf/util/event.c.
names.cpumodes = { k = "kernel", ["."] = "user", H = "hypervisor", g = "guest_kernel",
  u = "guest_user" }

---Returns short names of binaries: see dso__set_basename, tools/perf/util/dso.c.
---@param known table<string, string> what core.short_names() gave of a File that was read
---@return fun(dso: string | false | nil): string
function names.dsos(known)
  return function(dso)
    if not dso then return "[unknown]" end
    return known[dso] or dso:match("([^/]+)/*$") or dso
  end
end

---@param symbol string | integer | false | nil or its address in its binary, where it is not
--- known
---@return string
function names.symbol(symbol)
  if type(symbol) == "string" then return symbol end
  return symbol and ("0x%016x"):format(symbol) or "[unknown]"
end

return names
