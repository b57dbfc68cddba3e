-- The options of a tool: those that it declares (tools/init.lua), and those that it has in
-- common with others.

local options = require "perflua.options"
local suggest = require "perflua.errors.suggest"

local declared = {}

-- perf's names for options that have other names here.
local spellings = {
  s = "sort", n = "show-nr-samples", F = "fields", b = "branch-stack", g = "call-graph",
  G = "inverted", H = "hierarchy", c = "comm", comms = "comm", d = "dso", dsos = "dso",
  S = "symbol", symbols = "symbol",
  f = "force", q = "quiet", U = "hide-unresolved", C = "cpu", k = "vmlinux", input = "i",
  e = "event", v = "verbose", ["stdio-color"] = "color",
  D = "dump-raw-trace", T = "threads", p = "parent", x = "exclude-other",
  I = "show-info", t = "field-separator", w = "column-widths", l = "print-line",
}

-- Returns the names that a tool's options have beside their own.
local function spellings_of(tool)
  if not tool.letters then return spellings end
  local own = {}
  for name, meant in pairs(spellings) do own[name] = meant end
  for letter, meant in pairs(tool.letters) do own[letter] = meant end
  return own
end

---@param tool table
---@return boolean # whether its first arguments name what is read as one recording
function declared.names_recording(tool)
  return tool.reads ~= "nothing" and tool.reads ~= "sides"
end

-- The options of all tools.
local common = {
  timing = { choices = { "json" },
    "say on standard error where the time went: the passes, and the stages of each" },
  color = { "WHEN",
    "colors: auto (default: on a terminal, unless NO_COLOR is set), always, never",
    values = { "auto", "always", "never" } },
  ["no-pager"] = "print text longer than the screen without a pager",
  wide = "print names in full where lines are longer than the terminal",
}

local EXPLAIN <const> = "say what would be read, in which order, and where each part runs"

-- Returns the options of a tool, and those that it refuses with the reason.
local function options_of(tool)
  local given, refused
  if tool.reads == "nothing" then
    given = {}
    for name, option in pairs(tool.options or {}) do given[name] = option end
  else -- tools that read no recording do not load this module
    given, refused = require "perflua.toolkit.recordings".options(tool)
  end
  for name, option in pairs(common) do given[name] = option end
  if tool.explain then given.explain = EXPLAIN end
  return given, refused
end

-- Returns an option as a row of perflua.options.
local function row_of(name, option)
  if type(option) ~= "table" then return { name, "flag", help = option } end
  if option.choices then
    return { name, "flag", help = option[1], choices = option.choices }
  end
  return { name, "string", value = option[1], help = option[2], many = option.many }
end

---Declares the options of a tool, and that of the recording.
---@param tool table
---@return table # for perflua.options
---@return table[] # its rows, by their names
function declared.of(tool)
  local given, refused = options_of(tool)
  local rows = {}
  for _, name in ipairs(suggest.names(given)) do
    rows[#rows + 1] = row_of(name, given[name])
  end
  if declared.names_recording(tool) and not given.i then
    rows[#rows + 1] = { "i", "string", value = "FILE", many = true }
  end
  local all = options.declare(rows, spellings_of(tool), refused)
  for _, row in ipairs(rows) do
    local option = given[row[1]]
    if type(option) == "table" then row.values, row.fields = option.values, option.fields end
  end
  return all, rows
end

-- Returns the letter that perf has for an option, and that no option of the tool is called.
local function letter_of(tool, name, given)
  local letter
  for spelling, meant in pairs(spellings_of(tool)) do
    if meant == name and #spelling == 1 and #name > 1 and not given[spelling] then
      letter = spelling
    end
  end
  return letter
end

---@param tool table
---@return string[][] # its options in order: as they are written, and what they do
function declared.lines(tool)
  local _, rows = declared.of(tool)
  local given, lines = options_of(tool), {}
  for _, row in ipairs(rows) do
    if row.help then
      lines[#lines + 1] = {
        options.spelled(row, letter_of(tool, row[1], given)), row.help,
        row[1]:lower() .. row[1],
      }
    end
  end
  table.sort(lines, function(a, b) return a[3] < b[3] end)
  return lines
end

return declared
