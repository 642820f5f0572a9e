/* Called from a stack on the heap, as coroutines and foreign function libraries do. */
#define _GNU_SOURCE
#include "check.h"
#include <ucontext.h>

static ucontext_t back, other;

static int32_t tool(void *user, uint64_t call, const char *name, const char *args, const char *key) {
  (void)user, (void)name, (void)args, (void)key;
  plangate_answer(call, 1, "[]", 2);
  return PLANGATE_ANSWERED;
}

static void there(void) {
  plangate_buf out, err;
  plangate_plan *plan = plan_of(READS), *again = NULL;
  plangate_store *store = store_of(":memory:");
  plangate_host host = host_of(tool, NULL);
  STATUS(PLANGATE_OK, plangate_plan_actions(plan, &out));
  STATUS_ERR(PLANGATE_OK, plangate_plan_load(out.data, out.len, CATALOG, strlen(CATALOG), NULL, 0, &again, &err), &err);
  plangate_buf_free(&out);
  STATUS_ERR(PLANGATE_OK, plangate_run(store, again, NULL, 0, &host, &out, &err), &err);
  plangate_buf_free(&out);
  plangate_plan_free(plan);
  plangate_plan_free(again);
  plangate_store_free(store);
}

int main(void) {
  size_t size = 512 * 1024;
  void *stack = malloc(size);
  CHECK(stack != NULL && getcontext(&other) == 0);
  other.uc_stack.ss_sp = stack;
  other.uc_stack.ss_size = size;
  other.uc_link = &back;
  makecontext(&other, there, 0);
  CHECK(swapcontext(&back, &other) == 0);
  free(stack);
  return 0;
}
