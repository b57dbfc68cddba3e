-- Which samples `perflua script` shows: what its options say, as a Query.

local between = require "perflua.recording.between"
local strip_position = require("perflua.errors").strip_position

local samples = {}

local function split_list(text)
  local list = {}
  for one in text:gmatch "[^,]+" do list[#list + 1] = one end
  return list
end

local function parse_integers(text)
  local list = {}
  for _, one in ipairs(split_list(text)) do
    local first, last = one:match "^(%d+)%-(%d+)$"
    first, last = math.tointeger(tonumber(first or one)), math.tointeger(tonumber(last or one))
    if not first or not last or last - first > 65536 then
      return nil, ("'%s' is not a number"):format(one)
    end
    for i = first, last do list[#list + 1] = i end
  end
  if #list == 0 then return nil, "the list of numbers is empty" end
  return list
end

-- Selects the samples. May raise what a Query raises.
local function select_samples(file, args)
  local query = file:samples { event = args.event and split_list(args.event) }
  if args.where then query = query:where(args.where) end
  if args.comms then query = query:where { comm = split_list(args.comms) } end
  for _, name in ipairs { "pid", "tid", "cpu" } do
    if args[name] then
      local list, message = parse_integers(args[name])
      if not list then return nil, ("--%s: %s"):format(name, message) end
      query = query:where { [name] = list }
    end
  end
  if args.time then
    local from, to = args.time:match "^([^,]*),?(.*)$"
    from = from ~= "" and between.time(file, from:gsub("^[%d.]+$", "@%0")) or nil
    to = to ~= "" and between.time(file, (to:gsub("^[%d.]+$", "@%0")), true) + 1 or nil
    query = query:between(from, to)
  end
  return query
end

---@param file perflua.File
---@param args table # options of the tool
---@return perflua.Query?
---@return string? # what is wrong
function samples.select(file, args)
  local ok, query, wrong = pcall(select_samples, file, args)
  if ok then return query, wrong end
  return nil, strip_position(query)
end

return samples
