-- An overview as lines for the eye, part by part, in the order of perflua.overview. A line is a
-- text, or { text, what, is_whole = boolean? } where display.mark() colours it by `what`; a
-- whole line is not broken where the terminal is narrow.

local core = require "perflua.core"
local display = require "perflua.text.display"
local fmt = require "perflua.text.fmt"
local perflua = require "perflua"
local words = require "perflua.doctor.words"

local show = { INDENT = 13 } -- of what follows the name of a fact

local COMMAND <const> = 160 -- bytes of a command that are shown
local WIDTH <const> = 60 -- of commands whose comments are aligned
local NAME <const> = 40 -- of functions whose binaries are aligned

local function add(lines, name, text)
  lines[#lines + 1] = ("  %-9s  %s"):format(name, text)
end

-- Joins what is known of a list of values.
local function join(...)
  local known = {}
  for i = 1, select("#", ...) do known[#known + 1] = (select(i, ...)) or nil end
  return #known > 0 and table.concat(known, ", ") or nil
end

local function cut_command(command)
  local shown = {}
  for i, word in ipairs(command) do shown[i] = fmt.shell_word(word) end
  local text = table.concat(shown, " ")
  if #text <= COMMAND then return text end
  return text:sub(1, utf8.offset(text, 0, COMMAND) - 1) .. " …"
end

local function describe_event(event)
  local period = event.sample_period or 1
  local rate = event.sample_freq and (" at %d Hz"):format(event.sample_freq)
    or period ~= 1 and (" every %s"):format(fmt.unsigned(period)) or ""
  return event.event .. rate
end

local CHAINS <const> = { dwarf = "call chains from copied stacks", frames = "call chains" }

local function describe_events(found)
  local shown, with = {}, {}
  for _, event in ipairs(found.events) do
    if not event.dummy then shown[#shown + 1] = event end
    if event.chains then with[CHAINS[event.chains]] = true end
    if event.branches then with["branch stacks"] = true end
  end
  local text = words.first(shown, "event", describe_event)
  local parts = {}
  for part in pairs(with) do parts[#parts + 1] = part end
  table.sort(parts)
  return text .. (parts[1] and "; with " .. table.concat(parts, ", ") or "")
end

local function title_of(about)
  local when = about.captured_on and os.date("%a %b %e %H:%M:%S %Y", about.captured_on)
  return ("%s: %s"):format(about.path, join(about.size and words.bytes(about.size),
    when and "recorded " .. when, about.host and "on " .. about.host) or about.mode)
end

---Shows what is known before any record is read, in one line.
function show.line(found) return title_of(found.recording) .. ": " .. describe_events(found) end

---Shows what is known before any record is read.
function show.describe(found)
  local about, lines = found.recording, {}
  lines[1] = { title_of(about), "heading" }
  local machine = join(about.kernel and "Linux " .. about.kernel, about.architecture,
    about.processors and words.count(about.processors, "processor") .. (about.processor and
      " (" .. about.processor .. ")" or ""), about.memory and words.bytes(about.memory),
    about.perf and "perf " .. about.perf)
  if machine then add(lines, "machine", machine) end
  if about.command[1] then add(lines, "command", cut_command(about.command)) end
  add(lines, "events", describe_events(found))
  return lines
end

-- Adds a table of the heaviest rows of one event below a title.
local function add_rows(lines, title, rows, text)
  lines[#lines + 1] = ""
  lines[#lines + 1] = { title, "heading" }
  for _, row in ipairs(rows) do
    lines[#lines + 1] = { ("  %6.2f%%  %s"):format(row.percent or 0, text(row)),
      row.percent or 0 }
  end
end

---Shows samples by event and by command.
function show.count(found)
  local counted, lines, total = {}, {}, 0
  for _, event in ipairs(found.events) do
    total = total + event.samples
    if event.samples > 0 then counted[#counted + 1] = event end
  end
  table.sort(counted, function(a, b) return a.samples > b.samples end)
  add(lines, "samples", total == 0 and "none" or words.first(counted, "event", function(event)
    return ("%s %d"):format(event.event, event.samples)
  end))
  for _, top in ipairs(found.top) do
    add_rows(lines, top.event .. " by command", top.commands, function(row)
      return row.comm or "-"
    end)
  end
  return lines
end

---Shows whether the recording is whole and good.
function show.check(found)
  local health, lines = found.health, { "" }
  if health.first_time then
    add(lines, "time", ("%s to %s: %s"):format(perflua.seconds(health.first_time),
      perflua.seconds(health.last_time), words.duration(health.last_time - health.first_time)))
  end
  local lost = health.lost
  add(lines, "lost", lost.records == 0 and lost.samples == 0 and "nothing"
    or join(words.count(lost.records, "record"), words.count(lost.samples, "sample")))
  for _, finding in ipairs(health.findings) do
    add(lines, finding.level, finding.text)
    lines[#lines] = { lines[#lines], finding.level }
    if finding.advice then add(lines, "", "-> " .. finding.advice) end
  end
  return lines
end

-- Returns a text with blanks up to a width.
local function pad(text, width) return text .. (" "):rep(width - core.columns(text)) end

---Shows samples by function.
function show.name(found)
  local lines = {}
  for _, top in ipairs(found.top) do
    local without, width = top.without_function or 0, 0
    local title = top.event .. " by function"
      .. (without > 0 and (" (%s have none here)"):format(words.percent(without)) or "")
    local function name_of(row) return fmt.escape(row.symbol or "-") end
    for _, row in ipairs(top.functions) do
      width = math.max(width, math.min(core.columns(name_of(row)), NAME))
    end
    add_rows(lines, title, top.functions, function(row)
      return ("%s  %s"):format(pad(name_of(row), width), fmt.base_name(row.dso or "-"))
    end)
  end
  return lines
end

-- Adds a line to paste.
local function add_whole(lines, text) lines[#lines + 1] = { text, is_whole = true } end

-- Adds commands, with comments beside them, or above all of them if a line would not fit.
local function add_commands(lines, commands)
  local width, longest, room = 0, 0, display.form().columns or math.huge
  for _, row in ipairs(commands) do
    if #row.command <= WIDTH then width = math.max(width, #row.command) end
  end
  for _, row in ipairs(commands) do
    longest = math.max(longest, core.columns(
      ("  %s  # %s"):format(pad(row.command, width), row.text)))
  end
  for _, row in ipairs(commands) do
    if longest <= room then
      add_whole(lines, ("  %s  # %s"):format(pad(row.command, width), row.text))
    else
      for _, line in ipairs(display.wrap("    " .. row.text, 4)) do
        add_whole(lines, (line:gsub("^ *", "  # ", 1)))
      end
      add_whole(lines, "  " .. row.command)
    end
    if row.tools then lines[#lines + 1] = "    " .. table.concat(row.tools, ", ") end
  end
end

---Shows what to ask and to record next.
function show.suggest(found)
  local lines = { "" }
  add_commands(lines, found.commands)
  if found.record[1] then lines[#lines + 1] = { "to see more, record:", "heading" } end
  add_commands(lines, found.record)
  return lines
end

return show
