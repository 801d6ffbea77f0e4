// SPDX-License-Identifier: MIT
// C++ for the test that steps through a program: exceptions, destructors,
// virtual functions, the library's algorithms.
#include <algorithm>
#include <csignal>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

static volatile int sum;

struct Counted {
  ~Counted() {
    sum = sum + 1;
  }
};

struct Base {
  virtual ~Base() = default;
  virtual int work(int levels) = 0;
};

struct Derived : Base {
  int work(int levels) override {
    Counted counted;
    if (levels == 0)
      throw std::runtime_error(std::to_string(sum));
    return work(levels - 1) + 1;
  }
};

static int run(Base &base) {
  try {
    return base.work(4);
  } catch (const std::logic_error &) {
    return 0;
  }
}

static void work() {
  Derived derived;
  try {
    run(derived);
  } catch (const std::exception &error) {
    sum = sum + error.what()[0];
  }
  std::vector<int> numbers = {3, 1, 2, 9, 4};
  std::function<bool(int, int)> less = [](int a, int b) {
    return a + sum < b + sum;
  };
  std::sort(numbers.begin(), numbers.end(), less);
  std::map<std::string, int> names;
  for (int number : numbers)
    names[std::string(20, 'a' + number)] += number;
}

int main() {
  raise(SIGSTOP);
  work();
  raise(SIGSTOP);
}
