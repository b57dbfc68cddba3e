#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

// Functions that perf 6.12 lists, too: it spells the names of others with their parameters, and
// crashes over some code with calls.
#define LISTED extern "C" __attribute__((noinline))

LISTED void scatter(std::vector<unsigned> &v)
{
  unsigned x = 1;
  for (auto &one : v) one = x = x * 1664525 + 1013904223;
}

LISTED long count_small(const std::vector<unsigned> &v)
{
  return std::count_if(v.begin(), v.end(), [](unsigned x) { return x % 17 < 5; });
}

LISTED void pile_up(std::vector<unsigned> &v)
{
  std::make_heap(v.begin(), v.end(), [](unsigned a, unsigned b) { return a % 17 < b % 17; });
}

int main()
{
  std::vector<unsigned> v(4096);
  std::map<std::string, std::vector<int>> m;
  long n = 0;
  for (int i = 0; i < 1000; i++) {
    scatter(v);
    n += count_small(v);
    pile_up(v);
  }
  for (int i = 0; i < 90000; i++) m["key" + std::to_string(i * 7919 % 5003)].push_back(i);
  for (auto &p : m) {
    std::sort(p.second.begin(), p.second.end(), [](int a, int b) { return a % 17 < b % 17; });
    n += p.second[0];
  }
  printf("%ld\n", n);
}
