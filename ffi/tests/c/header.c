/* The header in every dialect: each callback set, then NULL, with something after it that must not have moved. */
#include "check.h"

static int32_t tool(void *user, uint64_t call, const char *name, const char *args, const char *key) {
  *(int *)user += 1;
  CHECK(strcmp(name, "bank.list_accounts") == 0);
  CHECK(args[0] == '{');
  CHECK(key[0] == 0);
  STATUS(PLANGATE_OK, plangate_answer(call, 1, "[]", 2));
  return PLANGATE_ANSWERED;
}

static int32_t reconcile(void *user, const char *key, const char *name, const char *args) {
  (void)user, (void)key, (void)name, (void)args;
  return 0;
}

int main(void) {
  int calls = 0;
  plangate_buf record, err;
  CHECK(plangate_abi_version() == PLANGATE_ABI_VERSION);
  CHECK(plangate_version()[0] != 0);
  CHECK(strcmp(plangate_status_name(PLANGATE_E_PLAN), "PLANGATE_E_PLAN") == 0);
  CHECK(strcmp(plangate_status_name(12345), "unknown") == 0);
  plangate_plan *plan = plan_of(READS);
  plangate_store *store = store_of(":memory:");
  plangate_host host = host_of(tool, &calls);

  host.reconcile = reconcile;
  host.catalog_json = CATALOG;
  host.catalog_len = strlen(CATALOG);
  host.title = "with all of it";
  STATUS_ERR(PLANGATE_OK, plangate_run(store, plan, NULL, 0, &host, &record, &err), &err);
  CHECK(strstr(record.data, "with all of it") != NULL);
  plangate_buf_free(&record);
  CHECK(calls == 4);

  /* What stands after a callback that is NULL is still read where it stands. */
  host.reconcile = NULL;
  host.catalog_json = "{\"servers\":{}}";
  host.catalog_len = strlen(host.catalog_json);
  STATUS(PLANGATE_E_PLAN, plangate_run(store, plan, NULL, 0, &host, &record, &err));
  CHECK(record.data == NULL);
  CHECK(strstr(err.data, "bank") != NULL);
  plangate_buf_free(&err);
  host.tool = NULL;
  STATUS(PLANGATE_E_ARGUMENT, plangate_run(store, plan, NULL, 0, &host, &record, NULL));
  CHECK(calls == 4);

  plangate_plan_free(plan);
  plangate_store_free(store);
  return 0;
}
