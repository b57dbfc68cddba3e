-- Opens the recordings of a tool, applies the options that tools have in common, runs the tool
-- on them and closes them, also after an error. What a tool declares is described in
-- tools/init.lua.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local needs = require "perflua.meta.needs"
local perflua = require "perflua"
local samples = require "perflua.toolkit.samples"
local symbols = require "perflua.toolkit.symbols"

local recordings = {}

local USAGE <const> = 2
local EXPLAIN <const> = "print the queries of the recording as a script, and where they run"

-- Returns the names of the options that the tool takes in common with others, between spaces.
local function taken_by(tool)
  return (" %s "):format(tool.takes or tool.reads == "records" and "" or "samples symbols")
end

---Returns the options of a tool with those that it has in common with others.
---@param tool table
---@return table<string, string|table> options, table<string, string> refused why it does not
--- take other options of samples
function recordings.options(tool)
  local taken, all, refused = taken_by(tool), {}, {}
  for group, options in pairs { samples = samples.options, symbols = symbols.options } do
    local takes_group = taken:find(" " .. group .. " ", 1, true)
    for name, option in pairs(options) do
      if takes_group or taken:find(" " .. name .. " ", 1, true) then
        all[name] = option
      elseif group == "samples" then
        refused[name] = tool.refused
      end
    end
  end
  for name, why in pairs(tool.refuses or {}) do refused[name] = why end
  if tool.queries then all.explain = EXPLAIN end
  for name, option in pairs(tool.options or {}) do all[name], refused[name] = option, nil end
  return all, refused
end

local function close_all(files)
  while files[1] do table.remove(files):close() end
end

local Opened = { __close = close_all }

-- Returns what the recordings must have, for perflua.meta.needs; nil: nothing.
local function needs_of(tool, args, settings)
  local needed, record = tool.needs, nil
  if tool.needed then needed, record = tool.needed(args, settings) end
  return needed and { needs = needed, record = record or tool.record }
end

-- Returns a function that opens a path or several as one File and adds it to `opened`; the
-- function returns nil, a message and the status if it cannot.
local function opener(name, tool, args, settings, opened)
  local meta, options = needs_of(tool, args, settings), symbols.of(args, tool)
  return function(path)
    local file, message
    if meta then
      file, message = needs.open(path, meta, options)
    else
      file, message = perflua.open(path, options)
    end
    if not file then return nil, message end
    opened[#opened + 1] = file
    if args.verbose then
      io.stderr:write(("perflua: %s: %s: printed as perf %s\n"):format(name,
        fmt.paths(file.path), file.as))
    end
    if tool.several ~= "each" then
      local passes = tool.passes or 1
      if type(passes) == "function" then passes = passes(args, file) end
      core.expect_work(passes * (file.size or 0))
    end
    message = tool.reads ~= "records" and samples.choose(file, args, tool.applies)
    if message then return nil, ("%s: %s"):format(name, message), USAGE end
    return file
  end
end

-- Returns an iterator of recordings, each of which is closed before the next one is opened. It
-- ends at an interrupt.
local function each_file(paths, open, opened, passes)
  local i = 0
  for _, path in ipairs(paths) do
    local kind, size = core.stat(path)
    if kind == "file" then core.expect_work((passes or 1) * size) end
  end
  return function()
    close_all(opened)
    i = i + 1
    if not paths[i] or i > 1 and interrupted.now() then return nil end
    return i, open(paths[i])
  end
end

-- Writes what a tool would read.
local function explain(tool, args, out, settings, read)
  local parts, message, status = tool.explain(read[1], args, settings, read[2])
  if not parts then return status, message end
  -- what few ask for is loaded when it is asked for
  out:write(require "perflua.toolkit.explained".text(parts))
end

---Runs a tool that reads recordings.
---@param name string its name
---@param tool table
---@param args table what tools.parse gave
---@param out file*
---@param host table of the interpreter
---@return integer? status
---@return string? message
function recordings.run(name, tool, args, out, host)
  local settings, wrong, status
  if tool.prepare then settings, wrong, status = tool.prepare(args, out, host) end
  if status then return status, wrong end
  wrong = wrong or symbols.wrong(args)
  if wrong then return USAGE, ("%s: %s"):format(name, wrong) end
  if args.explain and tool.explain then core.measure() end -- it says which passes that makes
  local opened <close> = setmetatable({}, Opened)
  local open = opener(name, tool, args, settings, opened)
  if tool.several == "each" then
    return tool.run(each_file(args, open, opened, tool.passes), args, out, settings)
  end
  local inputs = { args[1] }
  if tool.opens then inputs, wrong = tool.opens(args, settings) end
  if wrong then return USAGE, ("%s: %s"):format(name, wrong) end
  -- what few tools need is loaded when it is asked for
  local open_input = tool.reads == "sides" and require "perflua.toolkit.sides".open or open
  local read = {}
  for i, input in ipairs(inputs) do
    read[i], wrong, status = open_input(input, open)
    if not read[i] then return status, wrong end
  end
  if args.explain and tool.queries then
    local described = require "perflua.toolkit.described"
    local queries, lacking = tool.queries(read[1], args, settings)
    if not queries then return nil, lacking end
    return described.write(out, queries, args, tool.several)
  elseif args.explain then
    return explain(tool, args, out, settings, read)
  end
  return tool.run(read[1], args, out, settings, read[2])
end

return recordings
