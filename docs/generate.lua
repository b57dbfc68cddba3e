-- generate.lua NAME FILE …: writes the field reference (NAME: fields), from the tables of the
-- core; the reference of the API, from those of lua/perflua/api; the help texts of the tools;
-- and what editors know of perflua (meta). `make docs` and `make` run it.

local here = arg[0]:match("^(.*/)") or ""
package.path = here .. "?.lua;" .. package.path

assert(arg[2], "usage: perflua docs/generate.lua {fields|reference|tools|meta FILE}…")
for i = 1, #arg, 2 do
  local file <close> = assert(io.open(arg[i + 1], "w"))
  assert(file:write(require("generator." .. arg[i])()))
end
