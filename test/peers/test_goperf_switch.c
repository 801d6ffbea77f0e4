/* SPDX-License-Identifier: MIT */
/* Live: go-perf TestReadRecord/CPUWideSwitch. Two threads play ping-pong on a
 * CPU, and the switches of this CPU are recorded. */
#include "live_stream.h"
#include "live_thread.h"

#define TRIPS 4
#define MOST  4096
/* Wakeups must be few: with PREEMPT_RT each one is a switch to a kernel thread.
 * This switch is recorded and causes the next wakeup. */
#define WAKEUP_BYTES 65536

/* One task that is switched, and the other one of that switch. */
typedef struct turn_s {
  uint32_t tid;
  uint32_t other_tid;
  int is_out;
} turn_t;

typedef struct game_s {
  live_thread_t players[2];
  uv_sem_t ball[2];
  int cpu;
  int odd; /* records that cannot be a switch of this CPU */
  int nr_turns;
  turn_t turns[MOST];
} game_t;

typedef struct player_s {
  game_t *game;
  int me;
  int is_there;
} player_t;

static void go_there(player_t *player) {
  cpu_set_t set;

  CPU_ZERO(&set);
  CPU_SET((size_t)player->game->cpu, &set);
  if (sched_setaffinity(0, sizeof(set), &set) != 0)
    abort();
  player->is_there = 1;
}

/* The first call moves the player to its CPU, the second call lets it play. On
 * one CPU neither player can continue before the other has run. */
static void run_player(void *arg) {
  player_t *player = arg;
  game_t *game = player->game;
  int i;

  if (!player->is_there) {
    go_there(player);
    return;
  }
  for (i = 0; i < TRIPS; i++) {
    if (player->me == 0)
      uv_sem_post(&game->ball[1]);
    uv_sem_wait(&game->ball[player->me]);
    if (player->me == 1)
      uv_sem_post(&game->ball[0]);
  }
}

static void start_players(game_t *game, player_t *players) {
  int i;

  for (i = 0; i < 2; i++) {
    players[i] = (player_t){game, i, 0};
    assert_int_equal(uv_sem_init(&game->ball[i], 0), 0);
    live_thread_start(&game->players[i], run_player, &players[i]);
    live_thread_do(&game->players[i]);
  }
}

static void end_players(game_t *game) {
  int i;

  for (i = 0; i < 2; i++) {
    live_thread_end(&game->players[i]);
    uv_sem_destroy(&game->ball[i]);
  }
}

static void note_turn(game_t *game, const uvperf_record_t *record) {
  turn_t *turn = &game->turns[game->nr_turns];

  if (record->type != PERF_RECORD_SWITCH_CPU_WIDE ||
      record->cpu != (uint32_t)game->cpu || game->nr_turns == MOST - 1) {
    game->odd += 1;
    return;
  }
  turn->tid = record->tid;
  turn->other_tid = record->switch_cpu_wide.next_prev_tid;
  turn->is_out = uvperf_record_is_switch_out(record);
  game->nr_turns += 1;
}

/* When a player leaves, the next turn is the follower's; when it comes, the
 * turn before is of the task that was there. */
static void assert_pair(const game_t *game, int i) {
  const turn_t *turn = &game->turns[i];
  const turn_t *other = turn->is_out ? turn + 1 : turn - 1;

  assert_in_range(i, 1, game->nr_turns - 2);
  assert_int_not_equal(other->is_out, turn->is_out);
  assert_int_equal(other->tid, turn->other_tid);
  assert_int_equal(other->other_tid, turn->tid);
}

/* Expects that a player comes and leaves in turn, and was away at the begin and
 * at the end. */
static void assert_player(const game_t *game, uint32_t tid) {
  int is_there = 0;
  int times = 0;
  int i;

  for (i = 0; i < game->nr_turns; i++) {
    if (game->turns[i].tid != tid)
      continue;
    assert_int_equal(game->turns[i].is_out, is_there);
    assert_pair(game, i);
    is_there = !is_there;
    times += is_there;
  }
  assert_int_equal(is_there, 0);
  assert_in_range(times, TRIPS, MOST);
}

static void note_turn_of_event(live_collector_t *collector,
                               const uvperf_record_t *record) {
  note_turn(collector->hook_data, record);
}

static void open_switches(uv_loop_t *loop, live_collector_t *collector,
                          game_t *game) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  live_comm_attr(&attr);
  attr.comm = 0;
  attr.context_switch = 1;
  uvperf_attr_set_wakeup_bytes(&attr, WAKEUP_BYTES);
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CPU;
  options.pid = -1;
  options.cpu = game->cpu;
  options.flags |= UVPERF_EVENT_CPU;
  live_begin(loop, collector, &attr, &options, note_turn_of_event, game);
}

static void run_game(game_t *game) {
  int i;

  for (i = 0; i < 2; i++)
    live_thread_go(&game->players[i]);
  for (i = 0; i < 2; i++)
    live_thread_wait(&game->players[i]);
}

static void assert_players(const game_t *game) {
  int i;

  assert_int_equal(game->odd, 0);
  for (i = 0; i < 2; i++)
    assert_player(game, game->players[i].tid);
}

/* go-perf TestReadRecord/CPUWideSwitch. This thread is on the CPU when it
 * enables and disables the event, so the players are not. Each player comes
 * exactly as often as it leaves. */
static void switches_of_two_threads_on_a_cpu_come_in_pairs(void **state) {
  live_collector_t collector;
  player_t players[2];
  uvperf_stats_t stats;
  game_t *game;
  cpu_set_t old;

  support_need_cpu_wide(__func__);
  game = calloc(1, sizeof(*game));
  assert_non_null(game);
  game->cpu = live_last_cpu();
  start_players(game, players);
  live_pin(game->cpu, &old);
  open_switches(*state, &collector, game);
  run_game(game);
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  live_unpin(&old);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.lost_records + stats.corrupt, 0);
  assert_players(game);
  live_close(&collector);
  end_players(game);
  free(game);
}

static void note_turn_of_set(live_stream_t *stream,
                             const uvperf_record_t *record) {
  game_t *game = stream->hook_data;

  if (record->type == UVPERF_RECORD_NONE)
    game->odd += 1;
  else
    note_turn(game, record);
}

/* The side-band of a set has the same records, next to an attr that writes
 * nothing. */
static void set_records_the_switches_of_two_threads_on_a_cpu(void **state) {
  player_t players[2];
  live_stream_t stream;
  uvperf_stats_t stats;
  live_plan_t plan;
  game_t *game;
  char cpu[16];
  cpu_set_t old;

  support_need_cpu_wide(__func__);
  game = calloc(1, sizeof(*game));
  assert_non_null(game);
  game->cpu = live_last_cpu();
  snprintf(cpu, sizeof(cpu), "%d", game->cpu);
  live_stream_plan(&plan);
  plan.options.side_band = UVPERF_SIDE_BAND_SWITCH;
  plan.options.wakeup_bytes = WAKEUP_BYTES;
  live_plan_software(&plan, PERF_COUNT_SW_CPU_MIGRATIONS);
  live_stream_plan_target(&plan, UVPERF_TARGET_CPUS, 0)->cpus = cpu;
  start_players(game, players);
  live_pin(game->cpu, &old);
  live_stream_open(*state, &stream, &plan.options);
  stream.on_record = note_turn_of_set;
  stream.hook_data = game;
  live_stream_start(&stream, NULL);
  run_game(game);
  assert_int_equal(uvperf_disable(&stream.live.set.handle, UVPERF_ALL, NULL),
                   0);
  live_unpin(&old);
  assert_int_equal(uvperf_flush(&stream.live.set.handle), 0);
  uvperf_stats(&stream.live.set.handle, &stats);
  assert_int_equal(stats.lost_records + stats.corrupt, 0);
  assert_int_equal(stream.foreign, 0);
  assert_players(game);
  live_stream_close(&stream);
  end_players(game);
  free(game);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(switches_of_two_threads_on_a_cpu_come_in_pairs),
      support_loop_test(set_records_the_switches_of_two_threads_on_a_cpu),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
