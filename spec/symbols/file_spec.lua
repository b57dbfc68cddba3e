-- Files that recordings name are looked at before they are opened. Devices, FIFOs and files
-- that the kernel makes are never opened.
local binaries = require "spec.support.binaries"
local files = require "spec.support.files"
local needs = require "spec.support.needs"

-- The reason why a recording of these names has no symbols, by name.
local function reasons(names)
  local maps, ips, by_name = {}, {}, {}
  for i, name in ipairs(names) do
    maps[i] = { filename = name, addr = 0x100000 * i, len = 0x10000 }
    ips[i] = 0x100000 * i + 0x20
  end
  local path = binaries.recorded(maps, ips)
  local _, missing = binaries.found(path, { any_binary = true })
  for _, one in ipairs(missing) do by_name[one.filename] = one.reason end
  return by_name, path
end

local KERNEL = "is a file of /proc, /sys or the like, not a regular file"

describe("what a recording names", function()
  local tree = binaries.tree()
  tree:sh "mkdir dir; mkfifo fifo; ln -s /dev/null link; ln -s /proc/version version"
  local expected = {
    ["/dev/null"] = "is a device, not a file",
    [tree.path .. "/link"] = "is a device, not a file",
    [tree.path .. "/fifo"] = "is a FIFO, not a file",
    [tree.path .. "/dir"] = "is a directory, not a file",
    ["/proc/version"] = KERNEL,
    ["/proc/self/status"] = KERNEL,
    [tree.path .. "/version"] = KERNEL,
    ["/dev/perflua-is-not-there"] = "no file was found",
  }
  local names = {}
  for name in pairs(expected) do names[#names + 1] = name end

  it("is missing, with what it is", function()
    assert.same(expected, (reasons(names)))
  end)

  needs.it("kernel notes", "is missing when it is of /sys", function()
    assert.same({ ["/sys/kernel/notes"] = KERNEL }, (reasons { "/sys/kernel/notes" }))
  end)

  needs.it("root,mknod", "is missing when it is a block device", function()
    tree:sh "mknod block b 7 250"
    local name = tree.path .. "/block"
    assert.same({ [name] = "is a device, not a file" }, (reasons { name }))
  end)

  it("does not wake a program that waits to write into a FIFO", function()
    local name = tree.path .. "/fifo"
    local writer = files.output(("sh -c ': >%s; echo >%s/woken' >/dev/null 2>&1 & echo $!")
      :format(
      files.quote(name), tree.path)):match "%d+"
    files.output "sleep 0.2" -- it is in open() then
    reasons { name }
    files.output("sleep 0.1; kill " .. writer)
    assert.is_false(files.exists(tree.path .. "/woken"))
  end)

  needs.it("strace,this architecture", "is opened with O_PATH alone, by every tool", function()
    local _, path = reasons(names)
    for _, tool in ipairs { "report --sort symbol,srcline", "script", "doctor", "fold" } do
      local trace =
        "ASAN_OPTIONS=detect_leaks=0 strace -f -e trace=open,openat,openat2 %s %s "
          .. "--any-binary %s"
      local calls = tree:sh((trace .. " 2>&1 >/dev/null"):format(
        files.quote(os.getenv "PERFLUA"), tool, path))
      local looked = 0
      for line in calls:gmatch "[^\n]+" do
        local opened = line:match '"([^"]*)"'
        if expected[opened] then
          looked = looked + 1
          assert.matches("O_PATH", line)
        end
      end
      assert.is_true(looked >= #names, tool .. " looked at " .. looked)
      assert.is_nil(calls:find "/proc/self/fd/") -- none of them is a file that could be opened
    end
  end)
end)

needs.describe("mount namespaces,this architecture", "without /proc", function()
  it("a file that a recording names is opened all the same, but nothing else", function()
    local tree = binaries.tree()
    local program = tree:program "prog"
    tree:sh "mkfifo fifo"
    tree:write("ask.lua", [[
      local file <close> = assert(perflua.open(arg[1], { any_binary = true }))
      for s in file:samples() do print(s.symbol) end
      for _, one in ipairs(file:missing()) do print(one.reason) end]])
    local maps = {
      { filename = tree.path .. "/prog" }, { filename = "/dev/null", addr = 0x600000 },
      { filename = tree.path .. "/fifo", addr = 0x800000 },
    }
    local path = binaries.recorded(maps, { 0x400000 + program.first, 0x600020, 0x800020 })
    -- sanitizers, which look for leaks in /proc, end with a status of their own
    local inside = "mount -t tmpfs none /proc && { %s ask.lua %s 2>/dev/null || true; }"
    local text = tree:sh(("unshare --mount sh -c %s"):format(
      files.quote(inside:format(os.getenv "PERFLUA", path))))
    assert.equal("first\nnil\nnil\nis a device, not a file\nis a FIFO, not a file\n", text)
  end)
end)
