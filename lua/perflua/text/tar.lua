-- Entries of tar archives (POSIX.1-2001: ustar, and pax headers for what has no room there).
-- They belong to root, and their time is 0, so that equal contents make equal archives.

local tar = {}

local BLOCK <const> = 512
local NAME_ROOM <const> = 100
local MAX_SIZE <const> = 8 ^ 11 - 1
local REGULAR <const>, SYMLINK <const>, PAX <const> = "0", "2", "x"

-- name, mode, uid, gid, size, mtime, checksum, type, target, magic and version, names of owner
-- and group, device, prefix, padding
local HEADER <const> = "c100 c8 c8 c8 c12 c12 c8 c1 c100 c8 c64 c16 c155 c12"

---The end of an archive.
tar.END = ("\0"):rep(2 * BLOCK)

---@param size integer bytes of a file
---@return string # what follows them
function tar.padding(size) return ("\0"):rep(-size % BLOCK) end

local function pack_header(kind, name, mode, size, target)
  local function pack(checksum)
    return HEADER:pack(name, ("%07o"):format(mode), "0000000", "0000000",
      ("%011o"):format(size), ("%011o"):format(0), checksum, kind, target,
      "ustar\00000", "", "", "", "")
  end
  local unsigned, sum = pack "        ", 0
  for i = 1, BLOCK do sum = sum + unsigned:byte(i) end
  return pack(("%06o\0 "):format(sum))
end

-- Returns "LENGTH KEY=VALUE\n", whose length includes its own digits.
local function pax_record(key, value)
  local text = " " .. key .. "=" .. value .. "\n"
  local length = #text + #tostring(#text)
  if #tostring(length) > #tostring(#text) then length = #text + #tostring(length) end
  return length .. text
end

local function entry(kind, name, mode, size, target)
  local records = ""
  if #name > NAME_ROOM then records = records .. pax_record("path", name) end
  if #target > NAME_ROOM then records = records .. pax_record("linkpath", target) end
  if size > MAX_SIZE then records = records .. pax_record("size", size) end
  local header = pack_header(kind, name:sub(1, NAME_ROOM), mode, size > MAX_SIZE and 0 or size,
    target:sub(1, NAME_ROOM))
  if records == "" then return header end
  return pack_header(PAX, "pax", 420, #records, "") .. records .. tar.padding(#records)
    .. header
end

---@param name string
---@param target string
---@return string # the entry of a symbolic link
function tar.link(name, target) return entry(SYMLINK, name, 511, 0, target) end

---@param name string
---@param size integer
---@return string # the header of a file; its bytes and tar.padding() follow
function tar.file(name, size) return entry(REGULAR, name, 420, size, "") end

return tar
