-- generate.lua FIELDS.md META.lua: writes the field reference and the stubs for editors, from the tables of the core.
-- `make docs` runs it.

local here = arg[0]:match("^(.*/)") or ""
package.path = here .. "?.lua;" .. package.path

local fields = require "generator.fields"
local meta = require "generator.meta"

local function read(path)
  local file <close> = assert(io.open(path))
  return file:read "a"
end

local function write(path, text)
  local file <close> = assert(io.open(path, "w"))
  assert(file:write(text))
end

assert(arg[2], "usage: perflua docs/generate.lua FIELDS.md META.lua")
write(arg[1], fields())
write(arg[2], meta(read(here .. "generator/meta.lua.in")))
