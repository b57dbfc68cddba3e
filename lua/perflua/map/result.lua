-- Output of map and reduce: a table, CSV, JSON or a partial result; and messages about
-- recordings on standard error.

local fmt = require "perflua.text.fmt"
local merge = require "perflua.table.merge"
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

-- Results that come in any order, put together in the order of their recordings: neighbours are
-- merged as soon as both are there, so that few wait.

local Segments = {}
Segments.__index = Segments

-- Adds the groups of data, or of nothing, to an accumulator, or to none yet.
local function add_to(all, data)
  if not data then return all end
  if not all then return merge.start(data) end
  local ok, message = all:add(data)
  return ok and all, message
end

-- Appends b to a, the segment before it.
local function join_tables(self, a, b)
  local all, message = add_to(a.all, b.all and b.all.data)
  if message then return nil, message end
  self.by_first[b.first], self.by_last[a.last] = nil, nil
  a.all, a.last = all, b.last
  self.by_last[a.last] = a
  return true
end

---@param i integer place of the recording among all
---@param data table? of a Table; nil if there is no result
---@return boolean? ok, string? message # nil if tables do not belong together; raises if a sum
--- grows too large
function Segments:add(i, data)
  local before, after = self.by_last[i - 1], self.by_first[i + 1]
  if before then
    local all, message = add_to(before.all, data)
    if message then return nil, message end
    self.by_last[i - 1], before.all, before.last = nil, all, i
  else
    before = { first = i, last = i, all = data and merge.start(data) }
    self.by_first[i] = before
  end
  self.by_last[i] = before
  if after then return join_tables(self, before, after) end
  return true
end

---@return table? # the data of all, when each of them was added; nil if there was none
function Segments:result()
  local whole = self.by_first[1]
  return whole and whole.all and whole.all.data
end

---@return table
function result.segments() return setmetatable({ by_first = {}, by_last = {} }, Segments) end

return result
