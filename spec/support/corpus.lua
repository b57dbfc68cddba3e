-- The real recordings in $PERFLUA_CORPUS, with what perf printed for each. Without it there are
-- none.
local files = require "spec.support.files"
local needs = require "spec.support.needs"

local corpus = {}

local root = os.getenv "PERFLUA_CORPUS"
if root == "" then
  root = nil
end
corpus.root = root

--- Magic, byte order and container of a file's first bytes; nil if it is not a recording.
local function envelope(path)
  local f = io.open(path, "rb")
  local head = f and f:read(16)
  if f then
    f:close()
  end
  if not head or #head < 16 then
    return nil
  end
  local magic = head:sub(1, 8)
  local version = magic == "PERFFILE" and 1 or (magic == "PERFILE2" or magic == "2ELIFREP")
    and 2
  if not version then
    return nil
  end
  local little, big = string.unpack("<I8", head, 9), string.unpack(">I8", head, 9)
  local is_big = magic == "2ELIFREP" or version == 1 and little > 1 << 32
  return {
    version = version,
    byte_order = is_big and "big" or "little",
    mode = (is_big and big or little) == 16 and "pipe" or "file",
  }
end

local places = {
  { "^collected/(.*)$", { "expected/perf-6.1/%s", "expected/perf-7.2/%s" } },
  { "^(recorded/[^/]+/)([^/]+)$", { "%sexpected/%s" } },
}

--- perf's kept outputs for a recording: kind → list of paths, the older perf first.
local function expected_of(name)
  local found = {}
  for _, place in ipairs(places) do
    local a, b = name:match(place[1])
    for _, form in ipairs(a and place[2] or {}) do
      for _, kind in ipairs { "dump", "script", "report", "header", "evlist" } do
        for _, tail in ipairs { ".txt.gz", ".txt" } do
          local path = root .. "/" .. form:format(a, b) .. "." .. kind .. tail
          if files.exists(path) then
            found[kind] = found[kind] or {}
            table.insert(found[kind], path)
          end
        end
      end
    end
  end
  return found
end

-- perf's own names of records that perflua calls without HEADER_.
local not_of_header = {
  HEADER_TRACING_DATA = "TRACING_DATA", HEADER_EVENT_TYPE = "EVENT_TYPE",
  HEADER_BUILD_ID = "BUILD_ID",
}

--- The records an independent inspector found in each collected file, by type: name → {SAMPLE =
--- n, …}.
local function inspected()
  local found = {}
  for line in io.lines(root .. "/README.md") do
    local name, counts = line:match "^| `([^`]+)` |.*| (%u[%u%d_]+:%d+[%u%d_: ]*) |"
    if name then
      local by_type = {}
      for kind, n in counts:gmatch "([%u%d_]+):(%d+)" do
        by_type[not_of_header[kind] or kind] = tonumber(n)
      end
      found["collected/" .. name] = by_type
    end
  end
  return found
end

local known

--- All recordings that are single files, sorted by name: {name, path, version, byte_order,
--- mode, expected, records (counts by type, where the corpus tells them)}.
function corpus.recordings()
  if known or not root then
    return known or {}
  end
  known = {}
  local counts = inspected()
  local find = "cd " .. files.quote(root) .. " && find collected recorded -type f -size +0 "
    .. "-not -path '*/expected/*' -not -path '*.dir/*' | LC_ALL=C sort"
  for name in files.lines(find) do
    local path = root .. "/" .. name
    local r = envelope(path)
    if r then
      r.name, r.path, r.expected, r.records = name, path, expected_of(name), counts[name]
      known[#known + 1] = r
    end
  end
  return known
end

--- Declares one spec for each recording that is a single file, or one that is pending without a
--- corpus. `it` is busted's, body takes a recording.
function corpus.each_file(it, name, body)
  if not root then
    needs.it("corpus", name, body)
  end
  for _, recording in ipairs(corpus.recordings()) do
    it(name .. ": " .. recording.name, function()
      body(recording)
    end)
  end
end

return corpus
