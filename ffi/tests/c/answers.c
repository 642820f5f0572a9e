/* What an answer means: at once, later, from another thread, twice, too late, never, and none at all. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>

enum how { AT_ONCE, LATER_FROM_A_THREAD, NEVER, NOTHING_AT_ALL, NO_SUCH_RETURN, NOT_JSON, SAYS_FAILED, SAYS_UNKNOWN, NOT_SENT, NO_SUCH_OUTCOME };

struct seen {
  enum how how;
  int calls;
  uint64_t call;
  pthread_t thread;
  char key[128];
};

static void *answer_elsewhere(void *arg) {
  struct seen *seen = (struct seen *)arg;
  STATUS(PLANGATE_OK, plangate_answer(seen->call, 1, "{\"n\":1.10}", 10));
  return NULL;
}

static int32_t tool(void *user, uint64_t call, const char *name, const char *args, const char *key) {
  struct seen *seen = (struct seen *)user;
  seen->calls++;
  seen->call = call;
  snprintf(seen->key, sizeof seen->key, "%s", key);
  CHECK(strstr(name, "bank.") == name && args[0] == '{');
  /* A deadline of a moment may have passed on a busy machine before the callback is entered. */
  if (seen->how != NEVER) CHECK(plangate_cancelled(call) == 0);
  switch (seen->how) {
    case AT_ONCE:
      STATUS(PLANGATE_OK, plangate_answer(call, 1, "{\"n\":1.10}", 10));
      STATUS(PLANGATE_E_NOT_FOUND, plangate_answer(call, -1, NULL, 0));
      return PLANGATE_ANSWERED;
    case LATER_FROM_A_THREAD:
      CHECK(pthread_create(&seen->thread, NULL, answer_elsewhere, seen) == 0);
      return PLANGATE_LATER;
    case NEVER: return PLANGATE_LATER;
    case NOTHING_AT_ALL: return PLANGATE_ANSWERED;
    case NO_SUCH_RETURN: return -77;
    case NOT_JSON: STATUS(PLANGATE_E_ARGUMENT, plangate_answer(call, 1, "it went out", 11)); break;
    case SAYS_FAILED: STATUS(PLANGATE_OK, plangate_answer(call, -1, "\"no money\"", 10)); break;
    case SAYS_UNKNOWN: STATUS(PLANGATE_OK, plangate_answer(call, -2, "connection lost", 15)); break;
    case NOT_SENT: STATUS(PLANGATE_OK, plangate_answer(call, -3, NULL, 0)); break;
    case NO_SUCH_OUTCOME: STATUS(PLANGATE_E_ARGUMENT, plangate_answer(call, 99, "{}", 2)); break;
  }
  return PLANGATE_ANSWERED;
}

static void effect(enum how how, plangate_status want, const char *state, const char *says) {
  plangate_plan *plan = plan_of(PAYS);
  plangate_store *store = store_of(":memory:");
  plangate_buf record, err;
  char run[64];
  struct seen seen;
  memset(&seen, 0, sizeof seen);
  seen.how = how;
  plangate_host host = host_of(tool, &seen);
  host.timeout_ms = how == NEVER ? 1500 : 60000;
  park_and_approve(store, plan, &host, run);
  CHECK(seen.calls == 0);
  STATUS_ERR(want, plangate_resume(store, run, &host, &record, &err), &err);
  if (how == LATER_FROM_A_THREAD) CHECK(pthread_join(seen.thread, NULL) == 0);
  CHECK(strstr(record.data, state) != NULL);
  CHECK(strstr(record.data, says) != NULL);
  CHECK(seen.calls == 1 && strlen(seen.key) == 64);
  CHECK(plangate_cancelled(seen.call) == 1);
  plangate_buf_free(&record);
  if (how == NEVER) {
    /* It may be under way: nobody can say yet that it did not happen. */
    char id[64];
    STATUS(PLANGATE_OK, plangate_approval_list(store, &record, NULL));
    CHECK(strstr(record.data, "\"state\":\"uncertain\"") != NULL);
    text_of(record.data, "id", id, sizeof id);
    plangate_buf_free(&record);
    STATUS(PLANGATE_E_IN_FLIGHT,
           plangate_settle(store, id, 0, "{\"issuer\":\"test\",\"subject\":\"bob\"}", NULL, NULL, NULL));
    /* Too late is still the caller's word, once, while nobody has settled it. */
    STATUS(PLANGATE_OK, plangate_answer(seen.call, 1, "{\"n\":2}", 7));
    STATUS(PLANGATE_E_NOT_FOUND, plangate_answer(seen.call, 1, "{\"n\":3}", 7));
    STATUS_ERR(PLANGATE_OK, plangate_resume(store, run, &host, &record, &err), &err);
    CHECK(strstr(record.data, "\"done\"") != NULL && strstr(record.data, "no answer") == NULL);
    plangate_buf_free(&record);
  } else {
    STATUS(PLANGATE_E_NOT_FOUND, plangate_answer(seen.call, 1, "{\"n\":3}", 7));
    /* Whatever became of it, it is not made again. */
    STATUS(want, plangate_resume(store, run, &host, &record, NULL));
    plangate_buf_free(&record);
  }
  CHECK(seen.calls == 1);
  if (want == PLANGATE_PARKED && how != NEVER) {
    /* A person says what happened, and the run goes on from there. */
    char id[64];
    STATUS(PLANGATE_OK, plangate_approval_list(store, &record, NULL));
    CHECK(strstr(record.data, "\"state\":\"uncertain\"") != NULL);
    text_of(record.data, "id", id, sizeof id);
    plangate_buf_free(&record);
    STATUS_ERR(PLANGATE_OK,
               plangate_settle(store, id, 1, "{\"issuer\":\"test\",\"subject\":\"bob\"}", "{\"n\":4}", "looked", &err),
               &err);
    STATUS(PLANGATE_OK, plangate_resume(store, run, &host, &record, NULL));
    CHECK(seen.calls == 1);
    plangate_buf_free(&record);
  }
  plangate_plan_free(plan);
  plangate_store_free(store);
}

static void read_of(enum how how, plangate_status want, const char *state, const char *says) {
  plangate_plan *plan = plan_of("then:\n  a: bank.list_accounts {}\n");
  plangate_store *store = store_of(":memory:");
  plangate_buf record, err;
  struct seen seen;
  memset(&seen, 0, sizeof seen);
  seen.how = how;
  plangate_host host = host_of(tool, &seen);
  host.timeout_ms = how == NEVER ? 1500 : 60000;
  STATUS_ERR(want, plangate_run(store, plan, NULL, 0, &host, &record, &err), &err);
  if (how == LATER_FROM_A_THREAD) CHECK(pthread_join(seen.thread, NULL) == 0);
  CHECK(strstr(record.data, state) != NULL);
  CHECK(strstr(record.data, says) != NULL);
  CHECK(seen.calls == 1 && seen.key[0] == 0);
  STATUS(PLANGATE_E_NOT_FOUND, plangate_answer(seen.call, 1, "{}", 2));
  plangate_buf_free(&record);
  plangate_plan_free(plan);
  plangate_store_free(store);
}

/* `user` is the caller's: it is not looked at once the run has returned, not even by an answer that comes after that. */
static void free_user(void) {
  plangate_plan *plan = plan_of(PAYS);
  plangate_store *store = store_of(":memory:");
  plangate_buf record, err;
  char run[64];
  struct seen *seen = (struct seen *)calloc(1, sizeof *seen);
  CHECK(seen != NULL);
  seen->how = NEVER;
  plangate_host host = host_of(tool, seen);
  host.timeout_ms = 1500;
  park_and_approve(store, plan, &host, run);
  STATUS_ERR(PLANGATE_PARKED, plangate_resume(store, run, &host, &record, &err), &err);
  plangate_buf_free(&record);
  uint64_t call = seen->call;
  free(seen);
  STATUS(PLANGATE_OK, plangate_answer(call, 1, "{}", 2));
  plangate_plan_free(plan);
  plangate_store_free(store);
}

int main(void) {
  free_user();
  effect(AT_ONCE, PLANGATE_OK, "\"done\"", "1.10");
  effect(LATER_FROM_A_THREAD, PLANGATE_OK, "\"done\"", "1.10");
  effect(NEVER, PLANGATE_PARKED, "\"uncertain\"", "no answer");
  effect(NOTHING_AT_ALL, PLANGATE_PARKED, "\"uncertain\"", "returned 0 without an answer");
  effect(NO_SUCH_RETURN, PLANGATE_PARKED, "\"uncertain\"", "returned -77 without an answer");
  effect(NOT_JSON, PLANGATE_PARKED, "\"uncertain\"", "not with JSON");
  effect(SAYS_FAILED, PLANGATE_FAILED, "\"failed\"", "no money");
  effect(SAYS_UNKNOWN, PLANGATE_PARKED, "\"uncertain\"", "connection lost");
  effect(NOT_SENT, PLANGATE_FAILED, "\"failed\"", "not sent");
  effect(NO_SUCH_OUTCOME, PLANGATE_PARKED, "\"uncertain\"", "no outcome");
  read_of(AT_ONCE, PLANGATE_OK, "\"done\"", "1.10");
  read_of(LATER_FROM_A_THREAD, PLANGATE_OK, "\"done\"", "1.10");
  read_of(NEVER, PLANGATE_FAILED, "\"timed_out\"", "no answer within");
  read_of(NOTHING_AT_ALL, PLANGATE_FAILED, "\"failed\"", "returned 0 without an answer");
  read_of(NO_SUCH_RETURN, PLANGATE_FAILED, "\"failed\"", "returned -77 without an answer");
  read_of(NOT_JSON, PLANGATE_FAILED, "\"failed\"", "not with JSON");
  read_of(SAYS_FAILED, PLANGATE_FAILED, "\"failed\"", "no money");
  read_of(SAYS_UNKNOWN, PLANGATE_FAILED, "\"failed\"", "connection lost");
  read_of(NOT_SENT, PLANGATE_FAILED, "\"failed\"", "not send");
  read_of(NO_SUCH_OUTCOME, PLANGATE_FAILED, "\"failed\"", "no outcome");
  return 0;
}
