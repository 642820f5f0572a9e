/* Loaded, used and unloaded fifty times, each time by a thread that then ends. Not linked with the library. */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>
#include <pthread.h>

static const char *path;

typedef plangate_status (*compile_fn)(const char *, size_t, const char *, size_t, const char *, size_t,
                                      plangate_plan **, plangate_buf *);
typedef plangate_status (*open_fn)(const char *, size_t, plangate_store **, plangate_buf *);
typedef plangate_status (*run_fn)(plangate_store *, const plangate_plan *, const char *, size_t, const plangate_host *,
                                  plangate_buf *, plangate_buf *);
typedef plangate_status (*answer_fn)(uint64_t, int32_t, const char *, size_t);
typedef void (*plan_free_fn)(plangate_plan *);
typedef void (*store_free_fn)(plangate_store *);
typedef void (*buf_free_fn)(plangate_buf *);

static void find(void *library, const char *name, void *to) {
  void *found = dlsym(library, name);
  check(found != NULL, name, __FILE__, __LINE__, "");
  memcpy(to, &found, sizeof found);
}

static int32_t tool(void *user, uint64_t call, const char *name, const char *args, const char *key) {
  (void)name, (void)args, (void)key;
  (*(answer_fn *)user)(call, 1, "[]", 2);
  return PLANGATE_ANSWERED;
}

static void *turn(void *arg) {
  compile_fn compile;
  open_fn open;
  run_fn run;
  answer_fn answer;
  plan_free_fn plan_free;
  store_free_fn store_free;
  buf_free_fn buf_free;
  plangate_plan *plan = NULL;
  plangate_store *store = NULL;
  plangate_buf record;
  plangate_host host = host_of(tool, &answer);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  (void)arg;
  check(library != NULL, "dlopen", __FILE__, __LINE__, path);
  find(library, "plangate_compile", &compile);
  find(library, "plangate_store_open", &open);
  find(library, "plangate_run", &run);
  find(library, "plangate_answer", &answer);
  find(library, "plangate_plan_free", &plan_free);
  find(library, "plangate_store_free", &store_free);
  find(library, "plangate_buf_free", &buf_free);
  CHECK(compile(READS, strlen(READS), CATALOG, strlen(CATALOG), NULL, 0, &plan, NULL) == PLANGATE_OK);
  CHECK(open(":memory:", 8, &store, NULL) == PLANGATE_OK);
  CHECK(run(store, plan, NULL, 0, &host, &record, NULL) == PLANGATE_OK);
  buf_free(&record);
  plan_free(plan);
  store_free(store);
  CHECK(dlclose(library) == 0);
  return NULL;
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  path = argv[1];
  for (int i = 0; i < 50; i++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, turn, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
  }
  return 0;
}
