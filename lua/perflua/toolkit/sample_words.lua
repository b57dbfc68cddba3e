-- The words of the options that choose samples (toolkit/samples.lua), as filters and ranges of
-- time. All functions raise what is wrong with the words.

local units = require "perflua.text.units"
local errors = require "perflua.errors"
local strip_position = errors.strip_position

local sample_words = {}

---@param text string
---@return string[] # its parts between commas
function sample_words.split(text)
  local list = {}
  for word in text:gmatch "[^,]+" do list[#list + 1] = word end
  if #list == 0 then error(("'%s' names nothing"):format(text), 0) end
  return list
end

local MOST_NUMBERS <const> = 65536 -- of a range

---Calls fn for each number of a list such as 0,2-3.
---@param text string
---@param fn fun(number: integer)
function sample_words.each_number(text, fn)
  for _, word in ipairs(sample_words.split(text)) do
    local first, last = word:match "^(%d+)%-(%d+)$"
    first = math.tointeger(tonumber(first or word))
    last = math.tointeger(tonumber(last or word))
    if not first or not last or last < first or last - first > MOST_NUMBERS then
      error(("'%s' is not a number, nor a range such as 0-3"):format(word), 0)
    end
    for i = first, last do fn(i) end
  end
end

local function list_numbers(text)
  local list = {}
  sample_words.each_number(text, function(i) list[#list + 1] = ("%d"):format(i) end)
  return table.concat(list, ", ")
end

local function quote(text) return ("%q"):format(text):gsub("\\\n", "\\n") end

local function quote_texts(text, split)
  local list = (split or sample_words.split)(text)
  for i, item in ipairs(list) do list[i] = quote(item) end
  return table.concat(list, ", ")
end

---Splits a list of events, whose names may have commas: those of a PMU between slashes, those
---in quotes.
---@param text string
---@return string[]
function sample_words.split_events(text)
  local list = {}
  local at = 1
  while at <= #text do
    local _, inside, after = text:match("^%s*(['\"])(.-)%1%s*()", at)
    if not inside then
      inside, after = text:match("^%s*([^,/]*/[^/]*/[^,]-)%s*()%f[,%z]", at)
    end
    if not inside then inside, after = text:match("^%s*([^,]-)%s*()%f[,%z]", at) end
    if inside ~= "" then list[#list + 1] = inside end
    if after <= #text and text:sub(after, after) ~= "," then
      error(("'%s': a comma expected after '%s'"):format(text, inside), 0)
    end
    at = after + 1
  end
  if #list == 0 then error(("'%s' names nothing"):format(text), 0) end
  return list
end

-- A binary is named by its path, or by its last part.
local function match_binaries(text)
  local terms = {}
  for i, word in ipairs(sample_words.split(text)) do
    terms[i] = ("dso == %s"):format(quote(word))
    if not word:find "/" then
      terms[i] = ("%s or glob(dso, %s)"):format(terms[i], quote("*/" .. word:gsub("[*?%[\\]",
        "[%0]")))
    end
  end
  return table.concat(terms, " or ")
end

--- The options that are conditions on samples, each with what makes a filter of its words.
sample_words.conditions = {
  { "where", function(text) return text end },
  { "comm", function(text) return "comm in { " .. quote_texts(text) .. " }" end },
  { "pid", function(text) return "pid in { " .. list_numbers(text) .. " }" end },
  { "tid", function(text) return "tid in { " .. list_numbers(text) .. " }" end },
  { "cpu", function(text) return "cpu in { " .. list_numbers(text) .. " }" end },
  { "dso", match_binaries },
  { "symbol", function(text) return "symbol in { " .. quote_texts(text) .. " }" end },
  { "event", function(text) return "event in { " .. quote_texts(text, sample_words.split_events)
    .. " }" end },
}

-- A time as perf's option has it: seconds need no sign.
local function time_of(text)
  if text == "" then return nil end
  if not (text:find "^[%d.]+$" or text:find "^@" or text:find "%%$" or text:find "^%d+%-%d+%-"
    or units.nanoseconds(text)) then
    error(("'%s' is not a time such as 1718.35, 20ms or 10%%; a range is FROM,TO"):format(text),
      0)
  end
  return (text:gsub("^[%d.]+$", "@%0"))
end

local is_open_end_told = false

-- Tells that a single time is the beginning of a range, once.
local function tell_open_end(text)
  if is_open_end_told or text:find "," then return end
  is_open_end_told = true
  errors.warning("--time %s: from %s%s on; a range with an end is FROM,TO", text, text,
    text:find "^[%d.]+$" and " s" or "")
end

-- One range as a window of between().
local function window_of(text)
  local from, to = text:match "^([%d.]+%%)%-([%d.]+%%)$"
  if from then return { from, to } end
  if text:find "%%/" then return text end
  if text:find "^[%d.]+%%$" then return { "0%", text } end
  from, to = text:match "^([^,]*),?([^,]*)$"
  if not from then error(("'%s' is not a range of times, FROM,TO"):format(text), 0) end
  local window = { time_of(from), time_of(to) }
  tell_open_end(text)
  return window
end

---Parses ranges as perf has them: shares of the time are separated by commas, FROM,TO by
---spaces.
---@param text string
---@return any[] # windows of between()
function sample_words.windows(text)
  local list = {}
  -- a date and its time are one word
  text = text:gsub("(%d%d%d%d%-%d%d%-%d%d) +(%d%d:)", "%1T%2")
  for word in text:gmatch "%S+" do
    local shares = word:find "%%[/-]" or not word:find "," and word:find "%%"
    for part in word:gmatch(shares and "[^,]+" or ".+") do list[#list + 1] = window_of(part) end
  end
  if #list == 0 then error("no time is named", 0) end
  return list
end

---Calls fn(...). Returns its result; raises its error with the option's name in front.
---@param name string
---@param fn function
---@return any
function sample_words.apply(name, fn, ...)
  local ok, result = pcall(fn, ...)
  if not ok then error(("--%s: %s"):format(name, strip_position(result)), 0) end
  return result
end

return sample_words
