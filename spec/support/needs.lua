-- Finds out what this machine allows, by trying it: whether perf may record tracepoints, there
-- is a terminal, root is here.
--
--   needs.it("tracepoints,cpus", "counts switches of all processors", function() … end)
--   needs.describe("kernel", "perflua faults, of a recording made now", function() … end)
--
-- A spec whose need is not met is pending, with the reason; a run ends with a line for each
-- reason. Each need is tried once in a run: .ci/specs calls needs.write, which keeps the
-- answers for all its processes, in $PERFLUA_NEEDS.
local files = require "spec.support.files"

local needs = {}

-- name → { why a spec is pending, shell command that succeeds if the need is met, need that
-- must be met before } `record EVENT …` in a command is perf record of some events into $out,
-- which succeeds if that has samples of EVENT: some perfs record nothing, and succeed, where
-- there is no /sys.
local attempts = {
  perf = { "perf is not installed", "perf --version" },
  record = { "perf may not record here", "record page-faults:u -c 1 -- true", "perf" },
  kernel = { "perf may not record the kernel here", "record page-faults:k -c 1 -- true",
    "record" },
  tracepoints = { "perf may not record tracepoints here",
    "record sched:sched_process_exit -- true", "record" },
  cpus = { "perf may not record all processors here", "record page-faults -c 1 -a -- true",
    "record" },
  ["cgroup namespaces"] = { "no cgroup namespaces may be made here", "unshare -C true" },
  ["mount namespaces"] = { "no mount namespaces may be made here",
    "unshare --pid --fork --mount true" },
  cgroups = {
    "no control groups may be made here",
    "d=$(awk '$3 == \"cgroup2\" { print $2; exit }' /proc/mounts) && "
      .. 'test -n "$d" && mkdir "$d/perflua-spec-$$" && rmdir "$d/perflua-spec-$$"',
  },
  ["cgroup paths"] = {
    "perf finds no paths of control groups here",
    "record page-faults -c 1 -a --all-cgroups -- true && perf report --stdio -q -F cgroup -i "
      .. "$out | grep -q '^ */'",
    "cpus",
  },
  ["block requests"] = {
    "requests of block devices are not recorded here",
    "f=$(mktemp ./io.XXXXXX); record block:block_rq_issue -a -- dd if=/dev/zero of=$f bs=16k "
      .. "count=9 oflag=direct; "
      .. "found=$?; rm $f; test $found = 0", "tracepoints",
  },
  ["perf trace"] = {
    "perf trace cannot read a recording here",
    "record raw_syscalls:sys_exit -e raw_syscalls:sys_enter -- true && perf trace -s -i $out "
      .. "2>&1 | grep -q events",
    "tracepoints",
  },
  ["perf with Python"] = {
    "perf cannot run Python", "perf version --build-options | grep -q 'libpython: *. *on'",
    "perf",
  },
  ["small file systems"] = { "no file systems may be mounted here",
    "unshare --mount mount -t tmpfs -o size=64k none /mnt", "mount namespaces" },
  ["an ordinary user"] = { "perflua cannot be run as an ordinary user here",
    'test "$(id -u)" != 0 || '
      .. 'setpriv --reuid 65534 --regid 65534 --clear-groups "$PERFLUA" -v' },
  tracefs = { "/sys/kernel/tracing cannot be read here",
    "cat /sys/kernel/tracing/events/sched/sched_switch/format" },
  corpus = { "PERFLUA_CORPUS names no collection of recordings", 'test -d "$PERFLUA_CORPUS"' },
  capstone = { "perflua was built without libcapstone",
    '"$PERFLUA" --version | grep -q "^with libcapstone"' },
  ncurses = { "perflua was built without ncurses",
    '"$PERFLUA" --version | grep -q "^with ncurses"' },
  objdump = { "perf annotate needs objdump (binutils)", "objdump --version" },
  libdebuginfod = {
    "libdebuginfod is not installed",
    "ls /usr/lib*/libdebuginfod.so.1 /usr/lib/*/libdebuginfod.so.1 | grep .",
  },
  ["this architecture"] = { "perflua is built for another architecture here",
    'test -z "$PERFLUA_ARCHITECTURE"' },
  terminal = { "there are no terminals here", "script -qec true /dev/null" },
  ["no sanitizer"] = { "a sanitizer has an allocator of its own",
    'case "$PERFLUA" in */san/*) false ;; esac' },
  root = { "needs root", 'test "$(id -u)" = 0' },
  -- perf reads the binaries of a process that lives in the mount namespace of that process, and
  -- has left the chroot when it comes back
  ["mounted root"] = { "this is a chroot, and perf reads files outside it",
    "awk '$5 == \"/\" { found = 1 } END { exit !found }' /proc/self/mountinfo" },
  mknod = { "no device files may be made here", "mknod $out.b b 7 250 && rm $out.b" },
  ["gnuplot with Lua 5.4"] = {
    "there is no gnuplot with Lua 5.4 (gnuplot-nox)",
    "echo 'print(_VERSION)' >$out && gnuplot -e \"set terminal lua '$out'\" "
      .. "| grep -qx 'Lua 5.4'",
  },
  strace = { "strace may not trace here", "strace -o $out true" },
  ["kernel notes"] = { "/sys/kernel/notes cannot be read here", "test -s /sys/kernel/notes" },
  kallsyms = { "/proc/kallsyms has no addresses here", "grep -qv '^00* ' /proc/kallsyms" },
}

local answers = {}

local function remember(text)
  for name, answer in text:gmatch "([^\n]+): (%a+)\n" do answers[name] = answer == "yes" end
end

local kept = os.getenv "PERFLUA_NEEDS"
if kept and files.exists(kept) then remember(files.read(kept)) end

local function try(command)
  local out = files.temporary()
  local _, ok = files.output(([[out=%s
    record() {
      event=$1; shift
      perf record -q -N -m 64 --no-bpf-event -o $out -e "$event" "$@" && perf script -F event -i $out | grep -q .
    }
    { %s
    } </dev/null >/dev/null 2>&1]]):format(out, command))
  return ok
end

-- A need that is not a name in `attempts` is a tracepoint, "gcc" with flags, or a program.
local function attempt_of(name)
  if name:find "^gcc %-" then
    local compile = "echo 'int main(void) { return 0; }' | %s -x c -o $out -"
    return { "gcc does not know " .. name:match " (.*)", compile:format(name), "gcc" }
  end
  if name:find ":" then
    return { "the kernel has no tracepoint " .. name, "perf record -o $out -e " .. name
      .. " -- true", "tracepoints" }
  end
  return attempts[name] or { name .. " is not installed", "command -v " .. name }
end

local function is_met(name)
  local attempt = attempt_of(name)
  if attempt[3] and not is_met(attempt[3]) then return false end
  if answers[name] == nil then answers[name] = try(attempt[2]) end
  return answers[name]
end

-- The reason why a need is not met: that of the need before it, if that is not met either.
local function reason_of(name)
  local attempt = attempt_of(name)
  return attempt[3] and not is_met(attempt[3]) and reason_of(attempt[3]) or attempt[1]
end

--- Why specs with these needs, separated by commas, cannot run here; nil if they can.
---@param names string
---@return string | nil reason
function needs.missing(names)
  for name in names:gmatch "[^,]+" do
    if not is_met(name) then return reason_of(name) end
  end
end

-- The globals of the spec file that called: busted's functions, some of which differ from group
-- to group.
local function globals_of_caller()
  for level = 3, math.huge do
    local caller = debug.getinfo(level, "f")
    assert(caller, "only a spec file declares specs")
    for i = 1, 255 do
      local name, value = debug.getupvalue(caller.func, i)
      if name == "_ENV" and value ~= _G then return value end
      if not name then break end
    end
  end
end

--- Declares a spec with needs.
---@param names string
---@param title string
---@param body function
function needs.it(names, title, body)
  local reason, globals = needs.missing(names), globals_of_caller()
  globals.it(title, reason and function() globals.pending(reason) end or body)
end

--- Declares a group of specs with needs. If they are not met each spec in it is pending, and
--- setup is not run.
---@param names string
---@param title string
---@param body function
function needs.describe(names, title, body)
  local reason, globals = needs.missing(names), globals_of_caller()
  if not reason then return globals.describe(title, body) end
  globals.describe(title, function()
    local it = globals.it
    local function nothing() end
    -- what is assigned here holds in this group
    function globals.it(name) it(name, function() globals.pending(reason) end) end
    for _, name in ipairs { "setup", "teardown", "before_each", "after_each" } do
      globals[name] = nothing
    end
    body()
  end)
end

--- Tries all needs and writes the answers for other processes.
---@param path string
function needs.write(path)
  local names, lines = {}, {}
  for name in pairs(attempts) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do
    lines[i] = ("%s: %s\n"):format(name, is_met(name) and "yes" or "no")
  end
  files.write(path, table.concat(lines))
end

return needs
