-- The script that `perflua gen` writes: a handler for each event of a recording, with what
-- there is to read in it. Names come from the recording and may be anything: in code they are
-- quoted, in comments escaped.

local fmt = require "perflua.text.fmt"
local types = require("perflua.recording").types

local starter = {}

local SAMPLE = 9

-- Keys of handlers that are not events.
local reserved = { begin = true, finish = true, other = true, interval = true,
  interval_ms = true, interval_clock = true, meta = true }

local function quote_text(text)
  return '"' .. text:gsub('["\\\0-\x1f\x7f-\xff]', function(c)
    return (c == '"' or c == "\\") and "\\" .. c or ("\\%03d"):format(c:byte())
  end) .. '"'
end

local function command_of(file)
  local words = {}
  for i, word in ipairs(file.features.cmdline or {}) do words[i] = fmt.shell_word(word) end
  return words[1] and table.concat(words, " ")
end

-- Returns the key of a handler. A name that other keys have is written as a glob that only it
-- matches: "[c]omm".
local function key_of(name, names)
  if not reserved[name] and not types()[name] then return name end
  for i = 1, #name do
    local glob = ("%s[%s]%s"):format(name:sub(1, i - 1), name:sub(i, i), name:sub(i + 1))
    if not names[glob] then return glob end
  end
end

-- Samples' fields are read as s.NAME, a tracepoint's as s.args.NAME or s.args["NAME"].
local function read_expression(field)
  if not field.arg then return "s." .. field.name end
  local plain = field.arg:find("^[%a_][%w_]*$") and load(("local %s"):format(field.arg))
  return plain and "s.args." .. field.arg or "s.args[" .. quote_text(field.arg) .. "]"
end

-- Lines of comments, a field each, aligned.
local function write_fields(out, indent, fields)
  local rows, width, kinds = {}, 0, 0
  for _, field in ipairs(fields) do
    local row = { read_expression(field), field.arg and field.doc or field.kind, field.example
      or "-" }
    width, kinds = math.max(width, math.min(#row[1], 40)),
      math.max(kinds, math.min(#row[2], 24))
    rows[#rows + 1] = row
  end
  for _, row in ipairs(rows) do
    out[#out + 1] = fmt.trim_end(("%s-- %-" .. width .. "s  %-" .. kinds .. "s  %s"):format(
      indent, table.unpack(row)))
  end
end

-- Fields with an example that are not those of every sample.
local function own_fields(part, common)
  local own = {}
  for _, field in ipairs(part.fields) do
    local listed_above = not field.arg and common[field.name] or field.name == "args"
    if field.example and not listed_above then own[#own + 1] = field end
  end
  return own
end

-- Fields that the samples of all events have, by name and as a list.
local function common_fields(parts)
  local n, samples, list, common = {}, 0, {}, {}
  for _, part in ipairs(parts) do
    if part.type_id == SAMPLE then
      samples = samples + 1
      for _, field in ipairs(part.fields) do
        if field.example and not field.arg then n[field.name] = (n[field.name] or 0) + 1 end
      end
    end
  end
  for _, field in ipairs(parts[1] and parts[1].type_id == SAMPLE and parts[1].fields or {}) do
    if n[field.name] == samples and field.name ~= "args" then
      list[#list + 1], common[field.name] = field, true
    end
  end
  return common, list
end

-- Returns the events that have samples, each name once: events of one name have one handler.
local function events_of(parts)
  local list, by_name = {}, {}
  for _, part in ipairs(parts) do
    if part.event then
      local name = part.event.name
      local entry = by_name[name]
      if not entry then
        entry = { name = name, part = part, count = 0 }
        list[#list + 1], by_name[name] = entry, entry
      end
      entry.count = entry.count + part.count
    end
  end
  return list
end

local function format_count(n, what)
  return ("%d %s%s"):format(n, what, n == 1 and "" or "s")
end

local function add_meta(out, events, file)
  out[#out + 1] = "  meta = {"
  out[#out + 1] = '    description = "counts the samples of each event",'
  if events[1] then
    out[#out + 1] = "    needs = { events = {"
    for _, event in ipairs(events) do
      if event.name ~= "" then out[#out + 1] = ("      %s,"):format(quote_text(event.name)) end
    end
    out[#out + 1] = "    } },"
  end
  local command = command_of(file)
  if command then out[#out + 1] = ("    record = %s,"):format(quote_text(command)) end
  out[#out + 1] = "  },"
  out[#out + 1] = ""
end

local function add_handler(out, key, label, count, fields)
  out[#out + 1] = ("  -- %s"):format(format_count(count, "sample"))
  out[#out + 1] = ("  [%s] = function(s)"):format(quote_text(key))
  write_fields(out, "    ", fields)
  out[#out + 1] = ("    count(%s)"):format(quote_text(label))
  out[#out + 1] = "  end,"
  out[#out + 1] = ""
end

-- Words in lines of comments, of some 100 columns.
local function wrap_words(out, words)
  local line = "  --  "
  for i, word in ipairs(words) do
    if #line + #word > 100 then
      out[#out + 1], line = line, "  --  "
    end
    line = line .. " " .. word .. (i < #words and "," or "")
  end
  if words[1] then out[#out + 1] = line end
end

local function add_types(out, parts)
  local title = "  -- Other records; a handler with such a name gets them:"
  for _, part in ipairs(parts) do
    if part.type_id ~= SAMPLE then
      local desc, words = types()[part.type_id], {}
      for i, field in ipairs(desc and desc.fields or {}) do words[i] = "r." .. field.name end
      out[#out + 1], title = title, nil
      out[#out + 1] = ("  -- %s = function(r) end, -- %s"):format(desc and desc.name or "other",
        format_count(part.count, "record"))
      wrap_words(out, words)
    end
  end
end

local head = [[
-- Counts the samples of each event: a start, made by perflua gen from %s.
-- Usage: perflua SCRIPT.lua [perf.data]

local counts = {}

local function count(name) counts[name] = (counts[name] or 0) + 1 end
]]

local tail = [[

  finish = function()
    local names = {}
    for name in pairs(counts) do names[#names + 1] = name end
    table.sort(names, function(a, b)
      if counts[a] ~= counts[b] then return counts[a] > counts[b] end
      return a < b
    end)
    for _, name in ipairs(names) do print(("%10d  %s"):format(counts[name], name)) end
  end,
}
]]

---@param file perflua.File
---@param parts table[] # see perflua.meta.survey
---@return string # the script
function starter.text(file, parts)
  local out = { head:format(fmt.escape(file.path)) }
  local events, names = events_of(parts), {}
  for _, event in ipairs(file.events) do names[event.name] = true end
  local common, list = common_fields(parts)
  if list[1] then
    out[#out + 1] = "-- Fields of every sample, with an example:"
    write_fields(out, "", list)
    out[#out + 1] = ""
  end
  out[#out + 1] = "return {"
  add_meta(out, events, file)
  out[#out + 1] = '  begin = function() print(("%10s  %s"):format("samples", "event")) end,'
  out[#out + 1] = ""
  for _, event in ipairs(events) do
    local key = key_of(event.name, names)
    if key then
      add_handler(out, key, fmt.escape(event.name), event.count, own_fields(event.part, common))
    end
  end
  for _, part in ipairs(parts) do
    if part.type_id == SAMPLE and not part.event then
      add_handler(out, "sample", "(event unknown)", part.count,
        own_fields(part, common))
    end
  end
  add_types(out, parts)
  out[#out + 1] = tail
  return table.concat(out, "\n")
end

return starter
