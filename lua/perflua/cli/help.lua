-- help at the prompt: help, help(file.samples), help "filters".

local core = require "perflua.core"

local TEXT <const> = [[
Type Lua statements, or expressions to see their values: a query with groups is
shown as a table, another one as its first rows, a record as a list of fields.

  file                  the recording on the command line
  file.events           its events
  file:samples()        a query of its samples
  file:samples():where "comm == 'sh'":group_by("symbol"):sum("period")

  help(file.samples)    explains a method or function, so does help "samples"
  help "report"         explains a tool, as perflua help does
  quit                  ends the session; so does ^D

Tab completes names, also of fields and events in strings. ^C ends what runs: a pass gives what
it has read so far, anything else is an error.
]]

-- Returns the functions of objects by the classes of the API.
local function functions_of(class)
  require "perflua.file.records" -- which adds steps to queries
  local found = {
    perflua = _G.perflua, File = core.methods "file",
    Query = require("perflua.query").methods, Table = require("perflua.table").methods,
  }
  return found[class] or {}
end

local function explain(class, row)
  local params = {}
  for i, param in ipairs(row.params or {}) do params[i] = param[1] end
  local lines = { ("%s%s(%s)\n  %s"):format(class.prefix or "", row[1],
    table.concat(params, ", "), row[2]) }
  for _, param in ipairs(row.params or {}) do
    lines[#lines + 1] = ("  %s: %s%s"):format(param[1], param[3] or param[2],
      param.default and ("; default: %s"):format(param.default) or "")
  end
  for _, returned in ipairs(row.returns or {}) do
    lines[#lines + 1] = ("  returns %s%s"):format(returned[1], returned[2]
      and ": " .. returned[2] or "")
  end
  if row.errors then lines[#lines + 1] = "  raises on " .. row.errors end
  return table.concat(lines, "\n") .. "\n"
end

-- Returns the texts of all methods and functions that a test chooses.
local function explain_all(is_meant)
  local texts, api = {}, require "perflua.api" -- large, and most sessions ask for no help
  for _, class in ipairs(api.classes()) do
    local functions = functions_of(class.name)
    for _, row in ipairs(class.methods or {}) do
      if is_meant(row[1], functions[row[1]]) then texts[#texts + 1] = explain(class, row) end
    end
  end
  return texts
end

local function explain_name(name, host)
  local texts = explain_all(function(one) return one == name end)
  if #texts > 0 then return table.concat(texts, "\n") end
  local tools = require "perflua.tools"
  local ok, status, message = pcall(tools.find("help").run, { name }, io.stdout, host)
  if ok and not status then return "" end
  return (ok and message or ("no help about '%s'"):format(name)) .. "\n"
end

---@param host table what src/host/perflua.c gives
---@return table # the global `help`
return function(host)
  local function call(_, about)
    if about == nil then
      io.stdout:write(TEXT)
    elseif type(about) == "string" then
      io.stdout:write(explain_name(about, host))
    else
      local texts = explain_all(function(_, fn) return fn ~= nil and fn == about end)
      io.stdout:write(#texts > 0 and table.concat(texts, "\n")
        or "nothing is known of this value: help \"name\" looks for a name\n")
    end
  end
  return setmetatable({}, { __call = call, __tostring = function() return TEXT:sub(1, -2) end,
    __name = "perflua.help" })
end
