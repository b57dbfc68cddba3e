-- How map and reduce give their result: as a table for the eye, as CSV or JSON, or as a partial result.

local output = require "perflua.table.output"

local write = {}

write.options = {
  partial = "write the partial result: all groups, for perflua reduce",
  csv = "the table as CSV", ["csv-safe"] = output.CSV_SAFE,
  json = "the table as JSON",
  o = { "FILE", "where to write it; default: standard output" },
}

---@param args table
---@return string? # what is wrong with the options
function write.wrong(args)
  local n = 0
  for _, name in ipairs { "partial", "csv", "json" } do n = n + (args[name] and 1 or 0) end
  return n > 1 and "one of --partial, --csv and --json" or nil
end

---@param result perflua.Table
---@param args table
---@param out file*
---@return boolean? ok, string? message
function write.result(result, args, out)
  local to = args.o and args.o ~= "-" and args.o or out
  if args.partial then return result:save(to) end
  if args.csv then return result:csv(to, { safe = args.csv == "safe" }) end
  if args.json then return result:json(to) end
  return output.to(to, function(text) text(tostring(result) .. "\n") end)
end

return write
