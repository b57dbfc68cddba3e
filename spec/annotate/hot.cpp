#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
int main()
{
  std::map<std::string, std::vector<int>> m;
  for (int i = 0; i < 90000; i++) m["key" + std::to_string(i * 7919 % 5003)].push_back(i);
  long n = 0;
  for (auto &p : m) {
    std::sort(p.second.begin(), p.second.end(), [](int a, int b) { return a % 17 < b % 17; });
    n += p.second[0];
  }
  printf("%ld\n", n);
}
