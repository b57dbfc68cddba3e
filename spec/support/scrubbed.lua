-- Strings that a recording has, and which of them the bytes of its scrubbed copy still have.
local files = require "spec.support.files"
local perflua = require "perflua"
local rewritten = require "spec.support.rewritten"

local scrubbed = {}

local LEAST <const> = 4 -- bytes of a string that is looked for

-- Returns whether a text may be anywhere: numbers, as bytes too; hashes have digits up to f.
local function is_chance(text)
  local odd = select(2, text:gsub("[\0-\8\14-\31\127-\255]", ""))
  return #text < 8 and not text:find "[^%x]" or #text < 16 and odd * 2 >= #text
end

-- Adds a text, and the names of its file and directory if it is a path.
local function add(set, text)
  if type(text) ~= "string" then return end
  text = text:gsub("%.ko%.?%w*$", "") -- which stays
  local dir, base = text:match "^(.*)/([^/]*)$"
  for _, part in ipairs { text, dir, base } do
    if #part >= LEAST and not is_chance(part) then set[part] = true end
  end
end

-- Adds the strings in tables, whatever their keys.
local function add_all(set, value)
  if type(value) == "table" then
    for _, member in pairs(value) do add_all(set, member) end
  else
    add(set, value)
  end
end

local function bytes_of(hex)
  return (hex:gsub("%x%x", function(digits) return string.char(tonumber(digits, 16)) end))
end

local fields = { comm = { "comm" }, mmap = { "filename" }, mmap2 = { "filename", "build_id" },
  build_id = { "filename", "build_id" }, cgroup = { "path" }, ksymbol = { "name" },
  auxtrace_error = { "msg" }, bpf_event = { "tag" }, bpf_metadata = { "prog_name" } }

-- Returns a function that tells whether an address was mapped by a process, at any time.
local function mapped_in(file)
  local ranges = {}
  for record in file:records { order = "file" } do
    if record.type:find "^mmap" and record.len and record.cpumode ~= "kernel" then
      ranges[#ranges + 1] = { record.addr, record.addr + record.len }
    end
  end
  return function(address)
    for _, range in ipairs(ranges) do
      if address >= range[1] and address < range[2] then return true end
    end
    return false
  end
end

-- Adds the letters among words of the stack in a call chain, which nothing had mapped.
local function add_words(set, record, is_mapped)
  for _, entry in ipairs(record.type == "sample" and record.callchain or {}) do
    local word = entry.ip
    if word > 0 and word < 1 << 47 then
      for text in string.pack("<i8", word):gmatch "[ -~]+" do
        if #text >= LEAST and not is_mapped(word) then add(set, text) end
      end
    end
  end
end

local function add_record(set, record)
  for _, name in ipairs(fields[record.type] or {}) do
    local value = record[name]
    add(set, value and (name == "build_id" or name == "tag") and bytes_of(value) or value)
  end
  if record.type == "thread_map" then
    for _, thread in ipairs(record.threads or {}) do add(set, thread.comm) end
  end
  local args = record.type == "sample" and record.args
  for _, value in pairs(args or {}) do add(set, value) end
end

--- The strings of at least four bytes that the preset `anonymous` drops or hashes.
function scrubbed.strings(file)
  local set = {}
  local is_mapped = mapped_in(file)
  for record in file:records { container = true, order = "file" } do
    add_record(set, record)
    add_words(set, record, is_mapped)
  end
  for _, name in ipairs { "hostname", "osrelease", "cpudesc", "cpuid", "cmdline",
    "bpf_prog_info" } do
    add_all(set, file.features[name])
  end
  for _, entry in ipairs(file.features.build_id or {}) do
    add(set, entry.filename)
    if entry.build_id:find "[^0]" then add(set, bytes_of(entry.build_id)) end
  end
  return set
end

-- Names that stay in every recording: see src/scrub/names.c.
local common = { "//anon", "/dev/zero (deleted)", "/anon_hugepage (deleted)",
  "anon_inode:[perf_event]", "[vdso]", "[vdso32]", "[vvar]", "[vvar_vclock]",
  "[vsyscall]", "[heap]",
  "[stack]",
  "[vectors]", "[sigpage]", "[uprobes]", "[kernel.kallsyms]_text", "[kernel.kallsyms]_stext",
  "[guest.kernel.kallsyms]_text", "[kernel.vmlinux]", "[dropped]", "{anon_group}" }

-- Returns the bytes without what the preset keeps: names of events, formats of tracepoints.
local function without_kept(bytes, copy)
  bytes = bytes:gsub("\tfield[^\0-\8\14-\31\127-\255]+", "\0")
    :gsub("name: [%w_]+\nID: [^\0-\8\14-\31\127-\255]+", "\0")
  return bytes, table.concat(common, "\0") .. "\0" .. (copy.features.arch or "")
end

local function names_of(copy)
  local names = {}
  for _, event in ipairs(copy.events) do names[#names + 1] = event.name end
  for system in pairs((copy.features.tracing_data or {}).systems or {}) do
    names[#names + 1] = system
  end
  names[#names + 1] = copy.features.version
  return table.concat(names, "\0")
end

--- Those of the strings that the recording at a path has, one a line.
function scrubbed.leaks(strings, path)
  local copy <close> = assert(perflua.open(path))
  local bytes, kept = without_kept(files.read(path), copy)
  local names, list = names_of(copy), {}
  for text in pairs(strings) do
    if bytes:find(text, 1, true) and not kept:find(text, 1, true)
      and not names:find(text, 1, true) then
      list[#list + 1] = ("%q"):format(text)
    end
  end
  table.sort(list)
  return table.concat(list, "\n")
end

--- Scrubs a File or a query; returns the path of the copy, which is not compressed, and the
--- summary.
function scrubbed.write(from, options, form)
  local path = rewritten.path()
  local is_file = pcall(function() return from.path end)
  local query = is_file and from:records { container = true } or from
  local all = { scrub = options or {} }
  for name, value in pairs(form or {}) do all[name] = value end
  local summary = assert(query:write(path, all))
  return path, summary
end

return scrubbed
