/* Threads: four calls at once, none left when the run returns, a deadline in a callback that does not return, a cancel,
   and a fork after a run. */
#define _GNU_SOURCE
#include "check.h"
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int tasks(void) {
  int n = 0;
  DIR *dir = opendir("/proc/self/task");
  CHECK(dir != NULL);
  for (struct dirent *entry; (entry = readdir(dir)) != NULL;) n += entry->d_name[0] != '.';
  closedir(dir);
  return n;
}

static int32_t slow(void *user, uint64_t call, const char *name, const char *args, const char *key) {
  struct timespec tenth = {0, 100 * 1000 * 1000};
  (void)user, (void)name, (void)args, (void)key;
  nanosleep(&tenth, NULL);
  plangate_answer(call, 1, "[]", 2);
  return PLANGATE_ANSWERED;
}

/* All four at once, or none of them returns. */
static pthread_barrier_t four;
static int32_t together(void *user, uint64_t call, const char *name, const char *args, const char *key) {
  (void)user, (void)name, (void)args, (void)key;
  pthread_barrier_wait(&four);
  plangate_answer(call, 1, "[]", 2);
  return PLANGATE_ANSWERED;
}

/* What the process does at each signal, as text. */
static void signals(char *out, size_t size) {
  size_t n = 0;
  for (int signal = 1; signal < 32; signal++) {
    struct sigaction action;
    CHECK(sigaction(signal, NULL, &action) == 0);
    char how = action.sa_handler == SIG_DFL ? 'd' : action.sa_handler == SIG_IGN ? 'i' : 'h';
    if (n + 1 < size) out[n++] = how;
  }
  out[n] = 0;
}

struct stuck {
  plangate_store *store;
  int cancels;
  double returned;
};

/* Whether the store says this of a run. */
static int store_says(plangate_store *store, const char *words) {
  plangate_buf list;
  STATUS(PLANGATE_OK, plangate_run_list(store, &list, NULL));
  int found = strstr(list.data, words) != NULL;
  plangate_buf_free(&list);
  return found;
}

/* Goes on until it is told that nobody waits any more; past a deadline, until the run is parked without it. */
static int32_t stuck(void *user, uint64_t call, const char *name, const char *args, const char *key) {
  struct stuck *of = (struct stuck *)user;
  struct timespec moment = {0, 1000 * 1000};
  (void)name, (void)args, (void)key;
  if (of->cancels) {
    plangate_buf list;
    char run[64];
    STATUS(PLANGATE_OK, plangate_run_list(of->store, &list, NULL));
    text_of(list.data, "id", run, sizeof run);
    STATUS(PLANGATE_OK, plangate_cancel(of->store, run, NULL));
    plangate_buf_free(&list);
  }
  while (!plangate_cancelled(call)) nanosleep(&moment, NULL);
  while (!of->cancels && !store_says(of->store, "\"state\":\"parked\"")) nanosleep(&moment, NULL);
  of->returned = now_ms();
  plangate_answer(call, 1, "{\"late\":true}", 13);
  return PLANGATE_ANSWERED;
}

int main(int argc, char **argv) {
  plangate_buf record, err;
  char run[64];
  char before[40], after[40];
  const int alone = tasks();
  signals(before, sizeof before);
  plangate_plan *plan = plan_of(READS), *pays = plan_of(PAYS);
  plangate_store *store = store_of(argc > 1 ? argv[1] : ":memory:");
  plangate_host host = host_of(together, NULL);

  CHECK(pthread_barrier_init(&four, NULL, 4) == 0);
  STATUS_ERR(PLANGATE_OK, plangate_run(store, plan, NULL, 0, &host, &record, &err), &err);
  plangate_buf_free(&record);
  CHECK(tasks() == alone);
  /* Signals are the host's: SIGPIPE kills as it did. */
  signals(after, sizeof after);
  CHECK(strcmp(before, after) == 0);

  host.tool = slow;
  double best = 1e9;
  for (int i = 0; i < 25 && best >= 180; i++) { /* one after the other it is never under 400 */
    double from = now_ms();
    STATUS_ERR(PLANGATE_OK, plangate_run(store, plan, NULL, 0, &host, &record, &err), &err);
    double took = now_ms() - from;
    if (took < best) best = took;
    plangate_buf_free(&record);
    CHECK(tasks() == alone);
  }
  printf("four calls of 100 ms: %.0f ms\n", best);
  CHECK(best < 180);

  /* One at a time, where the host says so. */
  host.threads = 1;
  double from = now_ms();
  STATUS(PLANGATE_OK, plangate_run(store, plan, NULL, 0, &host, &record, NULL));
  CHECK(now_ms() - from >= 400);
  plangate_buf_free(&record);

  /* At its deadline a call is uncertain; the run waits for its callback, whose word then counts. */
  struct stuck of = {store, 0, 0};
  host = host_of(stuck, &of);
  host.timeout_ms = 100;
  park_and_approve(store, pays, &host, run);
  STATUS_ERR(PLANGATE_PARKED, plangate_resume(store, run, &host, &record, &err), &err);
  CHECK(of.returned > 0 && of.returned <= now_ms());
  CHECK(tasks() == alone);
  plangate_buf_free(&record);
  STATUS_ERR(PLANGATE_OK, plangate_resume(store, run, &host, &record, &err), &err);
  CHECK(strstr(record.data, "\"late\": true") != NULL);
  plangate_buf_free(&record);

  /* A cancel from within: the call is asked to stop, and what it did is recorded. */
  of.cancels = 1;
  host.timeout_ms = 60000;
  park_and_approve(store, pays, &host, run);
  STATUS(PLANGATE_E_CANCELLED, plangate_resume(store, run, &host, &record, &err));
  CHECK(strstr(record.data, "\"late\": true") != NULL);
  CHECK(err.data != NULL && tasks() == alone);
  plangate_buf_free(&record);
  plangate_buf_free(&err);

  /* After a run a process may fork; its child has the library to itself. */
  fflush(stdout);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    plangate_store *own = store_of(":memory:");
    host = host_of(together, NULL);
    STATUS_ERR(PLANGATE_OK, plangate_run(own, plan, NULL, 0, &host, &record, &err), &err);
    plangate_buf_free(&record);
    plangate_store_free(own);
    _exit(tasks() == 1 ? 0 : 1);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);

  plangate_plan_free(plan);
  plangate_plan_free(pays);
  plangate_store_free(store);
  return 0; /* at once after a run: nothing of it is left to be called */
}
