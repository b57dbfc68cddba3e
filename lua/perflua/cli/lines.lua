-- -p LIST: a line for each sample, of the values that the list names.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local lexer = require "perflua.filter.lexer"
local usage_error = require("perflua.errors").usage_error
local spec_of = core.query_spec

local lines = {}

local depths = { ["("] = 1, ["["] = 1, ["{"] = 1, [")"] = -1, ["]"] = -1, ["}"] = -1 }

---Splits a list of expressions at the commas that are inside of none of them.
---@param list string
---@return string[] # raises a usage error
function lines.split(list)
  local ok, tokens = pcall(lexer.tokens, list)
  if not ok then
    usage_error("-p \"%s\", column %d: %s", list, tokens.at, tokens.message)
  end
  local parts, from, depth = {}, 1, 0
  for _, token in ipairs(tokens) do
    depth = depth + (depths[token.kind] or 0)
    if token.kind == "end" or token.kind == "," and depth == 0 then
      local part = list:sub(from, token.at - 1):match "^%s*(.-)%s*$"
      if part == "" then
        usage_error("-p \"%s\", column %d: a field or an expression is missing", list, token.at)
      end
      parts[#parts + 1], from = part, token.at + 1
    end
  end
  return parts
end

-- Returns the columns, and what to select for them. In loops an absent value is false: whether
-- a field that may be false is there is one more value, at `known_at`.
local function plan_columns(query, names)
  local columns, asked = {}, table.move(names, 1, #names, 1, {})
  for i, ref in ipairs(spec_of(query:select(table.unpack(names))).refs) do
    columns[i] = { kind = ref.kind }
    if ref.kind == "boolean" and ref.node.op == "field" then
      asked[#asked + 1] = names[i] .. " ~= nil"
      columns[i].known_at = #asked
    end
  end
  return columns, asked
end

local function format_value(value, column, values)
  if value == false then
    local is_value = column.kind == "boolean"
      and (not column.known_at or values[column.known_at])
    return is_value and "false" or "-"
  end
  return fmt.escape(fmt.exact(value, column.kind))
end

---Prepares the lines of a query's records: values separated by tabs, `-` for an absent one.
---Escapes what could be taken for a tab, an end of line or a terminal's command.
---@param query perflua.Query
---@param list string expressions, separated by commas; what is wrong with it raises
---@return fun(out: file*) write writes them
function lines.of(query, list)
  local columns, asked = plan_columns(query, lines.split(list))
  local values, cells = query:select(table.unpack(asked)), {}
  return function(out)
    values:each(function(...)
      local row = { ... }
      for i, column in ipairs(columns) do cells[i] = format_value(row[i], column, row) end
      out:write(table.concat(cells, "\t"), "\n")
    end)
  end
end

return lines
