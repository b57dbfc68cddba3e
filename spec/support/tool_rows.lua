-- The rows of a tool's --csv, by the names of columns; numbers are numbers.

---@param text string without quoted fields
---@return fun(): table<string, any>?
return function(text)
  local lines = text:gmatch "([^\r\n]+)\r?\n"
  local function split(line)
    local fields = {}
    for field in (line .. ","):gmatch "([^,]*)," do fields[#fields + 1] = field end
    return fields
  end
  local names = split(assert(lines()))
  return function()
    local line, row = lines(), {}
    for i, field in ipairs(line and split(line) or {}) do
      row[names[i]] = tonumber(field) or field
    end
    return line and row
  end
end
