local files = require "spec.support.files"
local needs = require "spec.support.needs"
local perflua = require "perflua"

---Returns the definitions in the headers of this machine: { name, value as text }, of names
---that begin like that.
local function defined(header, begin)
  local list = {}
  local command = ("echo '#include <%s>' | gcc -E -dM - 2>/dev/null"):format(header)
  for line in files.lines(command) do
    local name, value = line:match("^#define " .. begin .. "(%S*) (.*)$")
    list[#list + 1] = name and { name, value }
  end
  return list
end

--- Those of a header that this machine has no other name for.
local function other_names(header, machine)
  local others, n = {}, 0
  for _, call in ipairs(defined(header, "__NR_")) do
    local name, number = call[1], tonumber(call[2]:match "^%d+$"
      or call[2]:match "__X32_SYSCALL_BIT %+ (%d+)")
    if number then
      number = call[2]:find "X32" and number + (1 << 30) or number
      n = n + 1
      others[#others + 1] = perflua.syscall(number, machine) ~= name and name or nil
    end
  end
  return others, n
end

describe("perflua.syscall", function()
  needs.it("this architecture", "names the calls of this machine as its headers do", function()
    local others, n = other_names "asm/unistd.h"
    assert.same({}, others)
    assert.is_true(n > 250, "headers of the kernel on this machine")
  end)

  for machine, header in pairs { x86_64 = "asm/unistd_x32.h", i686 = "asm/unistd_32.h" } do
    it("names those of " .. header .. " as it does", function()
      local others, n = other_names(header, machine)
      if n == 0 then pending("no " .. header .. " here") end
      assert.same({}, others)
    end)
  end

  it("knows the numbers of other architectures", function()
    for machine, calls in pairs {
      aarch64 = { [56] = "openat", [63] = "read", [38] = "renameat", [258] = false,
        [439] = "faccessat2" },
      riscv64 = { [56] = "openat", [38] = false, [258] = "riscv_hwprobe",
        [259] = "riscv_flush_icache" },
      riscv32 = { [403] = "clock_gettime64", [113] = false },
      loongarch64 = { [38] = false, [83] = "fdatasync", [291] = "statx", [71] = "sendfile" },
      armv7l = { [5] = "open", [195] = "stat64", [322] = "openat", [0xf0002] = "cacheflush" },
      i386 = { [5] = "open", [102] = "socketcall", [142] = "_newselect", [295] = "openat",
        [404] = "clock_settime64" },
      x86_64 = { [0] = "read", [257] = "openat", [335] = "uretprobe",
        [(1 << 30) + 512] = "rt_sigaction" },
      ppc64le = { [286] = "openat", [363] = "switch_endian", [403] = false },
      ppc = { [403] = "clock_gettime64" },
      s390x = { [288] = "openat", [352] = "s390_pci_mmio_write", [0] = false },
      mips64 = { [4005] = "open", [5000] = "read", [5247] = "openat", [6251] = "openat",
        [0] = false },
      sparc64 = { [5] = "open", [284] = "openat" },
      alpha = { [45] = "open", [450] = "openat", [20] = "getxpid" },
      parisc64 = { [275] = "openat" },
      m68k = { [288] = "openat" },
    } do
      for number, name in pairs(calls) do
        assert.equal(name or nil, perflua.syscall(number, machine), machine .. " " .. number)
      end
    end
  end)

  it("has no name for numbers that are none", function()
    for _, number in ipairs { -1, 400, 1 << 29, (1 << 30) + 400, math.maxinteger,
        math.mininteger } do
      assert.is_nil(perflua.syscall(number, "x86_64"))
    end
  end)

  needs.it("this architecture", "takes the machine it runs on, if none is named", function()
    local machine = files.output "uname -m":match "%S+"
    for number = 0, 500 do
      assert.equal(perflua.syscall(number, machine), perflua.syscall(number))
    end
  end)

  it("raises for a machine it has no numbers of, and for what is not a number", function()
    assert.error_matches(function()
      perflua.syscall(0, "vax")
    end, "the numbers of 'vax' are not known")
    assert.error_matches(function() perflua.syscall "openat" end, "number expected")
  end)
end)

describe("perflua.errno", function()
  it("names the errors of this machine as its headers do", function()
    local n = 0
    for _, err in ipairs(defined("errno.h", "E")) do
      local number = tonumber(err[2])
      if number then
        n = n + 1
        assert.equal("E" .. err[1], perflua.errno(number))
        assert.equal("E" .. err[1], perflua.errno(-number))
      end
    end
    assert.is_true(n > 100, "errno.h on this machine")
  end)

  it("knows where architectures differ", function()
    for machine, errors in pairs {
      x86_64 = { [11] = "EAGAIN", [35] = "EDEADLK", [110] = "ETIMEDOUT", [58] = false },
      ppc64 = { [58] = "EDEADLOCK", [110] = "ETIMEDOUT" },
      mips = { [145] = "ETIMEDOUT", [1133] = "EDQUOT", [45] = "EDEADLK" },
      alpha = { [35] = "EAGAIN", [11] = "EDEADLK", [60] = "ETIMEDOUT" },
      sparc64 = { [60] = "ETIMEDOUT", [78] = "EDEADLK" },
      parisc = { [238] = "ETIMEDOUT", [45] = "EDEADLK" },
    } do
      for number, name in pairs(errors) do
        assert.equal(name or nil, perflua.errno(number, machine), machine .. " " .. number)
      end
    end
  end)

  it("names what the kernel only tells itself, as calls that a signal interrupts return "
    .. "it", function()
    assert.equal("ERESTARTSYS", perflua.errno(-512))
    assert.equal("ERESTART_RESTARTBLOCK", perflua.errno(-516))
  end)

  it("has no name for numbers that are none", function()
    for _, number in ipairs { 0, 41, 200, 600, 4095, math.maxinteger, math.mininteger } do
      assert.is_nil(perflua.errno(number, "x86_64"))
    end
  end)
end)
