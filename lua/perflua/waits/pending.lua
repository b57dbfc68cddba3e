-- Open items by two keys, and counts of those that could not be paired: for passes in which
-- pair() (perflua.intervals) cannot tell which record belongs to which.

local aside = require "perflua.group.aside"
local fmt = require "perflua.text.fmt"

local pending = {}

local Pending = {}
Pending.__index = Pending

---@param keeps_first boolean? of two that begin before an end the first goes on; else the
--- second
---@return table # { open, pairs, unopened, restarted, lost, unreadable }; counts are those of
--- table/pair_counts.lua
function pending.new(keeps_first)
  return setmetatable({
    open = {}, pairs = 0, unopened = 0, restarted = 0, lost = 0, unreadable = 0,
    keeps_first = keeps_first or false,
  }, Pending)
end

---@param a any
---@param b any
---@param what any to be given back at the end; not nil
function Pending:begin(a, b, what)
  local inner = self.open[a]
  if not inner then
    inner = {}
    self.open[a] = inner
  end
  if inner[b] == nil then
    inner[b] = what
  else
    self.restarted = self.restarted + 1
    if not self.keeps_first then inner[b] = what end
  end
end

---@param a any
---@param b any
---@return any # what was begun; nil: nothing
function Pending:finish(a, b)
  local inner = self.open[a]
  local what = inner and inner[b]
  if what == nil then
    self.unopened = self.unopened + 1
    return nil
  end
  inner[b] = nil -- the table stays: there is a next time
  self.pairs = self.pairs + 1
  return what
end

---@param a any
---@param b any
---@return boolean
function Pending:has(a, b)
  local inner = self.open[a]
  return inner ~= nil and inner[b] ~= nil
end

---Forgets an open item without counting it.
---@param a any
---@param b any
---@return boolean # was there any?
function Pending:forget(a, b)
  local had = self:has(a, b)
  if had then self.open[a][b] = nil end
  return had
end

local function number_of(inner)
  local n = 0
  for _ in pairs(inner or {}) do n = n + 1 end
  return n
end

---Records were lost: what is open may have ended.
---@param a any of this key; nil: all
function Pending:drop(a)
  for key, inner in pairs(self.open) do
    if a == nil or a == key then
      self.lost = self.lost + number_of(inner)
      self.open[key] = nil
    end
  end
end

---Counts a sample that lacks what tells what began or ended, or has it damaged.
function Pending:skip() self.unreadable = self.unreadable + 1 end

---Hands on what ended, unless it took so long that one of its times is damage.
---@param take fun(what: any, duration: integer)
---@param what any
---@param duration integer ns
function Pending:pass(take, what, duration)
  if aside.is(duration) then self:skip() else take(what, duration) end
end

---@return integer # what has not ended
function Pending:unclosed()
  local n = 0
  for _, inner in pairs(self.open) do n = n + number_of(inner) end
  return n
end

-- Texts of the notes, for fmt.phrase(); NOUN is replaced by the caller's noun.
local texts_of_notes = {
  unopened = "{NOUN is|NOUNs are} not counted: {its|their} start was not recorded",
  restarted = "{NOUN|NOUNs} began again without an end: the last start counts",
  restarted_first = "{NOUN|NOUNs} began again without an end: the first start counts",
  lost = "{NOUN is|NOUNs are} not counted: records were lost before {it|they} ended",
  unclosed =
    "{NOUN is|NOUNs are} not counted: {it|they} had not ended when the recording ended",
  unreadable =
    "{sample|samples} of NOUNs {lacks|lack} a required field or {has|have} it damaged",
}

local function list_notes(self, noun, texts)
  local restarted = self.keeps_first and "restarted_first" or "restarted"
  local list = { { "unopened", self.unopened }, { "restarted", self.restarted, restarted },
    { "lost", self.lost },
    { "unclosed", self:unclosed() } }
  if self.unreadable > 0 then list[#list + 1] = { "unreadable", self.unreadable } end
  for _, note in ipairs(list) do
    note[3] = texts and texts[note[1]] or texts_of_notes[note[3] or note[1]]:gsub("NOUN", noun)
  end
  return list
end

---Adds notes on what could not be paired to a table (table/result_table.lua).
---@param list table
---@param noun string names one of what began: "wait"
---@param texts table<string, string>? other texts, by the name of a note; `prefix` is put
--- before these names
function Pending:add_notes(list, noun, texts)
  for _, note in ipairs(list_notes(self, noun, texts)) do
    list:note((texts and texts.prefix or "") .. note[1], note[2], note[3])
  end
end

---@param noun string
---@return string[] # the notes whose count is not 0, as phrases
function Pending:phrases(noun)
  local phrases = {}
  for _, note in ipairs(list_notes(self, noun)) do
    if note[2] > 0 then phrases[#phrases + 1] = fmt.phrase(note[2], note[3]) end
  end
  return phrases
end

---Writes the notes to standard error.
---@param tool string
---@param noun string
function Pending:log_notes(tool, noun)
  for _, phrase in ipairs(self:phrases(noun)) do
    io.stderr:write("perflua: ", tool, ": ", phrase, "\n")
  end
end

return pending
