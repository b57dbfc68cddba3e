-- perflua fields FILE: what a script can read of this recording: each event and record type in
-- it, its fields, an example of each.

local fmt = require "perflua.text.fmt"
local survey = require "perflua.meta.survey"

local tool = {
  description = "the events and record types in a recording, their fields, an example of each",
  usage = "fields FILE…",
  reads = "records", several = true, passes = 2,
  refused = "it describes whole recordings",
  help = [[
The example is the first value found. A field without an example was absent from the records that were
looked at. args.NAME are the fields of a tracepoint, with their types. Events beyond the first 1000
with samples are only counted.]],
}

local MOST = 1000 -- events that are shown

-- Takes out of the parts the fields that all of them have, and returns these.
local function take_common(parts)
  local seen_in, common = {}, {}
  for _, part in ipairs(parts) do
    for _, field in ipairs(part.fields) do
      seen_in[field.name] = (seen_in[field.name] or 0) + 1
    end
  end
  for i, part in ipairs(parts) do
    local own = {}
    for _, field in ipairs(part.fields) do
      local list = seen_in[field.name] < #parts and own or i == 1 and common
      if list then
        table.insert(list, field)
      end
    end
    part.fields = own
  end
  return common
end

local columns = {
  { name = "  field", kind = "string" }, { name = "kind", kind = "string" },
  { name = "example", kind = "string" }, { name = "what", kind = "string" },
}

local function print_part(out, title, count, fields)
  local rows = {}
  for i, field in ipairs(fields) do
    rows[i] = { "  " .. field.name, field.kind, field.example or "-", field.doc }
  end
  out:write(("%s: %d record%s\n"):format(fmt.escape(title), count, count == 1 and "" or "s"),
    #rows > 0 and fmt.table(columns, rows) or "", "\n")
end

-- Prints the events that are only counted.
local function print_more(out, more)
  out:write(("and %d more event%s, which perflua stat lists: %d record%s\n\n"):format(
    more.events,
    more.events == 1 and "" or "s", more.records, more.records == 1 and "" or "s"))
end

---@param file perflua.File
---@param _ table
---@param out file*
---@return integer | nil status
---@return string | nil message
function tool.run(file, _, out)
  local parts, message = survey.of(file, MOST)
  if not parts then
    return nil, message
  end
  local more, all = parts.more, parts.more.records
  for _, part in ipairs(parts) do
    all = all + part.count
  end
  local common = #parts > 1 and take_common(parts) or {}
  for i, part in ipairs(parts) do
    print_part(out, part.title, part.count, part.fields)
    if i == MOST and more.events > 0 then print_more(out, more) end
  end
  if #common > 0 then
    print_part(out, "every record", all, common)
  end
end

return tool
