-- Makes a recording of a description, which is read as data.

local core = require "perflua.core"
local errors = require "perflua.errors"
local output = require "perflua.table.output"
local write = require "perflua.write"
local errno, guard = errors.errno, errors.guard

local build = {}

-- Builds into `target`, a path or an open file; `shown` names it in messages.
local function build_to(from, path, target, shown)
  local summary, message, code = guard(core.build, from, path, target)
  if summary or not math.type(code) then return summary, message, code end
  return errno(nil, ("%s: %s"):format(shown, message), code)
end

-- Builds at a path, where nothing appears before the recording is whole.
local function build_at(from, path, target, force)
  local ok, message, code = write.check_target(nil, target, force)
  if not ok then return nil, message, code end
  if core.stat(target) == "stream" then return build_to(from, path, target, target) end
  local summary
  ok, message, code = output.replace(target, function(temporary)
    local reason, kind
    summary, reason, kind = build_to(from, path, temporary, target)
    return summary and true, reason, kind
  end, false, false)
  if not ok then return nil, message, code end
  return summary
end

---@param path string of the description; - is standard input
---@param target string|file* where the recording is written
---@param options { force: boolean? }
---@return { records: integer, samples: integer, bytes: integer }?, string?, string?
function build.file(path, target, options)
  local from = io.stdin
  if path ~= "-" then
    local message, code
    from, message, code = io.open(path, "rb")
    if not from then return errno(nil, message, code) end
  end
  local _ <close> = path ~= "-" and from or nil
  if io.type(target) == "file" then
    return build_to(from, path, target, "standard output")
  end
  return build_at(from, path, target, options.force)
end

return build
