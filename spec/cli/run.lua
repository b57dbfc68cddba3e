-- Runs the interpreter under test as a user would: words, standard input, environment in;
-- status, output out.
local files = require "spec.support.files"

local run = {}

run.binary = os.getenv "PERFLUA" or "build/perflua"
run.demo = files.fixture "demo.perf.data"

--- Runs a shell script in which $perflua is the interpreter: {status, out, err}.
function run.shell(script)
  local out, err = files.temporary(), files.temporary()
  local whole = ("perflua=%s\n%s"):format(files.quote(run.binary), script)
  local _, _, status = os.execute(("sh -c %s >%s 2>%s"):format(files.quote(whole), out, err))
  return { status = status, out = files.read(out), err = files.read(err) }
end

---Runs a script of the shell with these paths as $1, $2 …
function run.shell_with(script, ...)
  local words = {}
  for i, path in ipairs { ... } do
    words[i] = files.quote(path)
  end
  return run.shell("set -- " .. table.concat(words, " ") .. "\n" .. script)
end

--- Runs the interpreter with these words; options: stdin (text), env ("NAME=value …").
function run.perflua(words, options)
  options = options or {}
  local quoted = {}
  for i, word in ipairs(words) do
    quoted[i] = files.quote(word)
  end
  local stdin = options.stdin and files.temporary(options.stdin) or "/dev/null"
  return run.shell(("env %s \"$perflua\" %s <%s"):format(options.env or "",
    table.concat(quoted, " "), stdin))
end

--- A temporary script; its path has no dot, but slashes.
function run.script(text)
  return files.temporary(text)
end

return run
