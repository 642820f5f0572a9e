/* Approving with other arguments: what passes, what is refused and changes nothing, and who may not decide what he edited. */
#include "check.h"

static const char ANN[] = "{\"issuer\":\"sso\",\"subject\":\"ann\",\"roles\":[\"finance\"],\"verified\":true}";
static const char BOB[] = "{\"issuer\":\"sso\",\"subject\":\"bob\",\"roles\":[\"finance\"],\"verified\":true}";
static const char EVE[] = "{\"issuer\":\"sso\",\"subject\":\"eve\",\"roles\":[\"finance\"],\"verified\":false}";
static const char OTHER[] = "{\"to\":\"bob\",\"amount\":2.50}";

static const char MAY[] = "[[people]]\nserver = \"bank\"\nroles = [\"finance\"]\nmay_edit = [\"finance\"]\n"
                          "[[deny]]\nserver = \"bank\"\ntool = \"send_payment\"\nwhen = [\"amount > 100\"]\n";
static const char MAY_NOT_DECIDE[] = "[[people]]\nserver = \"bank\"\nroles = [\"finance\"]\nmay_edit = [\"finance\"]\n"
                                     "requester_may_decide = false\n";

struct seen {
  int calls;
  char args[128];
};

static int32_t tool(void *user, uint64_t call, const char *name, const char *args, const char *key) {
  struct seen *seen = (struct seen *)user;
  CHECK(strcmp(name, "bank.send_payment") == 0 && strlen(key) == 64);
  seen->calls++;
  snprintf(seen->args, sizeof seen->args, "%s", args);
  STATUS(PLANGATE_OK, plangate_answer(call, 1, "{\"paid\":true}", 13));
  return PLANGATE_ANSWERED;
}

struct parked {
  plangate_plan *plan;
  plangate_store *store;
  struct seen seen;
  char run[64], id[64], digest[128];
};

static plangate_host host_for(struct parked *parked) { return host_of(tool, &parked->seen); }

static void park(struct parked *parked, const char *policy) {
  plangate_buf out, err;
  memset(parked, 0, sizeof *parked);
  STATUS_ERR(PLANGATE_OK,
             plangate_compile(PAYS, strlen(PAYS), CATALOG, strlen(CATALOG), policy, strlen(policy), &parked->plan, &err),
             &err);
  parked->store = store_of(":memory:");
  plangate_host host = host_for(parked);
  STATUS_ERR(PLANGATE_PARKED, plangate_run(parked->store, parked->plan, NULL, 0, &host, &out, &err), &err);
  text_of(out.data, "run", parked->run, sizeof parked->run);
  plangate_buf_free(&out);
  STATUS(PLANGATE_OK, plangate_approval_list(parked->store, &out, NULL));
  text_of(out.data, "id", parked->id, sizeof parked->id);
  text_of(out.data, "digest", parked->digest, sizeof parked->digest);
  plangate_buf_free(&out);
}

static void done(struct parked *parked) {
  plangate_plan_free(parked->plan);
  plangate_store_free(parked->store);
}

/* Whether the row says this. */
static int row_says(struct parked *parked, const char *words) {
  plangate_buf row;
  STATUS(PLANGATE_OK, plangate_approval_get(parked->store, parked->id, &row, NULL));
  int found = strstr(row.data, words) != NULL;
  plangate_buf_free(&row);
  return found;
}

static plangate_status approve(struct parked *parked, const char *who, const char *edited, plangate_buf *err) {
  return plangate_approve(parked->store, parked->id, parked->digest, who, edited, err);
}

/* Refused with words about it, and the row waits as it was shown. */
static void refused(struct parked *parked, plangate_status want, const char *who, const char *edited, const char *says) {
  plangate_buf err;
  STATUS_ERR(want, approve(parked, who, edited, &err), &err);
  check(strstr(err.data, says) != NULL && strstr(err.data, "\"code\":\"PLANGATE_E_") != NULL, says, __FILE__, __LINE__,
        err.data);
  plangate_buf_free(&err);
  STATUS(want, approve(parked, who, edited, NULL));
  CHECK(row_says(parked, parked->digest) && row_says(parked, "\"state\":\"pending\"") && row_says(parked, "\"edits\":[]"));
  CHECK(row_says(parked, "\"votes\":[]"));
}

static void goes_out(struct parked *parked, const char *args) {
  plangate_buf out, err;
  plangate_host host = host_for(parked);
  STATUS_ERR(PLANGATE_OK, plangate_resume(parked->store, parked->run, &host, &out, &err), &err);
  plangate_buf_free(&out);
  check(parked->seen.calls == 1 && strcmp(parked->seen.args, args) == 0, args, __FILE__, __LINE__, parked->seen.args);
}

int main(void) {
  struct parked parked;
  plangate_buf err;

  /* Where policy lets nobody edit, nobody does; as shown it may still be approved. */
  park(&parked, "");
  refused(&parked, PLANGATE_E_NOT_ALLOWED, ANN, OTHER, "nobody");
  STATUS(PLANGATE_OK, approve(&parked, ANN, NULL, NULL));
  goes_out(&parked, "{\"amount\":1.10,\"to\":\"ann\"}");
  STATUS(PLANGATE_E_DECIDED, approve(&parked, ANN, OTHER, NULL));
  done(&parked);

  park(&parked, MAY);
  refused(&parked, PLANGATE_E_ARGUMENT, ANN, "", "edited_args_json");
  refused(&parked, PLANGATE_E_ARGUMENT, ANN, "{\"to\":", "edited_args_json");
  refused(&parked, PLANGATE_E_ARGUMENT, ANN, "{\"to\":\"a\",\"to\":\"b\",\"amount\":1}", "edited_args_json");
  refused(&parked, PLANGATE_E_ARGUMENT, ANN, "[]", "not an object");
  refused(&parked, PLANGATE_E_ARGUMENT, ANN, "{\"to\":\"\xff\"}", "not UTF-8");
  refused(&parked, PLANGATE_E_NOT_ALLOWED, ANN, "{\"to\":\"bob\"}", "do not fit");
  refused(&parked, PLANGATE_E_NOT_ALLOWED, ANN, "{\"to\":\"bob\",\"amount\":\"2.50\"}", "do not fit");
  refused(&parked, PLANGATE_E_NOT_ALLOWED, ANN, "{\"to\":\"bob\",\"amount\":500}", "denies");
  refused(&parked, PLANGATE_E_NOT_ALLOWED, EVE, OTHER, "verified");
  STATUS(PLANGATE_E_CHANGED,
         plangate_approve(parked.store, parked.id,
                          "sha256:0000000000000000000000000000000000000000000000000000000000000000", ANN, OTHER, NULL));
  /* Edited and decided by one person; what goes out is what that person wrote. */
  STATUS_ERR(PLANGATE_OK, approve(&parked, ANN, OTHER, &err), &err);
  CHECK(err.data == NULL);
  CHECK(row_says(&parked, "\"state\":\"approved\"") && !row_says(&parked, "\"edits\":[]"));
  CHECK(row_says(&parked, "\"arguments\":{\"amount\":1.10,\"to\":\"ann\"}"));
  CHECK(row_says(&parked, "\"arguments\":{\"amount\":2.50,\"to\":\"bob\"}"));
  goes_out(&parked, "{\"amount\":2.50,\"to\":\"bob\"}");
  done(&parked);

  /* Who edits counts as requester: where that one may not decide, the edit stands and others do. */
  park(&parked, MAY_NOT_DECIDE);
  STATUS_ERR(PLANGATE_PARKED, approve(&parked, ANN, OTHER, &err), &err);
  CHECK(strstr(err.data, "\"code\":\"PLANGATE_PARKED\"") != NULL && strstr(err.data, "not decided") != NULL);
  char now[128];
  text_of(err.data, "stored", now, sizeof now);
  plangate_buf_free(&err);
  CHECK(strcmp(now, parked.digest) != 0 && row_says(&parked, now) && row_says(&parked, "\"votes\":[]"));
  STATUS(PLANGATE_E_CHANGED, approve(&parked, BOB, NULL, NULL));
  snprintf(parked.digest, sizeof parked.digest, "%s", now);
  STATUS(PLANGATE_E_NOT_ALLOWED, approve(&parked, ANN, NULL, NULL));
  STATUS(PLANGATE_OK, approve(&parked, BOB, NULL, NULL));
  goes_out(&parked, "{\"amount\":2.50,\"to\":\"bob\"}");
  done(&parked);

  /* The same without an error to fill; and the very same arguments are no edit. */
  park(&parked, MAY_NOT_DECIDE);
  STATUS(PLANGATE_PARKED, approve(&parked, ANN, OTHER, NULL));
  done(&parked);
  park(&parked, MAY);
  STATUS(PLANGATE_OK, approve(&parked, ANN, "{\"to\":\"ann\",\"amount\":1.10}", NULL));
  CHECK(row_says(&parked, "\"edits\":[]"));
  goes_out(&parked, "{\"amount\":1.10,\"to\":\"ann\"}");
  done(&parked);
  return 0;
}
