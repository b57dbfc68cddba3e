-- The public API as data. `make` generates the stubs for editors from it, `make docs`
-- docs/reference.md; error messages take the closest name from it, and `make lint` compares it
-- with what perflua registers (.ci/api.lua).
--
-- A class is { name, doc, kind, fields, index, methods }. kind is "module", "object", "options"
-- (a table that a script gives), "result" (a table that a script gets) or "globals". Of an
-- object `prefix` is how its methods are written, `call` the type of what it is as a function,
-- `len`: it has a length, `types`: the record types that are of it. Rows:
--
--   field   { NAME, TYPE, DOC, unit =, default = }; in `index` NAME is the type of a
--           key: "[integer]"
--   method  { NAME, DOC, params = { { NAME, TYPE, DOC, default = }, … },
--             returns = { { TYPE, DOC }, … }, errors =,
--             step = "before" | "after" | "both", column =, grouped = }
--
-- TYPE is written as in annotations of the Lua language server, where a capital begins one of
-- these classes; ? at its end: it may be left out, or nil. In a Query, `step` says on which
-- side of group_by a method stands; one that stands on both has `column`, the name of its
-- column, and `grouped`, what it does after group_by.
--
-- Record types, views, events and header features are described by the core's own tables
-- (core.types() …).

local api = {}

local FOLDER = "perflua.api."

-- Files of this folder, in the order of the reference, and the classes in each.
local files = {
  { "module", "perflua", "OpenOptions", "DiffOptions",
    "ExportOptions" },
  { "file", "File", "RecordsOptions", "Events", "Damage", "Thread", "Resolved", "Missing",
    "Unproven", "Timing", "Pass", "Stage", "TimedBinary" },
  { "binary", "BinariesOptions", "Binary", "Tried", "Stay", "Symbol", "AnnotateOptions",
    "Listing", "ListingLine" },
  { "query", "Query", "UnnestOptions", "HistogramBucket" },
  { "spans", "PairOptions", "PairSide", "WithinOptions", "CoverOptions", "Span", "Cover",
    "PairCounts" },
  { "writing", "WriteOptions", "ScrubOptions", "InjectOptions", "WriterOptions", "WriteSummary",
    "MergeSummary", "Scrubbed", "ScrubbedKind", "Injected", "Unidentified", "Writer" },
  { "table", "Table", "TopOptions", "CsvOptions", "TreeOptions" },
  { "record", "Stack", "Frame", "Node", "AnyRecord", "PayloadRecord" },
  { "script", "Handlers", "Meta", "Option", "Needs", "globals" },
}

local file_of = {}
for _, names in ipairs(files) do
  for i = 2, #names do file_of[names[i]] = names[1] end
end

---@param name string of a class
---@return table
function api.class(name) return require(FOLDER .. file_of[name])[name] end

---@return table[] # all classes, in order
function api.classes()
  local list = {}
  for _, names in ipairs(files) do
    for i = 2, #names do list[#list + 1] = api.class(names[i]) end
  end
  return list
end

local members = {} -- by class

---@param name string of a class
---@return table<string, table> # its rows of fields and methods by name
function api.members(name)
  if members[name] then return members[name] end
  local class, by_name = api.class(name), {}
  members[name] = by_name
  for _, list in ipairs { class.fields or {}, class.methods or {} } do
    for _, row in ipairs(list) do by_name[row[1]] = row end
  end
  return by_name
end

---@param name string of a class
---@return string[] # names of its fields and methods, for suggestions
function api.names(name)
  local names = {}
  for member in pairs(api.members(name)) do names[#names + 1] = member end
  table.sort(names)
  return names
end

return api
