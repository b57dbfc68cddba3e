-- Queries of tools that --explain prints as scripts which ask the same: each step of a Query is
-- made, and written down as Lua.

local samples = require "perflua.toolkit.samples"
local symbols = require "perflua.toolkit.symbols"
local suggest = require "perflua.errors.suggest"
local samples_with_losses = require "perflua.file.samples_with_losses"
local spec_of = require("perflua.core").query_spec

local described = {}

---@class perflua.Described
---@field query perflua.Query
---@field text string
local Described = {}
local meta = {}

local WIDTH <const> = 92 -- columns

local function is_name(text) return text:find "^[%a_][%w_]*$" and text ~= "function" end

local function quote(text)
  if text:find '"' and not text:find "[%c%[%]\\]" then
    return text:find "'" and "[[" .. text .. "]]" or "'" .. text .. "'"
  end
  return (("%q"):format(text):gsub("\\\n", "\\n"))
end

-- Options that stand before others.
local RANKS <const> = { open = 1, change = 2, close = 3, type = 1, event = 2, key = 4, to = 5 }

-- Returns the names of a table's fields as a reader expects them.
local function ordered_names(value)
  local names = suggest.names(value)
  table.sort(names, function(a, b)
    local first, second = RANKS[a] or math.huge, RANKS[b] or math.huge
    if first ~= second then return first < second end
    return a < b
  end)
  return names
end

-- Writes a value of Lua; a function is one of code().
local function literal(value, code, indent)
  if type(value) == "string" then return quote(value) end
  if type(value) == "function" then return code[value] end
  if type(value) ~= "table" then return tostring(value) end
  local parts, below = {}, indent .. "  "
  -- the first of a range of times may be nil
  for i = 1, #value > 0 and #value or value[2] ~= nil and 2 or 0 do
    parts[i] = literal(value[i], code, below)
  end
  for _, name in ipairs(ordered_names(value)) do
    if type(name) == "string" then
      local key = is_name(name) and name or "[" .. quote(name) .. "]"
      parts[#parts + 1] = ("%s = %s"):format(key,
        literal(value[name], code, below))
    end
  end
  local line = "{ " .. table.concat(parts, ", ") .. " }"
  if #line + #indent <= WIDTH - 6 and not line:find "\n" then return line end
  return ("{\n%s%s,\n%s}"):format(below, table.concat(parts, ",\n" .. below), indent)
end

-- Steps that begin a line; measures stand after the keys.
local begins_line = { pair = true, where = true, between = true, group_by = true,
  pivot = true, select = true }

local function written(name, code, ...)
  local args = table.pack(...)
  for i = 1, args.n do args[i] = literal(args[i], code, "  ") end
  local text = table.concat(args, ", ")
  return args.n == 1 and text:find "^{" and name .. " " .. text or name .. "(" .. text .. ")"
end

-- Puts a step after others, on a line of its own if it is one of those or would be too long.
local function append(text, name, step)
  if begins_line[name] then return text .. "\n  :" .. step end
  local room = WIDTH - #(text:match ".*\n(.*)$" or text) -- of the last line
  return text .. (#step < room and ":" or "\n    :") .. step
end

local function new(file, code, query, text)
  return setmetatable({ file = file, code = code, query = query, text = text }, meta)
end

-- A step of Query by its name.
function meta.__index(self, name)
  return Described[name] or function(_, ...)
    return new(self.file, self.code, self.query[name](self.query, ...),
      append(self.text, name, written(name, self.code, ...)))
  end
end

---Returns a function of the script's, by its text: `function(sample) … end`. It knows `file`.
---@param text string
---@return function
function Described:lua(text)
  local fn = assert(load("local file = ...; return " .. text))(self.file)
  self.code[fn] = text
  return fn
end

---Picks a field that some records have.
---@param class "integer"|"string" what its values must be
---@param ... string fields
---@return string? # the first of them; nil: there is none
function Described:field(class, ...)
  local name = samples_with_losses.pick_field(self.query, class, ...)
  return name ~= "lost" and name or nil
end

---@return perflua.Table
function Described:table() return self.query:table() end

-- Adds the steps of the options that chose samples of the file, with which its queries begin.
local function chosen(self, of_records)
  for _, step in ipairs(samples.steps(self.file)) do
    local name, argument = step[1], step[2]
    if of_records and name == "where" then
      argument = ("type ~= 'sample' or (%s)"):format(argument)
    end
    self.text = append(self.text, name, written(name, self.code, argument))
  end
  return self
end

---@param file perflua.File
---@param event any as of file:samples; nil: all
---@return perflua.Described # of samples
function described.samples(file, event)
  return chosen(new(file, {}, file:samples(event), "file:" .. (event == nil and "samples()"
    or written("samples", {}, event))))
end

---@param file perflua.File
---@param types string[] of records
---@return perflua.Described # of records of these types
function described.records(file, types)
  local options = { type = types, expand = true }
  return chosen(new(file, {}, file:records(options), "file:" .. written("records", {},
    options)), true)
end

---@param file perflua.File
---@param other string? a type of records that are read, too
---@return perflua.Described # of samples, and of records that tell of lost ones: `lost` is
--- their number
function described.with_losses(file, other)
  return described.records(file, { "sample", "lost", "lost_samples", other })
end

-- Returns the options of perflua.open as they are written after the path, "" if there are
-- none.
local function written_options(args)
  local options = symbols.of(args)
  if options.demangle then options.demangle = nil end
  return next(options) and ", " .. literal(options, {}, "") or ""
end

---Writes queries of a recording as a script, with what Query:explain() says of each.
---@param out file*
---@param list perflua.Described[]
---@param args table what tools.parse gave
---@param several boolean? whether the tool reads several recordings as one
function described.write(out, list, args, several)
  out:write('local perflua = require "perflua"\n',
    "local file <close> = assert(perflua.open(",
    several and "{ table.unpack(arg) }" or "arg[1]",
    written_options(args), "))\n")
  for _, part in ipairs(list) do
    if spec_of(part.query).refs then out:write("\n", part.text, "\n  :each(print)\n")
    else out:write("\nprint(", part.text, "\n  :table())\n") end
    out:write((part.query:explain():gsub("[^\n]+", "-- %0")), "\n")
  end
end

return described
