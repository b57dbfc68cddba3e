-- Files of the specs: temporary ones that go away with the run, fixtures, and what commands
-- print.
local files = {}

-- Holds the temporary paths; collecting it, at the latest when the run ends, removes them.
local made = setmetatable({}, {
  __gc = function(paths)
    for _, path in ipairs(paths) do
      os.remove(path)
    end
  end,
})

--- A new temporary file with these bytes; returns its path.
function files.temporary(bytes)
  local path = os.tmpname()
  made[#made + 1] = path
  if bytes then
    files.write(path, bytes)
  end
  return path
end

--- A new temporary directory with files of these names and bytes; returns its path.
function files.directory(contents)
  local dir = files.output "mktemp -d":match "%S+"
  for name, bytes in pairs(contents) do
    made[#made + 1] = dir .. "/" .. name
    files.write(made[#made], bytes)
  end
  made[#made + 1] = dir
  return dir
end

function files.write(path, bytes)
  local out = assert(io.open(path, "wb"))
  assert(out:write(bytes))
  assert(out:close())
end

function files.read(path)
  local f = assert(io.open(path, "rb"))
  local bytes = f:read "a"
  f:close()
  return bytes
end

function files.exists(path)
  local f = io.open(path, "rb")
  if f then
    f:close()
  end
  return f ~= nil
end

--- A path as one word of a shell command.
function files.quote(path)
  return "'" .. path:gsub("'", "'\\''") .. "'"
end

---Returns what a shell command prints, and whether it succeeded.
function files.output(command)
  local pipe = assert(io.popen(command, "r"))
  local text = pipe:read "a"
  return text, pipe:close() == true
end

--- The lines a shell command prints, one at a time.
function files.lines(command)
  local pipe = assert(io.popen(command, "r"))
  local function next_line()
    return pipe:read "l"
  end
  return next_line, nil, nil, pipe
end

--- A file of spec/fixtures.
function files.fixture(name)
  return "spec/fixtures/" .. name
end

return files
