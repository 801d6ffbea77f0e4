// SPDX-License-Identifier: MIT
// Functions of known cost in C++, of each kind that has a mangling of its own.
#include "costs.h"

uint64_t costs_state = 88172645463325252u;

static uint64_t steps_of[16];

#define BURN(i, nr) COSTS_BURN(steps_of[i], nr)
#define AFTER()     (costs_state++)

namespace {

COSTS_ALONE void hidden(uint64_t steps) {
  BURN(0, steps);
}

} // namespace

namespace costs {

COSTS_ALONE void plain(uint64_t steps) {
  BURN(1, steps);
}

namespace deep {

COSTS_ALONE void plain(uint64_t steps) {
  BURN(2, steps);
}

} // namespace deep

// The two have one name without their parameters.
COSTS_ALONE void overloaded(uint64_t steps) {
  BURN(3, steps);
}

COSTS_ALONE void overloaded(uint64_t steps, const char *text) {
  BURN(3, steps);
  costs_state += text[0] == '\0';
}

// Each instance counts in a row of its own.
template <typename T> COSTS_ALONE void generic(T steps, uint64_t &row) {
  COSTS_BURN(row, uint64_t(steps));
}

template <typename T> class Box {
public:
  COSTS_ALONE void work(T steps) {
    BURN(7, uint64_t(steps));
  }
};

class Guard {
public:
  COSTS_ALONE explicit Guard(uint64_t steps) : steps_(steps) {
    BURN(8, steps_ / 2);
  }
  COSTS_ALONE ~Guard() {
    BURN(9, steps_ / 2);
  }
  COSTS_ALONE Guard &operator+=(const Guard &other) {
    BURN(10, other.steps_);
    return *this;
  }

private:
  uint64_t steps_;
};

class Base {
public:
  virtual ~Base() = default;
  virtual void work(uint64_t steps) = 0;
};

class Derived : public Base {
public:
  COSTS_ALONE void work(uint64_t steps) override {
    BURN(11, steps);
  }
};

COSTS_ALONE void with_lambda(uint64_t steps) {
  auto lambda = [](uint64_t nr) COSTS_ALONE { BURN(12, nr); };

  lambda(steps);
  AFTER();
}

static volatile bool is_rare = true;

// GCC moves the handler to a part of its own, costs::catches.cold.
COSTS_ALONE void catches(uint64_t steps) {
  try {
    if (is_rare)
      throw 1;
  } catch (int) {
    BURN(13, steps);
  }
  AFTER();
}

} // namespace costs

static void call_generic(uint64_t steps) {
  costs::generic<int>(int(steps) / 2, steps_of[5]);
  costs::generic<double>(double(steps / 2), steps_of[6]);
  AFTER();
}

static void call_box(uint64_t steps) {
  costs::Box<unsigned long> box;

  box.work(steps);
  AFTER();
}

static void call_guard(uint64_t steps) {
  costs::Guard guard(steps / 2), other(0);

  other += guard;
  AFTER();
}

static void call_virtual(uint64_t steps) {
  costs::Derived derived;
  costs::Base *volatile base = &derived;

  base->work(steps);
  AFTER();
}

static void call_overloaded(uint64_t steps) {
  costs::overloaded(steps / 4);
  costs::overloaded(steps * 3 / 4, "");
  AFTER();
}

extern "C" COSTS_ALONE void costs_of_c(uint64_t steps) {
  BURN(14, steps);
}

int main(int argc, char **argv) {
  static const costs_call_t calls[] = {
      {hidden, 10},      {costs::plain, 8},
      {call_generic, 8}, {costs::deep::plain, 4},
      {call_box, 5},     {call_guard, 16},
      {call_virtual, 5}, {costs::with_lambda, 7},
      {costs_of_c, 3},   {costs::catches, 6},
      {call_overloaded, 12},
  };
  const costs_row_t rows[] = {
      {"(anonymous namespace)::hidden", &steps_of[0]},
      {"costs::plain", &steps_of[1]},
      {"costs::deep::plain", &steps_of[2]},
      {"costs::overloaded", &steps_of[3]},
      {"costs::generic<int>", &steps_of[5]},
      {"costs::generic<double>", &steps_of[6]},
      {"costs::Box<unsigned long>::work", &steps_of[7]},
      {"costs::Guard::Guard", &steps_of[8]},
      {"costs::Guard::~Guard", &steps_of[9]},
      {"costs::Guard::operator+=", &steps_of[10]},
      {"costs::Derived::work", &steps_of[11]},
      {"costs::with_lambda(unsigned long)::{lambda(unsigned long)#1}::"
       "operator()",
       &steps_of[12]},
      {"costs::catches", &steps_of[13]},
      {"costs_of_c", &steps_of[14]},
  };

  return costs_run(argc, argv, calls, sizeof(calls) / sizeof(calls[0]), rows,
                   sizeof(rows) / sizeof(rows[0]));
}
