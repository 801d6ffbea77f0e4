// SPDX-License-Identifier: MIT
// An event as a C++17 object: closed by its destructor, its memory freed when
// the loop is done with it, its records handed to a lambda. Prints the first
// 10 page faults of this thread. Needs no privileges.
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include <uvperf.h>

// Its destructor waits until all handles on it are closed.
class Loop {
public:
  Loop() {
    if (uv_loop_init(&loop_) != 0)
      throw std::runtime_error("no loop");
  }
  Loop(const Loop &) = delete;
  Loop &operator=(const Loop &) = delete;
  ~Loop() {
    run();
    uv_loop_close(&loop_);
  }
  void run() {
    uv_run(&loop_, UV_RUN_DEFAULT);
  }
  uv_loop_t *get() {
    return &loop_;
  }

private:
  uv_loop_t loop_;
};

class Event {
public:
  // Without a record, status is the reason why no more come. An exception must
  // not pass through the library, which is C, so it ends the program.
  using Callback = std::function<void(int status, const uvperf_record_t *)>;

  Event(Loop &loop, const perf_event_attr &attr,
        const uvperf_event_options_t &options = UVPERF_EVENT_OPTIONS_INIT) {
    auto state = std::make_unique<State>();
    uvperf_error_t error;

    if (uvperf_event_init(loop.get(), &state->event, &attr, &options, &error))
      throw std::runtime_error(error.reason);
    state->event.handle.data = state.get();
    state_.reset(state.release());
  }

  void start(Callback on_record) {
    uvperf_error_t error;

    state_->on_record = std::move(on_record);
    if (uvperf_start(&state_->event.handle, nullptr, call, &error))
      throw std::runtime_error(error.reason);
  }

  // For all other functions.
  uvperf_event_t *get() {
    return &state_->event;
  }

private:
  struct State {
    uvperf_event_t event;
    Callback on_record;
  };
  // Frees the memory in the close callback, when it is ours again. So an event
  // may be destroyed inside its own callback.
  struct Close {
    void operator()(State *state) const {
      uvperf_close(&state->event.handle, [](uvperf_handle_t *handle) {
        delete static_cast<State *>(handle->data);
      });
    }
  };

  static void call(uvperf_handle_t *handle, int status,
                   const uvperf_record_t *record) noexcept {
    static_cast<State *>(handle->data)->on_record(status, record);
  }

  std::unique_ptr<State, Close> state_;
};

int main() try {
  perf_event_attr attr;
  Loop loop;

  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  uvperf_attr_set_period(&attr, 1);
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
  attr.exclude_kernel = 1;
  auto event = std::make_unique<Event>(loop, attr);
  int left = 10;
  event->start([&](int status, const uvperf_record_t *record) {
    if (status != 0)
      std::fprintf(stderr, "status %d\n", status);
    else if (record->type == PERF_RECORD_SAMPLE)
      std::printf("%#llx touched %#llx\n",
                  static_cast<unsigned long long>(record->ip),
                  static_cast<unsigned long long>(record->addr));
    if (status != 0 || --left == 0)
      event.reset(); // closes: no record comes after this
  });
  std::vector<char> memory(1000000); // has that many pages on any machine
  loop.run();
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    throw std::runtime_error("stdout could not be written");
  return left != 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
