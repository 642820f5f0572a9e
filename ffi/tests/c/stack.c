/* Called from a small stack on the heap, as coroutines and foreign function libraries do. */
#define _GNU_SOURCE
#include "check.h"
#include <ucontext.h>

static ucontext_t back, other;
static const char *path;

static const char MAY[] = "[[people]]\nserver = \"bank\"\nroles = [\"finance\"]\nmay_edit = [\"finance\"]\n";
static const char ANN[] = "{\"issuer\":\"sso\",\"subject\":\"ann\",\"roles\":[\"finance\"],\"verified\":true}";

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

  /* Parked, edited, resumed; a store in a file, as most are. */
  plangate_plan *pays = NULL;
  char run[64], id[64], digest[128];
  plangate_store_free(store);
  store = store_of(path);
  STATUS_ERR(PLANGATE_OK,
             plangate_compile(PAYS, strlen(PAYS), CATALOG, strlen(CATALOG), MAY, strlen(MAY), &pays, &err), &err);
  STATUS_ERR(PLANGATE_PARKED, plangate_run(store, pays, NULL, 0, &host, &out, &err), &err);
  text_of(out.data, "run", run, sizeof run);
  plangate_buf_free(&out);
  STATUS_ERR(PLANGATE_OK, plangate_approval_list(store, &out, &err), &err);
  text_of(out.data, "id", id, sizeof id);
  text_of(out.data, "digest", digest, sizeof digest);
  plangate_buf_free(&out);
  STATUS_ERR(PLANGATE_OK, plangate_approve(store, id, digest, ANN, "{\"to\":\"bob\",\"amount\":2}", &err), &err);
  STATUS_ERR(PLANGATE_OK, plangate_resume(store, run, &host, &out, &err), &err);
  plangate_buf_free(&out);
  STATUS_ERR(PLANGATE_OK, plangate_run_record(store, run, &out, &err), &err);
  plangate_buf_free(&out);
  STATUS_ERR(PLANGATE_OK, plangate_events(store, NULL, &out, &err), &err);
  plangate_buf_free(&out);
  STATUS_ERR(PLANGATE_OK, plangate_plan_card(pays, "html", &out), NULL);
  plangate_buf_free(&out);
  plangate_plan_free(pays);
  plangate_plan_free(plan);
  plangate_plan_free(again);
  plangate_store_free(store);
}

int main(int argc, char **argv) {
  size_t size = 128 * 1024;
  CHECK(argc == 2);
  path = argv[1];
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
