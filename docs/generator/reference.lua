-- docs/reference.md: the reference of the API, from the tables of lua/perflua/api.

local api = require "perflua.api"
local tables = require "generator.tables"

local sentence = tables.sentence

local page = {}

local function add(format, ...)
  page[#page + 1] = select("#", ...) > 0 and format:format(...) or format
end

-- Escapes what is not between backticks; a bar is a cell's end in there, too.
local function escape(text)
  local in_code = false
  return (text:gsub("[`|*<\\]", function(c)
    if c == "`" then in_code = not in_code end
    return c ~= "`" and (c == "|" or not in_code) and "\\" .. c or c
  end))
end

-- Classes that are described by the core's tables, and where.
local elsewhere = {
  Record = "fields.md#every-record", Event = "fields.md#events",
  Features = "fields.md#header-features",
}

local title_of = { perflua = "The module perflua", globals = "Globals", AnyRecord = "Record",
  PayloadRecord = "Record with data" }

local function title(class) return title_of[class.name] or class.name end

local function anchor(text) return "#" .. text:lower():gsub(" ", "-") end

local function link(name)
  local view = name:match "^View%.(.+)$"
  if view then return ("[%s](fields.md#%s-view)"):format(view, view) end
  if elsewhere[name] then return ("[%s](%s)"):format(name, elsewhere[name]) end
  return ("[%s](%s)"):format(name, anchor(title(api.class(name))))
end

-- Returns a type for people, without the mark of an optional one.
local function type_text(type)
  local text = escape((type:gsub("%?$", ""))):gsub("\\|", " or ")
  return (text:gsub("%f[%w_\"]%u[%w_.]*", link))
end

local function is_optional(type) return type:find "%?$" ~= nil end

local function details(row)
  local words = row[3] and escape(sentence(row[3])) or ""
  if row.unit then words = ("%s In %s."):format(words, row.unit) end
  if row.default then words = ("%s Default: %s."):format(words, escape(row.default)) end
  return words
end

local function add_fields(class)
  local options = class.kind == "options"
  add(options and "| option | type | |" or "| field | type | |")
  add "|---|---|---|"
  for _, row in ipairs(class.fields or {}) do
    local type = type_text(row[2])
    if is_optional(row[2]) and not options then type = type .. " or nil" end
    local required = options and not is_optional(row[2]) and " Required." or ""
    add("| `%s` | %s | %s%s |", row[1], type, details(row), required)
  end
  for _, row in ipairs(class.index or {}) do
    add("| `%s` | %s | %s |", row[1]:gsub("|", " or "), type_text(row[2]), details(row))
  end
  add ""
end

-- "file:thread(tid [, time])"
local function signature(class, row)
  local text = ""
  for i, param in ipairs(row.params or {}) do
    local comma = i > 1 and ", " or ""
    local skip = is_optional(param[2])
    text = text .. (skip and (i > 1 and " [%s%s]" or "[%s%s]") or "%s%s"):format(comma,
      param[1])
  end
  return ("%s%s(%s)"):format(class.prefix, row[1], text)
end

local steps = { before = "Before group_by.", after = "After group_by.",
  both = "Before and after group_by." }

local function add_method(class, row)
  add("### `%s`", signature(class, row))
  add ""
  add("%s%s", escape(row[2]), row.step and " *" .. steps[row.step] .. "*" or "")
  if row.column then
    local what = row.grouped and " " .. escape(row.grouped) or ""
    add("%s `%s`.%s", row.grouped and "After group_by it adds the column" or "Its column is",
      row.column, what)
  end
  add ""
  for _, param in ipairs(row.params or {}) do
    add("- `%s`: %s%s. %s", param[1], type_text(param[2]), is_optional(param[2])
      and ", optional" or "", details(param))
  end
  for i, value in ipairs(row.returns or {}) do
    local type = type_text(value[1]) .. (is_optional(value[1]) and " or nil" or "")
    add("- %s %s%s", i == 1 and "Returns" or "and", type, value[2] and ": " .. escape(value[2])
      .. "." or ".")
  end
  if row.errors then add("- Raises on %s", escape(row.errors .. ".")) end
  if (row.params or row.returns or row.errors) then add "" end
end

-- Adds the methods on both sides of group_by, side by side.
local function add_both_sides(class)
  local rows = {}
  for _, row in ipairs(class.methods) do
    if row.step == "both" then rows[#rows + 1] = row end
  end
  if #rows == 0 then return end
  add "### Before and after group_by"
  add ""
  add("These methods exist before and after `group_by`. Before it they read the recording and "
    .. "return a value.")
  add "After it they return a Query with one more column; `top`, `sort` or a loop reads."
  add ""
  add "| | without group_by: a value | after group_by: a column | |"
  add "|---|---|---|---|"
  for _, row in ipairs(rows) do
    add("| `%s` | %s | `%s` | %s |", signature({ prefix = "" }, row), escape(row[2]),
      row.column, escape(row.grouped))
  end
  add ""
end

local function add_class(class)
  add("## %s", title(class))
  add ""
  add(escape(class.doc))
  if class.types then add("Record types: `%s`.", table.concat(class.types, "`, `")) end
  add ""
  if class.fields or class.index then add_fields(class) end
  if class.methods then add_both_sides(class) end
  for _, row in ipairs(class.methods or {}) do add_method(class, row) end
end

local intro = [[
# API reference

Every function, method, field and option. Made from `lua/perflua/api` by `make docs`. The [guide](guide.md) and
the [topics](README.md) say how they go together; the fields of records, views, events and header features are in
the [field reference](fields.md).

Types are those of Lua. An integer is 64 bits wide and never a float; times are ns. What fails in the world (no such
file, not a recording) returns nil, a message and a code; a wrong call raises at the script's line. An unknown name
raises and names the closest. Methods raise as well what damage raises with `strict`.
]]

---@return string # the page
local function reference()
  add(intro)
  local contents = {}
  for i, class in ipairs(api.classes()) do
    contents[i] = ("[%s](%s)"):format(title(class), anchor(title(class)))
  end
  add("Contents: %s", table.concat(contents, " · "))
  add ""
  for _, class in ipairs(api.classes()) do add_class(class) end
  page[#page] = nil -- the last empty line
  return table.concat(page, "\n") .. "\n"
end

return reference
