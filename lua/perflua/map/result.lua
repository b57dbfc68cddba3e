-- Output of map and reduce: a table, CSV, JSON or a partial result; and messages about
-- recordings on standard error.

local fmt = require "perflua.text.fmt"
local output = require "perflua.table.output"
local row_output = require "perflua.table.row_output"

local result = {}

result.options = row_output.with_csv_options {
  partial = "write a partial result: all groups, for perflua reduce",
  csv = "print the table as CSV",
  json = "print the table as JSON",
  o = { "FILE", "write to FILE; default: standard output" },
}

---@param args table
---@return string? # what is wrong with the options
function result.wrong(args)
  local n = 0
  for _, name in ipairs { "partial", "csv", "json" } do n = n + (args[name] and 1 or 0) end
  return n > 1 and "--partial, --csv and --json exclude each other" or nil
end

---@param made perflua.Table
---@param args table
---@param out file*
---@return boolean? ok, string? message
function result.write(made, args, out)
  local to = args.o and args.o ~= "-" and args.o or out
  if args.partial then return made:save(to) end
  if args.csv then return made:csv(to, args.csv) end
  if args.json then return made:json(to) end
  return output.to(to, function(text) text(tostring(made) .. "\n") end)
end

---@param tool string its name
---@param path string? the file that is meant: named once
---@param message string
function result.log(tool, path, message)
  if output.is_said_at_end(message) then return end
  if message == output.failure then -- of another file than `path`
    io.stderr:write("perflua: ", fmt.escape(message), "\n")
    return
  end
  if path and not message:find(path, 1, true) then message = path .. ": " .. message end
  io.stderr:write("perflua: ", tool, ": ", fmt.escape(message), "\n")
end

return result
