/* Two Rust libraries, linked statically into one program; each catches its own panics. */
#include "check.h"

extern int32_t other_panics(int32_t n);

static int32_t tool(void *user, uint64_t call, const char *name, const char *args, const char *key) {
  (void)name, (void)args, (void)key;
  *(int32_t *)user = other_panics(20);
  plangate_answer(call, 1, "[]", 2);
  return PLANGATE_ANSWERED;
}

int main(void) {
  int32_t told = 0;
  plangate_buf record, err;
  plangate_plan *plan = plan_of("then:\n  a: bank.list_accounts {}\n");
  plangate_store *store = store_of(":memory:");
  plangate_host host = host_of(tool, &told);
  STATUS_ERR(PLANGATE_OK, plangate_run(store, plan, NULL, 0, &host, &record, &err), &err);
  CHECK(told == 21);
  plangate_buf_free(&record);
  plangate_plan_free(plan);
  plangate_store_free(store);
  return 0;
}
