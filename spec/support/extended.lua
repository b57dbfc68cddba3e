-- perflua built from a copy of the sources in which tables have more rows.
local files = require "spec.support.files"

local extended = {}

-- $1: a new directory, $2: the directory of the build that is tested, below build/
local PREPARE = [[set -e
cp -a Makefile src lua "$1"
mkdir -p "$1/$2"
cp -a build/config.mk "$1/build"
cp -a "$2/obj" "$1/$2"
]]

-- The environment of the make that runs the specs names its own targets and variables.
local MAKE = [[cd "$1" && env -u MAKEFLAGS -u MAKEOVERRIDES make B="$2" $3 "$2/perflua" 2>&1]]

local function run(command, ...)
  local words = { "sh", "-c", files.quote(command), "sh" }
  for _, word in ipairs { ... } do words[#words + 1] = files.quote(word) end
  local text, ok = files.output(table.concat(words, " "))
  assert(ok, text)
  return text
end

--- Builds perflua in a directory that the caller removes. An edit { path, text, more } puts
--- more before the text.
---@return string # path of the program
function extended.build(dir, edits)
  local perflua, top = os.getenv "PERFLUA", files.output "pwd":match "[^\n]+"
  if perflua:sub(1, #top + 1) == top .. "/" then perflua = perflua:sub(#top + 2) end
  local b = perflua:match "(build[^ ]*)/perflua$"
  run(PREPARE, dir, b)
  for _, edit in ipairs(edits) do
    local path = dir .. "/" .. edit[1]
    local source = files.read(path)
    local at = assert(source:find(edit[2], 1, true), "the source has no " .. edit[2])
    files.write(path, source:sub(1, at - 1) .. edit[3] .. source:sub(at))
  end
  run(MAKE, dir, b, b:find "san" and "SAN=1" or "")
  return dir .. "/" .. b .. "/perflua"
end

return extended
