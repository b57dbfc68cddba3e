-- Events of one name are told apart in headings by how they were recorded, in the words of the
-- options of perf record; else by their recordings; else by their numbers.

local fmt = require "perflua.text.fmt"

local distinctions = {}

local TRACEPOINT <const> = 2 -- PERF_TYPE_TRACEPOINT
local TIME <const>, ADDR <const> = 1 << 2, 1 << 3 -- of sample_type
local CALLCHAIN <const>, CPU <const> = 1 << 5, 1 << 7
local ANY <const>, CALL_STACK <const> = 1 << 3, 1 << 11 -- of branch_sample_type
local STACK_SIZE <const> = 8192 -- of --call-graph dwarf by default

-- By the bits of branch_sample_type.
local FILTERS <const> = { [0] = "u", "k", "hv", "any", "any_call", "any_ret", "ind_call",
  "abort_tx", "in_tx", "no_tx", "cond", "stack", "ind_jmp", "call", "no_flags", "no_cycles",
  "save_type", "hw_index", "priv", "counter" }

-- Options that set a bit of sample_type, and those that set a flag of the attr.
local PARTS <const> = { { 10, "-R" }, { 14, "-W" }, { 24, "-W" }, { 17, "--transaction" },
  { 18, "-I" }, { 19, "--phys-data" }, { 22, "--data-page-size" },
  { 23, "--code-page-size" } }
local FLAGS <const> = { { "exclude_callchain_kernel", "--user-callchains" },
  { "context_switch", "--switch-events" }, { "namespaces", "--namespaces" },
  { "cgroup", "--all-cgroups" } }

-- Samples of a tracepoint have their processor in any case. An event that is not system-wide is
-- enabled by the exec of the command.
local function describe_target(event)
  local sampled = event.sample_type
  if sampled & CPU == 0 then
    if event.inherit then return nil end
    return sampled & TIME ~= 0 and "-i" or "--per-thread"
  elseif event.type ~= TRACEPOINT then
    return event.leader.enable_on_exec and "--sample-cpu" or "-a"
  end
end

local function describe_rate(event)
  local frequency = event.sample_freq
  return frequency and "-F " .. fmt.unsigned(frequency)
    or "-c " .. fmt.unsigned(event.sample_period)
end

local function describe_callchains(event)
  local size = event.sample_stack_user or 0
  if size ~= 0 then
    return "--call-graph dwarf" .. (size ~= STACK_SIZE and ("," .. size) or "")
  elseif (event.branch_sample_type or 0) & CALL_STACK ~= 0 then
    return "--call-graph lbr"
  elseif event.sample_type & CALLCHAIN ~= 0 then
    return "-g"
  end
end

local function describe_branches(event)
  local filter, names = event.branch_sample_type or 0, {}
  if filter & CALL_STACK ~= 0 or filter == 0 then return nil end
  if filter == ANY then return "-b" end
  for bit = 0, #FILTERS do
    if filter & 1 << bit ~= 0 then names[#names + 1] = FILTERS[bit] end
  end
  return names[1] and "-j " .. table.concat(names, ",")
end

-- Modifiers of an event exclude the hypervisor, too; options do not.
local function describe_exclusion(event)
  local user, kernel, hv = event.exclude_user, event.exclude_kernel, event.exclude_hv
  if not hv then
    return kernel and not user and "--all-user" or user and not kernel and "--all-kernel"
  end
  return (not user or not kernel) and ":" .. (user and "" or "u") .. (kernel and "" or "k")
end

local function describe_precision(event)
  local precise = event.precise_ip or 0
  return precise > 0 and ":" .. ("p"):rep(precise)
end

-- With stacks to be unwound, perf leaves the user's callers out, and may sample addresses.
local function describe_kernel_chains(event)
  if (event.sample_stack_user or 0) ~= 0 then return nil end
  return event.exclude_callchain_user and "--kernel-callchains"
end

local function describe_addresses(event)
  return (event.sample_stack_user or 0) == 0 and event.sample_type & ADDR ~= 0 and "-d"
end

local DESCRIBE <const> = { describe_target, describe_rate, describe_callchains,
  describe_kernel_chains, describe_branches, describe_exclusion, describe_precision,
  describe_addresses }

-- Returns the options by which an event was recorded, in the order in which they are said.
local function options_of(event)
  local list = {}
  for _, describe in ipairs(DESCRIBE) do list[#list + 1] = describe(event) or nil end
  for _, part in ipairs(PARTS) do
    if event.sample_type & 1 << part[1] ~= 0 then list[#list + 1] = part[2] end
  end
  for _, flag in ipairs(FLAGS) do
    if event[flag[1]] then list[#list + 1] = flag[2] end
  end
  return list
end

-- Returns what each event has of the options that not all have; of one that has none of them,
-- that it is without them.
local function differing_options(events)
  local lists, count, all = {}, {}, {}
  for i, event in ipairs(events) do
    lists[i] = options_of(event)
    for _, option in ipairs(lists[i]) do
      if not count[option] then all[#all + 1] = option end
      count[option] = (count[option] or 0) + 1
    end
  end
  local function differing(options)
    local list = {}
    for _, option in ipairs(options) do
      if count[option] < #events then list[#list + 1] = option end
    end
    return table.concat(list, " ")
  end
  local lacked, texts = differing(all), {}
  for i, options in ipairs(lists) do
    local text = differing(options)
    texts[i] = text == "" and lacked ~= "" and "without " .. lacked or text
  end
  return texts
end

local MOST <const> = 3 -- recordings that are named
local MOST_WORK <const> = 1 << 26 -- event.sources looks through the events of all recordings

local function recordings_of(paths)
  return function(event)
    local names, sources = {}, event.sources
    for i = 1, math.min(#sources, MOST) do names[i] = paths[sources[i]] end
    local more = #sources - #names
    return table.concat(names, ", ") .. (more > 0 and (" and %d more"):format(more) or "")
  end
end

local function number_of(event) return ("event %d"):format(event.index) end

-- Adds what differs between events to the text that they share.
local function refine(texts, events, describe)
  local by_text = {}
  for i, text in ipairs(texts) do
    local list = by_text[text] or {}
    by_text[text] = list
    list[#list + 1] = i
  end
  for text, list in pairs(by_text) do
    local parts, differ = {}, false
    for n, i in ipairs(list) do
      parts[n] = list[2] and describe(events[i])
      differ = differ or parts[n] ~= parts[1]
    end
    for n, i in ipairs(differ and list or {}) do
      texts[i] = (text ~= "" and text .. ", " or "") .. parts[n]
    end
  end
end

---@param file perflua.File
---@param events perflua.Event[] of the file
---@return table<integer, string> # by event.index, of each that shares its name with another:
--- what tells it from these, not escaped
function distinctions.of(file, events)
  local by_name, found = {}, {}
  for _, event in ipairs(events) do
    local list = by_name[event.name]
    if list then list[#list + 1] = event else by_name[event.name] = { event } end
  end
  for _, list in pairs(by_name) do
    if list[2] then
      local texts = differing_options(list)
      if #list * #file.events <= MOST_WORK and list[1].sources then
        refine(texts, list, recordings_of(file.path))
      end
      refine(texts, list, number_of)
      for i, event in ipairs(list) do found[event.index] = texts[i] end
    end
  end
  return found
end

return distinctions
