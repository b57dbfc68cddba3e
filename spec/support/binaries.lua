-- Binaries made for a spec, recordings that say they were mapped, and which symbols are found
-- for them.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local perflua = require "perflua"

local binaries = {}

--- The id of a process that cannot run here, as pid_max is at most 1 << 22. perf opens files of
--- a running process in the namespaces of that process.
binaries.PID = (1 << 22) + 7

local here = {}
for name, option in pairs { hostname = "-n", osrelease = "-r" } do
  here[name] = files.output("uname " .. option):match "[^\n]*"
end

--- Makes the recording of a builder one of this system, so that files here are those that were
--- recorded.
function binaries.of_here(b)
  for name, value in pairs(here) do b:feature(name, value) end
  return b
end

local Tree = {}
Tree.__index = Tree
Tree.__gc = function(tree)
  os.execute("rm -rf " .. files.quote(tree.path))
end

--- A new directory that goes away with the run.
function binaries.tree()
  return setmetatable({ path = files.output "mktemp -d":match "%S+" }, Tree)
end

--- Runs a shell script in the directory; returns what it prints.
function Tree:sh(script)
  local text, ok = files.output(("cd %s && { set -e\n%s\n} 2>&1"):format(files.quote(self.path),
    script))
  assert(ok, text)
  return text
end

function Tree:write(name, bytes)
  self:sh("mkdir -p " .. files.quote(name:match "^(.*)/" or "."))
  files.write(self.path .. "/" .. name, bytes)
  return self.path .. "/" .. name
end

-- Programs that were linked, { path, symbols }, by what they are made of. Where it was made is
-- told by debug information only.
local programs = {}

--- A program "name" of two functions, one of them static; more: its code beside them. Returns
--- {build_id, first, second}: where these are in the file.
function Tree:program(name, options, more)
  options = options or ""
  self:write(name .. ".c", (more or "") .. [[

    __attribute__((noinline)) static int second(volatile int *n) { return ++*n; }
    __attribute__((noinline)) int first(volatile int *n) { *n += 1; return second(n); }
    int main(int argc, char **argv) { (void)argv; return first((volatile int *)&argc); }]])
  local key = table.concat({ name:match "[^/]*$", options, more }, "\0")
  local made = programs[key]
  if not made or options:find "%-g" then
    made = { path = files.temporary() }
    self:sh(("gcc -O1 -no-pie -Wl,--build-id %s -o %s %s.c; cp -p %s %s"):format(options, name,
      name, name, made.path))
    made.symbols, programs[key] = self:symbols(name), made
  else
    self:sh(("cp %s %s"):format(made.path, name))
  end
  local symbols = {}
  for symbol, at in pairs(made.symbols) do symbols[symbol] = at end
  return symbols
end

function Tree:symbols(name)
  local found = { build_id = self:build_id(name) }
  -- without -pie they lie as far from the start as their file has them
  for address, symbol in self:sh("nm " .. name):gmatch "(%x+) %a (%S+)" do
    found[symbol] = tonumber(address, 16) - 0x400000
  end
  return found
end

function Tree:build_id(name)
  return self:sh("readelf -n " .. name .. " 2>/dev/null"):match "Build ID: (%x+)"
end

--- A recording of samples at ips {address…} after maps, each a record of mmap2. options:
--- `features` by name (those of this system), `misc` of the samples, their `pid`, `time` of the
--- first (1: they follow one another), `monotonic`: the clock.
function binaries.recorded(maps, ips, options)
  options = options or {}
  local process = options.pid or binaries.PID
  local b = builder.new(options.builder)
  local event = b:event { name = "cpu-clock", type = 1, sample_type = { "ip", "tid", "time" },
    use_clockid = options.monotonic, clockid = options.monotonic and 1 or nil }
  for name, value in pairs(options.features or here) do
    b:feature(name, value)
  end
  for _, map in ipairs(maps) do
    local record = { pid = process, tid = process, addr = 0x400000, len = 0x100000, prot = 5,
      flags = 2, misc = 2 }
    for k, v in pairs(map) do
      record[k] = v
    end
    b:record("mmap2", record)
  end
  for i, ip in ipairs(ips) do
    local time = (options.time or 1) + i - 1
    b:sample(event, { ip = ip, pid = process, tid = process, time = time, misc = options.misc })
  end
  return b:write()
end

---Returns what perflua finds for each sample, "symbol+0xoffset" or "[unknown]", and what is
---missing.
function binaries.found(path, options)
  local file <close> = assert(perflua.open(path, options))
  local list = {}
  for s in file:samples() do
    list[#list + 1] = s.symbol and ("%s+0x%x"):format(s.symbol, s.symoff) or "[unknown]"
  end
  return list, file:missing()
end

---Returns what perf finds with options of its own, `before` and `after` its command.
function binaries.of_perf(path, options)
  local list = {}
  local command = "perf %s script -f -F ip,sym,symoff,dso -i %s %s 2>/dev/null"
  options = options or {}
  for line in files.lines(command:format(options.before or "", files.quote(path), options.after
      or "")) do
    list[#list + 1] = line:match "^%s*%x+ (.-)%s*%([^()]*%)$"
  end
  return list
end

--- The addresses of the call chain of a recording's first sample.
function binaries.chain(path)
  local list = {}
  local file <close> = assert(perflua.open(path))
  for i, frame in ipairs(file:samples():first().callchain) do
    list[i] = frame.ip
  end
  return list
end

return binaries
