-- Lists of fields, as -F of perf script has them: "comm,ip,sym", "+addr,-dso", "sw:comm,time".
-- See parse_output_fields, tools/perf/builtin-script.c.

local core = require "perflua.core"
local suggest = require "perflua.errors.suggest"

local fields = {}

-- perflua's own names of what perf calls otherwise
local aliases = {
  branch_stack = "brstack", cgroup_path = "cgroup", message = "trace", regs_intr = "iregs",
  regs_user = "uregs",
  symbol = "sym",
}

-- Fields of queries that lines show in another way.
local instead_of = { callchain = "ip, sym", stack = "ip, sym" }

local OF_TRACES <const> = "it comes from instruction traces, which perflua does not decode; "
  .. "perf prints nothing there for other samples"
local OF_BRANCHES <const> = "perflua does not print the code between branches; brstack and "
  .. "brstacksym print the branches, annotate prints code"

-- Fields of perf that are not answered, and why.
local refused = {
  brstackinsn = OF_BRANCHES, brstackinsnlen = OF_BRANCHES, brstackdisasm = OF_BRANCHES,
  brstackoff = "brstack,dsoff prints the addresses of branches in their binaries, too",
  brcntr = "queries read branch.counters after unnest('branch_stack')",
  flags = OF_TRACES, callindent = OF_TRACES, ipc = OF_TRACES, synth = OF_TRACES,
  metric = "perflua does not know the metrics of processors; queries compute with the counters "
    .. "in the field read",
}

---@return table[] # array of {name, doc, by_default, invalid}, the last two sets of classes of
--- events
function fields.all() return (core.script_fields()) end

-- Returns the fields of lines by default: class → { fields, asked, chosen }, sets of names.
local function list_defaults(all, classes)
  local chosen = {}
  for _, class in ipairs(classes) do
    local set = {}
    for _, field in ipairs(all) do
      set[field.name] = field.by_default[class]
    end
    chosen[class] = { fields = set, asked = {}, chosen = false }
  end
  return chosen
end

local function describe_unknown(name, known)
  if refused[name] then
    return ("field '%s' of perf script is not answered: %s"):format(name, refused[name])
  end
  local message, closest = ("unknown field '%s'"):format(name), instead_of[name]
  if closest then return ("%s; %s show call chains"):format(message, closest) end
  closest = suggest.closest(name, suggest.names(known))
  return closest and ("%s; the closest is '%s'"):format(message, closest)
    or message .. "; perflua help script lists them"
end

-- Splits "sw:+addr" into its classes, whether they were given, and the rest; or returns nil and
-- what is wrong.
local function split_class(text, classes)
  local class, rest = text:match "^([%w_]*):(.*)$"
  if not class then return classes, false, text end
  for _, known in ipairs(classes) do
    if known == class then return { class }, true, rest end
  end
  return nil, suggest.message(("unknown type of events '%s'"):format(class), class, classes)
end

-- Adds a field to a class or takes it away; false if it makes no sense there.
local function apply_field(class, field, sign, name)
  if field.invalid[name] then return false end
  class.fields[field.name] = sign ~= "-" or nil
  class.asked[field.name] = sign ~= "-" or nil
  return true
end

local function apply_all(wanted, known, chosen, classes, only)
  for _, word in ipairs(wanted) do
    local sign, name = word:match "^([+-]?)(.*)$"
    local field = known[aliases[name] or name]
    if not field then return nil, describe_unknown(name, known) end
    local fits = false
    for _, class in ipairs(classes) do
      fits = apply_field(chosen[class], field, sign, class) or fits
    end
    if only and not fits then
      return nil, ("field '%s' does not apply to %s events"):format(name, classes[1])
    end
  end
  return chosen
end

-- Words of "a,+b,-c", and whether they change the list; nil and what is wrong.
local function split_words(text)
  local words, changes = {}, nil
  for word in text:gmatch "[^,]+" do
    local change = word:find "^[+-]" ~= nil
    if changes == nil then changes = change end
    if change ~= changes then
      return nil, "fields with + or - cannot be mixed with fields without"
    end
    words[#words + 1] = word
  end
  return words, changes
end

-- Changes the fields of some classes as one -F says; nil and what is wrong.
local function change_fields(chosen, known, text, all_classes)
  local classes, only, rest = split_class(text, all_classes)
  if not classes then return nil, only end
  local words, changes = split_words(rest)
  if not words then return nil, changes end
  for _, class in ipairs(classes) do
    chosen[class].chosen = true
    if not changes then chosen[class].fields, chosen[class].asked = {}, {} end
  end
  return apply_all(words, known, chosen, classes, only)
end

--- Reads lists of fields, each as -F has it; none: the default.
---@param texts string[]?
---@return table<string, table>? # class → {fields, asked: arrays of names; chosen: is it not
--- the default}
---@return string? message
function fields.parse(texts)
  local all, classes = core.script_fields()
  local chosen, known = list_defaults(all, classes), {}
  for _, field in ipairs(all) do known[field.name] = field end
  for _, text in ipairs(texts or {}) do
    local ok, message = change_fields(chosen, known, text, classes)
    if not ok then return nil, message end
  end
  local any = false
  for _, class in pairs(chosen) do
    class.fields, class.asked = suggest.names(class.fields), suggest.names(class.asked)
    any = any or #class.fields > 0
  end
  if not any then return nil, "no fields are left" end
  return chosen
end

return fields
