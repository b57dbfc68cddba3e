-- Names as their authors wrote them.
local binaries = require "spec.support.binaries"
local builder_elf = require "spec.support.builder_elf"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"

--- Returns what perflua calls symbols of these names, or perf with `as` = binaries.of_perf.
local function called(names, options, as)
  local symbols, ips = {}, {}
  for i, name in ipairs(names) do
    symbols[i] = { name = name, value = (i - 1) * 16, size = 16, section = ".text" }
  end
  local bytes, sections = builder_elf.pack {
    machine = 62, symbols = symbols,
    sections = { { name = ".text", data = ("\0"):rep(#names * 16), flags = 6 } },
  }
  for i in ipairs(names) do
    ips[i] = 0x400000 + sections[1].offset + (i - 1) * 16
  end
  local tree = binaries.tree()
  local recording = binaries.recorded({ { filename = tree:write("lib.so", bytes) } }, ips)
  return ((as or binaries.found)(recording, options))
end

-- The third is perf's where it shows parameters, or takes Rust for C++.
local cases = {
  { "_Z3foov", "foo", "foo()" },
  { "_ZN2ns5classILi7EE6methodEib", "ns::class<7>::method", "ns::class<7>::method(int, bool)" },
  { "_ZNK1AIiEplERKS0_", "A<int>::operator+", "A<int>::operator+(A<int> const&) const" },
  { "_ZN1AcvbEv", "A::operator bool", "A::operator bool()" },
  { "_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()",
    "main::{lambda(int)#1}::operator()(int) const" },
  { "_ZN12_GLOBAL__N_11XD1Ev", "(anonymous namespace)::X::~X",
    "(anonymous namespace)::X::~X()" },
  { "_ZNSt6vectorISsSaISsEE9push_backERKSs",
    "std::vector<std::string, std::allocator<std::string> >::push_back",
    "std::vector<std::string, std::allocator<std::string> >::push_back(std::string const&)" },
  { "_Z3foov.cold", "foo", "foo() [clone .cold]" },
  { "_Z3foov.constprop.0.isra.1", "foo", "foo() [clone .constprop.0] [clone .isra.1]" },
  { "_Z3foov@@VERS_1.0", "foo", "_Z3foov@@VERS_1.0" },
  { "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad",
    "core::fmt::Formatter::pad::h0123456789abcdef", is_rust = true },
  { "_ZN1r4main28_$u7b$$u7b$closure$u7d$$u7d$17h60e6db987b046454E", "r::main::{{closure}}",
    "r::main::_$u7b$$u7b$closure$u7d$$u7d$::h60e6db987b046454", is_rust = true },
  { "_RNvCs1234_7mycrate3foo", "mycrate::foo", "_RNvCs1234_7mycrate3foo", is_rust = true },
  { "_RINvNtC3std3mem8align_ofjdE", "std::mem::align_of::<usize, f64>",
    "_RINvNtC3std3mem8align_ofjdE",
    is_rust = true },
  { "camlStdlib__anon_fn$5bstdlib$2eml$3a334$5d_1453", "Stdlib.anon_fn[stdlib.ml:334]_1453" },
  { "main", "main" },
  { "_Z", "_Z" },
  { "_Zfoo", "_Zfoo" },
  { "_ZN3foo", "_ZN3foo" },
  { "camlcase", "camlcase" },
  { "name with blanks", "name with blanks" },
}

-- Returns what the installed perf calls them.
local function of_perf()
  local list = {}
  for k, case in ipairs(cases) do
    local differs = case.is_rust and oracle.does.rust_as_cxx or not case.is_rust
      and oracle.does.parameters
    list[k] = differs and case[3] or case[2]
  end
  return list
end

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
    assert.same(with_offsets(of_perf()), called(column(1), nil, binaries.of_perf))
  end)

  it("is left as it is without demangle", function()
    assert.same(with_offsets(column(1)), called(column(1), { demangle = false }))
  end)

  it("is left as it is if it stands for an endless one", function()
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
