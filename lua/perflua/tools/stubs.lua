-- perflua stubs FILE: annotations for the Lua language server, from the events of a recording.

local fmt = require "perflua.text.fmt"

local tool = {
  description = "write annotations for editors: events and tracepoint fields of a recording",
  usage = "stubs FILE…",
  reads = "records", several = true, paged = false,
  help = [[
The Lua language server reads them beside perflua/meta.lua, which is installed with the module. Then it
completes and checks names of events, handlers and s.args.NAME:

  perflua stubs perf.data > recording.lua

In its settings both folders are libraries: { "workspace.library": [ "/usr/local/share/lua/5.4", "." ] }]],
}

-- By kinds of fields: how annotations call their values.
local types = { signed = "integer", unsigned = "integer", address = "integer", float = "number",
  boolean = "boolean", string = "string", bytes = "string", view = "integer[]" }

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or
    repeat return then true until while]]):gmatch "%a+" do
  keywords[word] = true
end

local function quote(text) return '"' .. fmt.escape(text):gsub('["\\]', "\\%0") .. '"' end

local function field_name(name)
  local is_name = name:find "^[%a_][%w_]*$" and not keywords[name]
  return is_name and name or ("[%s]"):format(quote(name))
end

-- Writes the classes of a tracepoint's fields and of its samples; returns the name of the
-- latter.
local function write_tracepoint(out, event, number)
  local suffix = ("%s_%d"):format(event.name:gsub("[^%w]", "_"), number)
  out:write(("\n---@class recorded.args.%s\n"):format(suffix))
  for _, field in ipairs(event.fields) do
    out:write(("---@field %s %s # %s\n"):format(field_name(field.name),
      types[field.kind] or "any", fmt.escape(field.type)))
  end
  local class = "recorded.sample." .. suffix
  out:write(("\n---@class %s: perflua.Record.sample\n---@field args recorded.args.%s\n")
    :format(class, suffix))
  return class
end

---@param file perflua.File
---@param _ table
---@param out file*
---@return integer | nil status
---@return string | nil message
function tool.run(file, _, out)
  local names, handlers, seen = {}, {}, {}
  out:write("---@meta\n-- Of ", fmt.escape(fmt.paths(file.path)), ", by perflua stubs.\n")
  for i = 1, #file.events do
    local event = file.events[i]
    local name = event.name
    if not seen[name] then
      seen[name], names[#names + 1] = true, "'" .. quote(name) .. "'"
      local class = event.fields and write_tracepoint(out, event, i) or "perflua.Record.sample"
      handlers[#handlers + 1] = ("---@field [%s]? (fun(record: %s): any)|any[]\n"):format(
        quote(name), class)
    end
  end
  out:write("\n---@alias recorded.Event ", #names > 0 and table.concat(names, "|") or "string",
    "\n\n---@class perflua.Handlers\n", table.concat(handlers),
    "\n---@class perflua.File\n---@field samples fun(self: perflua.File, event?: ",
    "recorded.Event|perflua.Event|perflua.RecordsOptions): perflua.Query\n")
end

return tool
