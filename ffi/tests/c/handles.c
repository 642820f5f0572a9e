/* Freeing in every order, twice, during a run, and while eight threads use what is freed. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>

enum { THREADS = 8 };

static plangate_plan *plan;
static plangate_store *store;
static pthread_barrier_t all;

static int32_t tool(void *user, uint64_t call, const char *name, const char *args, const char *key) {
  (void)user, (void)name, (void)args, (void)key;
  plangate_answer(call, 1, "[]", 2);
  return PLANGATE_ANSWERED;
}

/* The first call frees what its own run uses. */
static int32_t freeing(void *user, uint64_t call, const char *name, const char *args, const char *key) {
  (void)user, (void)name, (void)args, (void)key;
  plangate_plan_free(plan);
  plangate_store_free(store);
  plangate_answer(call, 1, "[]", 2);
  return PLANGATE_ANSWERED;
}

static void either(plangate_status status) { CHECK(status == PLANGATE_OK || status == PLANGATE_E_ARGUMENT); }

static void *use(void *arg) {
  plangate_buf out, err;
  (void)arg;
  pthread_barrier_wait(&all);
  for (int i = 0; i < 20; i++) {
    plangate_host host = host_of(tool, NULL);
    either(plangate_run(store, plan, NULL, 0, &host, &out, &err));
    plangate_buf_free(&out);
    plangate_buf_free(&err);
    either(plangate_plan_card(plan, "text", &out));
    plangate_buf_free(&out);
    either(plangate_run_list(store, &out, NULL));
    plangate_buf_free(&out);
  }
  return NULL;
}

int main(void) {
  plangate_buf out, err;
  /* Compiled twice from the same inputs; freed in both orders, and twice. */
  plangate_plan *first = plan_of(READS), *second = plan_of(READS);
  plangate_plan_free(first);
  STATUS(PLANGATE_OK, plangate_plan_actions(second, &out));
  plangate_buf_free(&out);
  STATUS(PLANGATE_E_ARGUMENT, plangate_plan_actions(first, &out));
  plangate_plan_free(first);
  plangate_plan_free(second);
  first = plan_of(READS), second = plan_of(READS);
  plangate_plan_free(second);
  plangate_plan_free(first);

  /* No function consumes a handle. */
  plan = plan_of(READS);
  store = store_of(":memory:");
  plangate_host host = host_of(tool, NULL);
  for (int i = 0; i < 2; i++) {
    STATUS_ERR(PLANGATE_OK, plangate_run(store, plan, NULL, 0, &host, &out, &err), &err);
    plangate_buf_free(&out);
  }

  /* A run holds what it uses. */
  host.tool = freeing;
  STATUS_ERR(PLANGATE_OK, plangate_run(store, plan, NULL, 0, &host, &out, &err), &err);
  plangate_buf_free(&out);
  STATUS(PLANGATE_E_ARGUMENT, plangate_run(store, plan, NULL, 0, &host, &out, NULL));

  /* Eight threads, and the maker frees. */
  pthread_t threads[THREADS];
  plan = plan_of(READS);
  store = store_of(":memory:");
  CHECK(pthread_barrier_init(&all, NULL, THREADS + 1) == 0);
  for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, use, NULL) == 0);
  pthread_barrier_wait(&all);
  plangate_plan_free(plan);
  plangate_store_free(store);
  for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  return 0;
}
