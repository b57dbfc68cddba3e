-- Names as their authors wrote them.
local binaries = require "spec.support.binaries"
local builder_elf = require "spec.support.builder_elf"
local needs = require "spec.support.needs"

--- What symbols of these names are called by perflua, or with `as` binaries.of_perf by perf.
local function called(names, options, as)
  local symbols, ips = {}, {}
  for i, name in ipairs(names) do
    symbols[i] = { name = name, value = (i - 1) * 16, size = 16, section = ".text" }
  end
  local bytes, sections = builder_elf.pack {
    machine = 62, symbols = symbols, sections = { { name = ".text", data = ("\0"):rep(#names * 16), flags = 6 } },
  }
  for i in ipairs(names) do
    ips[i] = 0x400000 + sections[1].offset + (i - 1) * 16
  end
  local tree = binaries.tree()
  local recording = binaries.recorded({ { filename = tree:write("lib.so", bytes) } }, ips)
  return ((as or binaries.found)(recording, options))
end

local cases = {
  { "_Z3foov", "foo" },
  { "_ZN2ns5classILi7EE6methodEib", "ns::class<7>::method" },
  { "_ZNK1AIiEplERKS0_", "A<int>::operator+" },
  { "_ZN1AcvbEv", "A::operator bool" },
  { "_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()" },
  { "_ZN12_GLOBAL__N_11XD1Ev", "(anonymous namespace)::X::~X" },
  { "_ZNSt6vectorISsSaISsEE9push_backERKSs", "std::vector<std::string, std::allocator<std::string> >::push_back" },
  { "_Z3foov.cold", "foo" },
  { "_Z3foov.constprop.0.isra.1", "foo" },
  { "_Z3foov@@VERS_1.0", "foo" },
  { "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
  { "_ZN1r4main28_$u7b$$u7b$closure$u7d$$u7d$17h60e6db987b046454E", "r::main::{{closure}}" },
  { "_RNvCs1234_7mycrate3foo", "mycrate::foo" },
  { "_RINvNtC3std3mem8align_ofjdE", "std::mem::align_of::<usize, f64>" },
  { "camlStdlib__anon_fn$5bstdlib$2eml$3a334$5d_1453", "Stdlib.anon_fn[stdlib.ml:334]_1453" },
  { "main", "main" },
  { "_Z", "_Z" },
  { "_Zfoo", "_Zfoo" },
  { "_ZN3foo", "_ZN3foo" },
  { "camlcase", "camlcase" },
  { "name with blanks", "name with blanks" },
}

local function column(i)
  local list = {}
  for k, case in ipairs(cases) do
    list[k] = case[i]
  end
  return list
end

local function with_offsets(names)
  local list = {}
  for i, name in ipairs(names) do
    list[i] = name .. "+0x0"
  end
  return list
end

describe("a mangled name", function()
  it("is shown as its author wrote it, in C++, Rust and OCaml", function()
    assert.same(with_offsets(column(2)), called(column(1)))
    if needs.missing "perf" then return pending(needs.missing "perf") end
    local theirs = called(column(1), nil, binaries.of_perf)
    if theirs[1] == "foo()+0x0" then return pending "perf was built with the demangler of libstdc++" end
    assert.same(with_offsets(column(2)), theirs)
  end)

  it("is left as it is without demangle", function()
    assert.same(with_offsets(column(1)), called(column(1), { demangle = false }))
  end)

  it("that stands for one without end is left as it is", function()
    -- each argument is the one before, twice
    local digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    local bomb = "_Z1fI1pIiiE"
    for i = 1, 30 do
      local last = "S" .. digits:sub(i + 1, i + 1) .. "_"
      bomb = bomb .. "S0_I" .. last .. last .. "E"
    end
    bomb = bomb .. "Evv"
    local names = {}
    for i = 1, 200 do
      names[i] = bomb .. "." .. i
    end
    local started = os.clock()
    assert.equal(names[1] .. "+0x0", called(names)[1]) -- perf would not come back
    assert.is_true(os.clock() - started < 5)
  end)
end)
