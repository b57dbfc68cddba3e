-- A Table whose groups were put together by other keys: what a tool shows of a key may be less
-- than the key, as the name of a function is less than an address in it.

local tables = require "perflua.table"

---@param made perflua.Table whose measures are counts and sums
---@param names string[] of the new keys
---@param each fun(row: table, put: fun(keys: table<string, any>, sums:
--- table<string, integer>?)) gets each row, and may put it into groups: with all that was
--- counted of it, or with `sums`
---@return perflua.Table
return function(made, names, each)
  local measures, keys, groups = made.data.measures, {}, {}
  for i, name in ipairs(names) do keys[i] = { name = name, kind = "any" } end
  for row in made:rows() do
    each(row, function(values, sums)
      local group = { keys = {} }
      for i, name in ipairs(names) do group.keys[i] = values[name] end
      for m, measure in ipairs(measures) do group[m] = (sums or row)[measure.name] or 0 end
      groups[#groups + 1] = group
    end)
  end
  return tables.of({ description = made.data.description, keys = keys, measures = measures },
    groups)
end
