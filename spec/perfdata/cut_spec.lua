-- Recordings cut anywhere, and with any byte damaged, in every container.
--
-- SWEEP=1 (make sweep) tries every place; else some, others in each container.
local containers = require "spec.support.containers"
local harmed = require "spec.support.harmed"
local perflua = require "perflua"
local files = require "spec.support.files"
local seen = require "spec.support.seen"

local SWEEP = os.getenv "SWEEP"
-- steps between the places that are tried
local CUTS, FLIPS = SWEEP and 1 or 89, SWEEP and 4 or 4 * 79

warn "@off"

--- Calls fn(subject, number of a part, the part) for the parts of a container with that
--- recording.
local function each_part(container, recording, fn)
  local subject = harmed.subject(container, recording)
  for i, part in ipairs(subject.parts) do
    fn(subject, i, part)
  end
end

local function check_cut(subject, i, part, at)
  local from, to = subject:range(i)
  local keys, complete, damages = subject:with(i, part.bytes:sub(1, at))
  if not keys then
    assert(at < from, "refused")
    return
  end
  local n, whole = 0, at == from
  for _, r in ipairs(part.records) do
    if keys[n + 1] == r.key and r.own <= at then
      n = n + 1
    else -- of a compressed record that was cut, and of a payload, what is there may be of use
      assert(r.to > at, r.key .. " is lost")
    end
    whole = whole or r.to == at
  end
  assert(n == #keys, tostring(keys[n + 1]) .. " is not there")
  assert(whole or at < from or at > to or not complete and damages > 0,
    "nothing says that something is missing")
end

--- The record whose own bytes the byte at `at` is one of, or its payload's.
local function damaged_record(part, at)
  for _, r in ipairs(part.records) do
    if not r.inside and r.from <= at and at < r.to then
      return r
    end
  end
end

local function check_flip(subject, i, part, at)
  local flipped = string.char(part.bytes:byte(at + 1) ~ 0xff)
  local keys = assert(subject:with(i, part.bytes:sub(1, at) .. flipped
    .. part.bytes:sub(at + 2)), "refused")
  local found, hit = {}, damaged_record(part, at)
  for _, key in ipairs(keys) do
    found[key] = true
  end
  for _, r in ipairs(part.records) do
    -- a compressed stream is lost from there on
    local reached = r.inside or r.from <= hit.to + harmed.SEARCHED
    assert(found[r.key] or r.to > at and reached, r.key .. " is lost")
  end
end

--- Calls check at these places; all that is wrong, the first few places of it.
local function try(container, recording, check, places)
  local wrong, n = {}, 0
  each_part(container, recording, function(subject, i, part)
    for _, at in ipairs(places(subject, i, part)) do
      n = n + 1
      local ok, problem = pcall(check, subject, i, part, at)
      if not ok and #wrong < 10 then
        wrong[#wrong + 1] = ("at byte %d of part %d: %s"):format(at, i, problem)
      end
    end
  end)
  assert.is_true(n > 10)
  assert.are.same({}, wrong)
end

for number, container in ipairs(harmed.containers()) do
  describe("a " .. container.name, function()
    it("delivers the whole records before a cut", function()
      try(container, harmed.recording(), check_cut, function(_, _, part)
        local places = {}
        for at = number % CUTS, #part.bytes - 1, CUTS do
          places[#places + 1] = at
        end
        for k, r in ipairs(part.records) do
          if SWEEP or k % 7 == number % 7 then
            table.move({ r.to - 1, r.to, r.to + 1 }, 1, 3, #places + 1, places)
          end
        end
        return places
      end)
    end)

    it("loses a damaged record, and the bytes that are searched for the next", function()
      try(container, harmed.recording(true), check_flip, function(subject, i, part)
        local from, to = subject:range(i)
        local places = {}
        -- of the large records after the others one is enough
        for at = from + 4 * number % FLIPS, math.min(to, from + 3500) - 1, FLIPS do
          places[#places + 1] = at
        end
        for k, r in ipairs(part.records) do
          for byte = 0, 7 do -- of the headers, on which the others depend
            if not r.inside and r.from < from + 3500
                and (SWEEP or (k + byte) % 17 == number % 17) then
              places[#places + 1] = r.from + byte
            end
          end
        end
        return places
      end)
    end)

    it("is read, or refused with a reason, if a byte before its records is damaged", function()
      each_part(container, harmed.recording(), function(subject, i, part)
        for at = number % 37, math.max(subject:range(i), 1000) - 1, SWEEP and 1 or 37 do
          if part.bytes:byte(at + 1) then
            local flipped = string.char(part.bytes:byte(at + 1) ~ 0xff)
            files.write(part.path, part.bytes:sub(1, at) .. flipped .. part.bytes:sub(at + 2))
            local file, message, code = perflua.open(subject.path)
            if file then
              pcall(function() file:records({ container = true }):count() end)
              file:close()
            else
              assert.is_true(#message > 0 and #code > 0)
            end
          end
        end
        files.write(part.path, part.bytes)
      end)
    end)
  end)
end

describe("a stream", function()
  local list = {}
  for _, container in ipairs(containers.list) do
    if not container.seekable then
      list[#list + 1] = container
    end
  end

  --- Types and offsets of the records of these bytes, in the order of the file.
  local function through(bytes, stream)
    local path = files.temporary(bytes)
    local file, message, code = perflua.open(stream and containers.stream(path) or path)
    if not file then
      return { message:match ": (.*)", code }
    end
    local found = {}
    for kind, offset, inside in file:records({ order = "file", container = true })
      :select("type", "offset", "chunk_offset"):each() do
      found[#found + 1] = ("%s %d+%s"):format(kind, offset, inside)
    end
    found[#found + 1] = tostring(file.complete)
    file:close()
    return found
  end

  for number, container in ipairs(list) do
    it("gives for a cut or damaged stream the records of the same file: "
      .. container.name, function()
      local bytes = files.read(container.write(harmed.recording()))
      local step = SWEEP and 7 or 499
      -- where a payload ends a stream can only believe
      local payload = tonumber(table.concat(through(bytes), " "):match "auxtrace (%d+)") + 8
      for at = number * 7 % step, #bytes - 1, step do
        local variants = { bytes:sub(1, at) }
        if at < payload or at >= payload + 8 then
          variants[2] = bytes:sub(1, at) .. string.char(bytes:byte(at + 1) ~ 0xff)
            .. bytes:sub(at + 2)
        end
        for _, other in ipairs(variants) do
          assert.is_nil(seen.difference(through(other), through(other, true)), "at byte " .. at)
        end
      end
    end)
  end
end)
