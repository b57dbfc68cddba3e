-- docs/fields.md: the field reference.

local core = require "perflua.core"
local tables = require "generator.tables"

local kinds, sentence, sorted_names, each_once = tables.kinds, tables.sentence,
  tables.sorted_names, tables.each_once

local page = {}

local function add(format, ...)
  page[#page + 1] = select("#", ...) > 0 and format:format(...) or format
end

local function escape(text)
  return (text:gsub("[|*<\\]", "\\%0"))
end

local function type_text(field)
  if field.view then
    return ("[%s](#%s-view)"):format(field.view, field.view)
  end
  return kinds[field.kind] and kinds[field.kind][1] or "array"
end

local function add_table(fields)
  add "| field | type | |"
  add "|---|---|---|"
  for _, field in ipairs(fields) do
    add("| `%s` | %s | %s |", field.name, type_text(field), escape(sentence(field.doc)))
  end
  add ""
end

local function add_type(desc)
  add("### %s", desc.name)
  add ""
  add("Type %d. %s", desc.id, escape(sentence(desc.doc)))
  add ""
  local now = each_once(desc.fields)
  if #now > 0 then
    add_table(now)
  end
end

local function add_types(title, text, belongs)
  add("## %s", title)
  add ""
  add(text)
  add ""
  for _, desc in ipairs(core.types()) do
    if belongs(desc) then
      add_type(desc)
    end
  end
end

local function items_text(view)
  if not view.items then
    return view.named and "By name: integers." or not view.members and "An array of integers."
      or nil
  end
  return view.named and "By name, each with:" or "An array, each item with:"
end

local function add_views()
  add "## Views"
  add ""
  add "A view is a part of a record that has several values. It decodes a value when a script"
  add "reads it. `#view` is the number of items, `view[i]` one of them (nil if there is none)."
  add "`pairs(view)` visits all its values. A view keeps its record."
  add ""
  local views = core.views()
  for _, name in ipairs(sorted_names(views)) do
    local view = views[name]
    add("### %s view", name)
    add ""
    add(escape(sentence(view.doc)))
    add ""
    if view.members and #view.members > 0 then
      add_table(each_once(view.members))
    end
    local text = items_text(view)
    if text then
      add(text)
      add ""
    end
    if view.items then
      add_table(each_once(view.items))
    end
  end
end

local function add_features()
  add "## Header features"
  add ""
  add "`file.features.NAME`: nil when the recording does not have it. The"
  add "[topic](topics/features.md) says what the tables among them contain."
  add ""
  add "| bit | name | |"
  add "|--:|---|---|"
  for _, feature in ipairs(core.features()) do
    add("| %d | `%s` | %s |", feature.bit, feature.name, escape(sentence(feature.doc)))
  end
  add ""
end

local intro = [[
# Field reference

`make docs` writes this page from the tables with which perflua decodes records. The [topics](README.md) say how
scripts read records. `perflua fields FILE` shows the fields of one recording, with examples.

Contents: [every record](#every-record) · [samples](#samples) · [the kernel's records](#the-kernels-records) ·
[perf's records](#perfs-records) · [the container's records](#the-containers-records) · [views](#views) ·
[events](#events) · [header features](#header-features)

| type | in Lua |
|---|---|
| integer | an integer |
| unsigned, hex | an integer whose 64 bits have no sign: `math.ult` and filters compare it without one |
| string, bytes | a string: text, or bytes as they were recorded |
| a link | a [view](#views) |
| Event | an [event](#events) of the file |

The type hex is for addresses and masks, which people read in hexadecimal: `perflua.hex` writes them. A field that
a record does not have is nil.

## Every record

The values of `time` and the fields below it come from the record's body, or else from the sample_id that follows
the body. The settings of the event decide which of them a record has. Records that perf itself wrote have no time,
id or cpu.
]]

---@return string # the page
local function reference()
  local PERF = 64 -- from here on perf writes the records, not the kernel
  add(intro)
  add_table(each_once(core.types()[0].fields))
  add_types("Samples",
    "A sample has the fields that its event asked for; `event.sample_fields` lists them.",
    function(desc) return desc.name == "sample" end)
  add_types("The kernel's records", "Each has the fields of every record, too.",
    function(desc) return desc.id < PERF and desc.name ~= "sample" end)
  add_types("perf's records",
    "perf itself writes these, before, between and after the records of the kernel.",
    function(desc) return desc.id >= PERF and not desc.container end)
  add_types("The container's records",
    "They hold the recording together and say nothing about what was recorded: "
    .. "`records` leaves them out unless\n"
    .. "they are named in `type` or asked for with `container = true`.",
    function(desc) return desc.container end)
  add_views()
  add "## Events"
  add ""
  add "`file.events[i]`, `file.events[name]` and `record.event`. The fields from `type` on are"
  add "those of the recorded `struct perf_event_attr`."
  add ""
  add_table(each_once(core.event_members()))
  add_features()
  page[#page] = nil -- the last empty line
  return table.concat(page, "\n") .. "\n"
end

return reference
