-- generate.lua FIELDS.md REFERENCE.md TOOLS.md META.lua: writes the field reference, from the
-- tables of the core; the reference of the API, from those of lua/perflua/api; the help texts
-- of the tools; and the stubs for editors. `make docs` runs it.

local here = arg[0]:match("^(.*/)") or ""
package.path = here .. "?.lua;" .. package.path

assert(arg[4], "usage: perflua docs/generate.lua FIELDS.md REFERENCE.md TOOLS.md META.lua")
for i, name in ipairs { "fields", "reference", "tools", "meta" } do
  local file <close> = assert(io.open(arg[i], "w"))
  assert(file:write(require("generator." .. name)()))
end
