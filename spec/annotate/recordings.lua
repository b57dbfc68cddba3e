-- The recordings that are made: { name, needs, build, run, jit }. A program that a shell does
-- not find leaves the recording out. `build` makes the files for `run`, which is recorded, from
-- the sources in $src; $out is the name for a program. jit: the recording goes through perf
-- inject --jit.

local C <const>, CXX <const> = "$src/hot.c", "$src/hot.cpp"

return {
  { "C", "gcc", "gcc -O2 -g -o $out " .. C, "./$out" },
  { "C, not optimised", "gcc", "gcc -O0 -g -o $out " .. C, "./$out" },
  { "C, vectorised", "gcc", "gcc -O3 -march=native -funroll-loops -g -o $out " .. C, "./$out" },
  { "C, no debug information", "gcc", "gcc -O2 -o $out " .. C, "./$out" },
  { "C, at fixed addresses", "gcc", "gcc -O2 -g -no-pie -o $out " .. C, "./$out" },
  { "C, sections", "gcc", "gcc -O2 -g -ffunction-sections -freorder-functions -Os -o $out "
    .. C, "./$out" },
  { "C of clang", "clang", "clang -O2 -g -o $out " .. C, "./$out" },
  { "C++", "g++", "g++ -O2 -g -o $out " .. CXX, "./$out" },
  { "C++, not optimised", "g++", "g++ -O0 -g -o $out " .. CXX, "./$out" },
  { "C++ of clang", "clang++", "clang++ -O2 -g -o $out " .. CXX, "./$out" },
  { "Rust", "rustc", "rustc -O -g -o $out $src/hot.rs", "./$out" },
  { "Rust, not optimised", "rustc", "rustc -g -o $out $src/hot.rs", "./$out" },
  { "Go", "go", "go build -o $out $src/hot.go", "./$out" },
  { "JavaScript", "node", "true", "node --perf-prof $src/hot.js",
    true },
  { "node", "node", "true", "node $src/hot.js" },
  { "Lua", "gcc", "true", [["$PERFLUA" -e 'local t = {}
    for i = 1, 1000000 do local s = tostring(i * 7919 % 5003) t[s] = (t[s] or 0) + #s end']] },
  { "the compiler", "gcc", "true", "gcc -O2 -c -o $out.o $src/hot.cpp" },
  { "xz", "xz", "cat /usr/bin/perf /usr/bin/perf | head -c 3000000 >$out", "xz -9kfc $out" },
  { "gzip", "gzip", "head -c 9000000 /usr/bin/perf >$out", "gzip -kfc $out" },
  { "sort", "sort", "seq 300000 | rev >$out", "sort $out" },
  { "Python", "python3", "true", "python3 -c 'print(sorted(str(i * 7919 % 5003) "
    .. "for i in range(400000))[0])'" },
  { "Perl", "perl", "true", "perl -e 'for (1..600000) { $h{$_ * 7919 % 5003} .= $_ }'" },
}
