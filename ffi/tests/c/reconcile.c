/* The host is asked what became of a call whose outcome is not known. With an argument: one that takes too long, and one
   that never answers. */
#define _GNU_SOURCE
#include "check.h"
#include <dirent.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum how { NO_CALLBACK, IT_DID, IT_DID_NOT, DOES_NOT_KNOW, NO_SUCH_ANSWER, LATER_WITH_VALUE, LATER_DID_NOT, VALUE_FIRST, NOT_JSON };

struct seen {
  enum how how;
  int calls, asked;
  char key[128], asked_key[128];
  pthread_t thread;
};

static int32_t pay(void *user, uint64_t call, const char *name, const char *args, const char *key) {
  struct seen *seen = (struct seen *)user;
  (void)name, (void)args;
  CHECK(seen->calls == 0 || strcmp(seen->key, key) == 0);
  snprintf(seen->key, sizeof seen->key, "%s", key);
  /* Once it is made again, it is known to have been made. */
  if (seen->calls++ > 0) STATUS(PLANGATE_OK, plangate_answer(call, 1, "{\"second\":true}", 15));
  else STATUS(PLANGATE_OK, plangate_answer(call, -2, "connection lost", 15));
  return PLANGATE_ANSWERED;
}

static void *say(void *arg) {
  struct seen *seen = (struct seen *)arg;
  if (seen->how == LATER_DID_NOT) STATUS(PLANGATE_OK, plangate_reconciled(seen->asked_key, -1, NULL, 0));
  else STATUS(PLANGATE_OK, plangate_reconciled(seen->asked_key, 1, "{\"n\":1.10}", 10));
  STATUS(PLANGATE_E_NOT_FOUND, plangate_reconciled(seen->asked_key, 0, NULL, 0));
  return NULL;
}

static int32_t reconcile(void *user, const char *key, const char *name, const char *args) {
  struct seen *seen = (struct seen *)user;
  seen->asked++;
  snprintf(seen->asked_key, sizeof seen->asked_key, "%s", key);
  CHECK(strcmp(name, "bank.send_payment") == 0 && strcmp(args, "{\"amount\":1.10,\"to\":\"ann\"}") == 0);
  switch (seen->how) {
    case IT_DID: return 1;
    case IT_DID_NOT: return -1;
    case NO_SUCH_ANSWER: return 99;
    case LATER_WITH_VALUE:
    case LATER_DID_NOT: CHECK(pthread_create(&seen->thread, NULL, say, seen) == 0); return PLANGATE_RECONCILE_LATER;
    case VALUE_FIRST: STATUS(PLANGATE_OK, plangate_reconciled(key, 1, "{\"n\":1.10}", 10)); return 0;
    case NOT_JSON: STATUS(PLANGATE_E_ARGUMENT, plangate_reconciled(key, 1, "it went out", 11)); return 1;
    default: return 0;
  }
}

static void moment(void) {
  struct timespec moment = {0, 5 * 1000 * 1000};
  nanosleep(&moment, NULL);
}

/* Whether the row says this. */
static int row_says(plangate_store *store, const char *id, const char *words) {
  plangate_buf row;
  STATUS(PLANGATE_OK, plangate_approval_get(store, id, &row, NULL));
  int found = strstr(row.data, words) != NULL;
  plangate_buf_free(&row);
  return found;
}

static void lost(enum how how, plangate_status want, const char *says, int calls) {
  plangate_plan *plan = plan_of(PAYS);
  plangate_store *store = store_of(":memory:");
  plangate_buf record, err, list;
  char run[64], id[64];
  struct seen seen;
  memset(&seen, 0, sizeof seen);
  seen.how = how;
  plangate_host host = host_of(pay, &seen);
  host.timeout_ms = 300;
  if (how != NO_CALLBACK) host.reconcile = reconcile;
  park_and_approve(store, plan, &host, run);
  STATUS(PLANGATE_OK, plangate_approval_list(store, &list, NULL));
  text_of(list.data, "id", id, sizeof id);
  plangate_buf_free(&list);
  /* It is asked once the deadline of the call has passed. */
  for (int i = 0; i < 4000; i++) {
    plangate_status status = plangate_resume(store, run, &host, &record, &err);
    int ended = how == NO_CALLBACK ? i > 100 : seen.asked > 0;
    if (ended) {
      STATUS_ERR(want, status, &err);
      break;
    }
    STATUS_ERR(PLANGATE_PARKED, status, &err);
    plangate_buf_free(&record);
    moment();
  }
  CHECK(record.data != NULL);
  check(strstr(record.data, says) != NULL, says, __FILE__, __LINE__, record.data);
  plangate_buf_free(&record);
  CHECK(seen.calls == calls && seen.asked == (how != NO_CALLBACK));
  CHECK(how == NO_CALLBACK || strcmp(seen.key, seen.asked_key) == 0);
  CHECK(row_says(store, id, how == NO_CALLBACK ? "\"reconciled\":null" : "\"reconciled\":{"));
  if (how == LATER_WITH_VALUE || how == LATER_DID_NOT) CHECK(pthread_join(seen.thread, NULL) == 0);
  /* Asked once, and nothing is made again. */
  STATUS(want, plangate_resume(store, run, &host, &record, NULL));
  plangate_buf_free(&record);
  CHECK(seen.calls == calls && seen.asked == (how != NO_CALLBACK));
  STATUS(PLANGATE_E_NOT_FOUND, plangate_reconciled(seen.key, 1, NULL, 0));
  plangate_plan_free(plan);
  plangate_store_free(store);
}

static int tasks(void) {
  int n = 0;
  DIR *dir = opendir("/proc/self/task");
  CHECK(dir != NULL);
  for (struct dirent *entry; (entry = readdir(dir)) != NULL;) n += entry->d_name[0] != '.';
  closedir(dir);
  return n;
}

static int asked, returned;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;

static int32_t never_known(void *user, uint64_t call, const char *name, const char *args, const char *key) {
  (void)user, (void)name, (void)args, (void)key;
  STATUS(PLANGATE_OK, plangate_answer(call, -2, NULL, 0));
  return PLANGATE_ANSWERED;
}

static int32_t too_long_or_never(void *user, const char *key, const char *name, const char *args) {
  (void)user, (void)key, (void)name;
  pthread_mutex_lock(&one);
  asked++;
  pthread_mutex_unlock(&one);
  if (strstr(args, "\"bob\"") != NULL) return PLANGATE_RECONCILE_LATER;
  sleep(11);
  returned = 1;
  return 1;
}

static void too_late(void) {
  static const char TWO[] = "together:\n"
                            "  a: bank.send_payment {\"to\":\"ann\",\"amount\":1}\n"
                            "  b: bank.send_payment {\"to\":\"bob\",\"amount\":1}\n";
  const int alone = tasks();
  plangate_plan *plan = plan_of(TWO);
  plangate_store *store = store_of(":memory:");
  plangate_buf record, err;
  char run[64];
  plangate_host host = host_of(never_known, NULL);
  host.timeout_ms = 300;
  host.reconcile = too_long_or_never;
  park_and_approve(store, plan, &host, run);
  while (asked < 2) {
    STATUS_ERR(PLANGATE_PARKED, plangate_resume(store, run, &host, &record, &err), &err);
    /* The word came too late, and its thread was waited for all the same. */
    CHECK(tasks() == alone);
    if (asked < 2) plangate_buf_free(&record);
    moment();
  }
  CHECK(asked == 2 && returned == 1);
  plangate_buf_free(&record);
  STATUS(PLANGATE_OK, plangate_approval_list(store, &record, NULL));
  int uncertain = 0;
  for (const char *at = record.data; (at = strstr(at, "\"state\":\"uncertain\"")) != NULL; at++) uncertain++;
  CHECK(uncertain == 2);
  plangate_buf_free(&record);
  plangate_plan_free(plan);
  plangate_store_free(store);
}

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1) {
    too_late();
    return 0;
  }
  STATUS(PLANGATE_E_ARGUMENT, plangate_reconciled(NULL, 1, NULL, 0));
  STATUS(PLANGATE_E_ARGUMENT, plangate_reconciled("k", 1, NULL, 1));
  STATUS(PLANGATE_E_ARGUMENT, plangate_reconciled("\xff", 1, NULL, 0));
  STATUS(PLANGATE_E_NOT_FOUND, plangate_reconciled("k", 1, NULL, 0));
  lost(NO_CALLBACK, PLANGATE_PARKED, "\"uncertain\"", 1);
  lost(IT_DID, PLANGATE_OK, "\"done\"", 1);
  lost(IT_DID_NOT, PLANGATE_OK, "\"second\"", 2);
  lost(DOES_NOT_KNOW, PLANGATE_PARKED, "\"uncertain\"", 1);
  lost(NO_SUCH_ANSWER, PLANGATE_PARKED, "\"uncertain\"", 1);
  lost(LATER_WITH_VALUE, PLANGATE_OK, "1.10", 1);
  lost(LATER_DID_NOT, PLANGATE_OK, "\"second\"", 2);
  lost(VALUE_FIRST, PLANGATE_OK, "1.10", 1);
  lost(NOT_JSON, PLANGATE_PARKED, "\"uncertain\"", 1);
  return 0;
}
