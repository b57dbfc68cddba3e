-- The binaries of a recording as a tar archive of perf's build-id cache, as perf archive makes
-- it: NAME/BUILD-ID/elf, debug, kallsyms or vdso, and links .build-id/xx/yyyy… to
-- NAME/BUILD-ID.

local each_binary = require "perflua.file.binaries".each
local errno = require "perflua.errors".errno
local interrupted = require "perflua.table.interrupted"
local tar = require "perflua.text.tar"

local archive = {}

local CHUNK <const> = 1 << 20
local ELF <const> = "\x7fELF"

-- The kinds of binaries that the cache has.
local has_files = { file = true, kernel = true, module = true, vdso = true }

-- Where lists of the kernel's symbols are found that a build-id proves.
local proven_lists = { ["build-id cache"] = true, ["the kernel that runs here"] = true }

-- Returns where a file has its build-id: the offset of the note's owner, "GNU"; nil: nowhere.
local function find_note(file, note)
  local before, offset = "", 0
  for chunk in function() return file:read(CHUNK) end do
    local text = before .. chunk
    local at = text:find(note, 1, true)
    if at then return offset + at - 1 end
    before = text:sub(-#note + 1)
    offset = offset + #text - #before
  end
end

-- Returns whether a file is that of a binary, and where its note is if it has one. The search
-- for symbols proves compressed modules.
local function prove(file, row)
  if file:read(#ELF) ~= ELF then return row.kind == "module" end
  file:seek "set"
  local at = find_note(file, row.note)
  return at ~= nil, at
end

-- Copies a file whose header says `size`. Returns nil, a message and a code if it has other
-- bytes now, or a write fails.
local function copy(file, size, put)
  file:seek "set"
  local rest = size
  while rest > 0 do
    local chunk, reason, code = errno(file:read(math.min(rest, CHUNK)))
    if reason then return nil, reason, code end
    if not chunk then return nil, "the file changed while it was read" end
    local ok, message
    ok, message, code = put(chunk)
    if not ok then return nil, message, code end
    if interrupted.now() then return nil, "interrupted", "EINTR" end
    rest = rest - #chunk
  end
  if file:read(0) then return nil, "the file changed while it was read" end
  return true
end

-- Adds a file. Returns true if it was added, false if it is not there or not the binary's; or
-- nil, a message and a code.
local function add_file(row, name, path, put)
  local file <close> = io.open(path, "rb")
  if not file then return false end
  local proven, at = prove(file, row)
  if not proven then return false end
  local size = file:seek "end"
  local ok, message, code = put(tar.file(name, size))
  if ok then ok, message, code = copy(file, size, put) end
  if ok and at then
    file:seek("set", at)
    if file:read(#row.note) ~= row.note then
      ok, message = nil, "the file changed while it was read"
    end
  end
  if ok then return put(tar.padding(size)) end
  return nil, path .. ": " .. message, code
end

-- Adds a list of the kernel's symbols; those of /proc do not tell their size.
local function add_list(row, name, path, put)
  local file <close> = proven_lists[row.found] and io.open(path, "rb")
  local text = file and file:read "a"
  if not text then return false end
  return put(tar.file(name, #text) .. text .. tar.padding(#text))
end

local function is_elf(path)
  local file <close> = io.open(path, "rb")
  return file ~= nil and file:read(#ELF) == ELF
end

-- Returns { name in the cache, path, function that adds it } of each file of a binary.
local function files_of(row)
  local debug = row.debug_file or row.symbol_file
  if row.proof then -- these paths are of where the recording was packed
    debug = row.mapped_file
  elseif row.symbol_file and row.kind == "vdso" then
    return { { "vdso", row.symbol_file, add_file } }
  elseif row.symbol_file and row.kind == "kernel" then
    return { is_elf(row.symbol_file) and { "elf", row.symbol_file, add_file }
      or { "kallsyms", row.symbol_file, add_list } }
  end
  local files = {}
  if row.mapped_file then files[1] = { "elf", row.mapped_file, add_file } end
  if debug and debug ~= row.mapped_file then
    files[#files + 1] = { "debug", debug, add_file }
  end
  return files
end

-- Adds the files of a binary, and the link to them. Returns whether there were some; or nil, a
-- message and a code.
local function add_binary(row, put)
  local name = row.name:gsub("^/+", "")
  local first, others = row.build_id:match "^(..)(.+)$"
  -- tar would write outside of the cache
  if name == "" or not first or ("/" .. name .. "/"):find("/../", 1, true) then return false end
  local directory, found = name .. "/" .. row.build_id, false
  for _, entry in ipairs(files_of(row)) do
    local ok, message, code = entry[3](row, directory .. "/" .. entry[1], entry[2], put)
    if ok == nil then return nil, message, code end
    found = found or ok
  end
  if not found then return false end
  return put(tar.link((".build-id/%s/%s"):format(first, others), "../../" .. directory))
end

---Lists the binaries with samples, of all frames of call chains, too.
---@param file perflua.File
---@return table[] # those with a build-id, each once: rows of file:binaries()
---@return integer # how many others there are
function archive.binaries(file)
  local rows, seen, others = {}, {}, 0
  each_binary(file, "reached", function(row)
    if not row.loaded or not has_files[row.kind] then return end
    local id = row.build_id
    if not id then
      others = others + 1
    elseif not seen[id] then
      seen[id], rows[#rows + 1] = true, row
      row.note = "GNU\0" .. id:gsub("%x%x", function(x) return string.char(tonumber(x, 16)) end)
    end
  end)
  return rows, others
end

---Writes the archive.
---@param rows table[] of archive.binaries()
---@param out file*
---@return { binaries: integer, bytes: integer, missing: string[] }? # missing: names of those
--- without a file here that their build-id proves
---@return string? message
---@return string? code
function archive.write(rows, out)
  local summary = { binaries = 0, bytes = 0, missing = {} }
  local function put(text)
    summary.bytes = summary.bytes + #text
    local ok, message, code = errno(out:write(text))
    return ok and true, message, code
  end
  for _, row in ipairs(rows) do
    local found, message, code = add_binary(row, put)
    if found == nil then return nil, message, code end
    if found then
      summary.binaries = summary.binaries + 1
    else
      summary.missing[#summary.missing + 1] = row.name
    end
  end
  if summary.binaries == 0 then
    return nil, "no file here is proven by the build-id of a binary with samples", "ENOENT"
  end
  local ok, message, code = put(tar.END)
  return ok and summary, message, code
end

return archive
