/* Every pointer NULL in turn; documents that are empty, cut by a NUL, or not UTF-8; options that nobody knows. */
#include "check.h"

static const char ANN[] = "{\"issuer\":\"test\",\"subject\":\"ann\"}";
static const char DIGEST[] = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

static int32_t tool(void *user, uint64_t call, const char *name, const char *args, const char *key) {
  (void)user, (void)name, (void)args, (void)key;
  plangate_answer(call, 1, "[]", 2);
  return PLANGATE_ANSWERED;
}

#define REFUSED(call) STATUS(PLANGATE_E_ARGUMENT, call)
/* Refused, with an error that names the argument. */
#define NAMED(name, call)                                                                                              \
  do {                                                                                                                 \
    STATUS(PLANGATE_E_ARGUMENT, call);                                                                                 \
    check(err.data != NULL && strstr(err.data, name) != NULL && strstr(err.data, "\"code\":\"PLANGATE_E_ARGUMENT\""),   \
          name, __FILE__, __LINE__, err.data != NULL ? err.data : "");                                                 \
    plangate_buf_free(&err);                                                                                           \
  } while (0)

static void nulls(plangate_plan *plan, plangate_store *store) {
  plangate_buf out, err;
  plangate_plan *p = NULL;
  plangate_store *s = NULL;
  plangate_host host = host_of(tool, NULL);

  plangate_buf_free(NULL);
  plangate_plan_free(NULL);
  plangate_store_free(NULL);

  NAMED("recipe", plangate_compile(NULL, 1, CATALOG, strlen(CATALOG), NULL, 0, &p, &err));
  NAMED("catalog_json", plangate_compile(READS, strlen(READS), NULL, 1, NULL, 0, &p, &err));
  NAMED("policy_toml", plangate_compile(READS, strlen(READS), CATALOG, strlen(CATALOG), NULL, 1, &p, &err));
  NAMED("out", plangate_compile(READS, strlen(READS), CATALOG, strlen(CATALOG), NULL, 0, NULL, &err));
  STATUS(PLANGATE_OK, plangate_compile(READS, strlen(READS), CATALOG, strlen(CATALOG), NULL, 0, &p, NULL));
  plangate_plan_free(p);

  NAMED("actions_json", plangate_plan_load(NULL, 1, CATALOG, strlen(CATALOG), NULL, 0, &p, &err));
  NAMED("catalog_json", plangate_plan_load("{}", 2, NULL, 1, NULL, 0, &p, &err));
  NAMED("policy_toml", plangate_plan_load("{}", 2, CATALOG, strlen(CATALOG), NULL, 1, &p, &err));
  NAMED("out", plangate_plan_load("{}", 2, CATALOG, strlen(CATALOG), NULL, 0, NULL, &err));
  STATUS(PLANGATE_E_PLAN, plangate_plan_load("{}", 2, CATALOG, strlen(CATALOG), NULL, 0, &p, NULL));
  CHECK(p == NULL);

  NAMED("recipe", plangate_compile_as("person", NULL, 1, CATALOG, strlen(CATALOG), NULL, 0, &p, &err));
  NAMED("catalog_json", plangate_compile_as("person", READS, strlen(READS), NULL, 1, NULL, 0, &p, &err));
  NAMED("policy_toml", plangate_compile_as("person", READS, strlen(READS), CATALOG, strlen(CATALOG), NULL, 1, &p, &err));
  NAMED("out", plangate_compile_as("person", READS, strlen(READS), CATALOG, strlen(CATALOG), NULL, 0, NULL, &err));
  STATUS(PLANGATE_OK, plangate_compile_as(NULL, READS, strlen(READS), CATALOG, strlen(CATALOG), NULL, 0, &p, NULL));
  plangate_plan_free(p);
  NAMED("actions_json", plangate_plan_load_as("person", NULL, 1, CATALOG, strlen(CATALOG), NULL, 0, &p, &err));
  NAMED("catalog_json", plangate_plan_load_as("person", "{}", 2, NULL, 1, NULL, 0, &p, &err));
  NAMED("policy_toml", plangate_plan_load_as("person", "{}", 2, CATALOG, strlen(CATALOG), NULL, 1, &p, &err));
  NAMED("out", plangate_plan_load_as("person", "{}", 2, CATALOG, strlen(CATALOG), NULL, 0, NULL, &err));

  REFUSED(plangate_plan_actions(NULL, &out));
  REFUSED(plangate_plan_actions(plan, NULL));
  REFUSED(plangate_plan_card(NULL, "text", &out));
  REFUSED(plangate_plan_card(plan, NULL, &out));
  REFUSED(plangate_plan_card(plan, "text", NULL));

  NAMED("path", plangate_store_open(NULL, 1, &s, &err));
  NAMED("path", plangate_store_open(NULL, 0, &s, &err));
  NAMED("out", plangate_store_open(":memory:", 8, NULL, &err));

  NAMED("store", plangate_run(NULL, plan, NULL, 0, &host, &out, &err));
  NAMED("plan", plangate_run(store, NULL, NULL, 0, &host, &out, &err));
  NAMED("inputs_json", plangate_run(store, plan, NULL, 1, &host, &out, &err));
  NAMED("host", plangate_run(store, plan, NULL, 0, NULL, &out, &err));
  NAMED("record", plangate_run(store, plan, NULL, 0, &host, NULL, &err));
  NAMED("store", plangate_resume(NULL, "r", &host, &out, &err));
  NAMED("run_id", plangate_resume(store, NULL, &host, &out, &err));
  NAMED("host", plangate_resume(store, "r", NULL, &out, &err));
  NAMED("record", plangate_resume(store, "r", &host, NULL, &err));
  NAMED("store", plangate_cancel(NULL, "r", &err));
  NAMED("run_id", plangate_cancel(store, NULL, &err));
  REFUSED(plangate_answer(1, 1, NULL, 1));
  STATUS(PLANGATE_E_NOT_FOUND, plangate_answer(987654, 1, NULL, 0));
  CHECK(plangate_cancelled(987654) == 1);

  NAMED("store", plangate_events(NULL, NULL, &out, &err));
  NAMED("out", plangate_events(store, NULL, NULL, &err));
  STATUS(PLANGATE_OK, plangate_events(store, NULL, &out, NULL));
  plangate_buf_free(&out);
  NAMED("store", plangate_run_list(NULL, &out, &err));
  NAMED("out", plangate_run_list(store, NULL, &err));
  NAMED("store", plangate_run_record(NULL, "r", &out, &err));
  NAMED("run_id", plangate_run_record(store, NULL, &out, &err));
  NAMED("out", plangate_run_record(store, "r", NULL, &err));

  NAMED("store", plangate_approval_list(NULL, &out, &err));
  NAMED("out", plangate_approval_list(store, NULL, &err));
  NAMED("store", plangate_approval_get(NULL, "a", &out, &err));
  NAMED("approval_id", plangate_approval_get(store, NULL, &out, &err));
  NAMED("out", plangate_approval_get(store, "a", NULL, &err));
  NAMED("store", plangate_approve(NULL, "a", DIGEST, ANN, NULL, &err));
  NAMED("approval_id", plangate_approve(store, NULL, DIGEST, ANN, NULL, &err));
  NAMED("digest", plangate_approve(store, "a", NULL, ANN, NULL, &err));
  NAMED("decider_json", plangate_approve(store, "a", DIGEST, NULL, NULL, &err));
  NAMED("store", plangate_reject(NULL, "a", DIGEST, ANN, NULL, &err));
  NAMED("approval_id", plangate_reject(store, NULL, DIGEST, ANN, NULL, &err));
  NAMED("digest", plangate_reject(store, "a", NULL, ANN, NULL, &err));
  NAMED("decider_json", plangate_reject(store, "a", DIGEST, NULL, NULL, &err));
  NAMED("store", plangate_settle(NULL, "a", 1, ANN, NULL, NULL, &err));
  NAMED("approval_id", plangate_settle(store, NULL, 1, ANN, NULL, NULL, &err));
  NAMED("decider_json", plangate_settle(store, "a", 1, NULL, NULL, NULL, &err));

  /* Without an error to fill, each is the same status. */
  REFUSED(plangate_store_open(NULL, 1, &s, NULL));
  REFUSED(plangate_run(NULL, plan, NULL, 0, &host, &out, NULL));
  REFUSED(plangate_resume(store, NULL, &host, &out, NULL));
  REFUSED(plangate_cancel(store, NULL, NULL));
  REFUSED(plangate_run_list(NULL, &out, NULL));
  REFUSED(plangate_run_record(store, NULL, &out, NULL));
  REFUSED(plangate_approval_list(NULL, &out, NULL));
  REFUSED(plangate_approval_get(store, NULL, &out, NULL));
  REFUSED(plangate_approve(store, NULL, DIGEST, ANN, NULL, NULL));
  REFUSED(plangate_reject(store, NULL, DIGEST, ANN, NULL, NULL));
  REFUSED(plangate_settle(store, NULL, 1, ANN, NULL, NULL, NULL));
}

static void odd_documents(plangate_plan *plan, plangate_store *store) {
  plangate_buf out, err;
  plangate_plan *p = NULL;
  plangate_store *s = NULL;
  plangate_host host = host_of(tool, NULL);

  /* The empty document. */
  STATUS(PLANGATE_E_PLAN, plangate_compile(NULL, 0, NULL, 0, NULL, 0, &p, &err));
  CHECK(strstr(err.data, "R0107") != NULL);
  plangate_buf_free(&err);
  CHECK(err.data == NULL && err.len == 0);
  STATUS(PLANGATE_E_PLAN, plangate_plan_load(NULL, 0, NULL, 0, NULL, 0, &p, &err));
  plangate_buf_free(&err);

  /* A NUL is a diagnostic and not a cut: what stands after it is read too. */
  static const char IN_TEXT[] = "then:\n  a: bank.list_accounts {\"of\":\"x\0y\"}\n  b: nobody.knows {}\n";
  STATUS(PLANGATE_E_PLAN,
         plangate_compile(IN_TEXT, sizeof IN_TEXT - 1, CATALOG, strlen(CATALOG), NULL, 0, &p, &err));
  CHECK(strlen(err.data) == err.len);
  CHECK(strstr(err.data, "R0003") != NULL);
  CHECK(strstr(err.data, "nobody") != NULL);
  plangate_buf_free(&err);
  static const char IN_NAME[] = "then:\n  a\0b: bank.list_accounts {}\n";
  STATUS(PLANGATE_E_PLAN,
         plangate_compile(IN_NAME, sizeof IN_NAME - 1, CATALOG, strlen(CATALOG), NULL, 0, &p, &err));
  CHECK(strlen(err.data) == err.len);
  plangate_buf_free(&err);
  NAMED("path", plangate_store_open("a\0b", 3, &s, &err));

  /* Not UTF-8, each where it is. */
  static const char BAD[] = "then:\n  a: bank.list_accounts {\"of\":\"\xff\"}\n";
  NAMED("recipe` is not UTF-8 from byte", plangate_compile(BAD, sizeof BAD - 1, CATALOG, strlen(CATALOG), NULL, 0, &p, &err));
  NAMED("catalog_json` is not UTF-8", plangate_compile(READS, strlen(READS), "\xff", 1, NULL, 0, &p, &err));
  NAMED("policy_toml` is not UTF-8", plangate_compile(READS, strlen(READS), CATALOG, strlen(CATALOG), "\xff", 1, &p, &err));
  NAMED("author", plangate_compile_as("nonsense", READS, strlen(READS), CATALOG, strlen(CATALOG), NULL, 0, &p, &err));
  NAMED("author", plangate_compile_as("\xff", READS, strlen(READS), CATALOG, strlen(CATALOG), NULL, 0, &p, &err));
  NAMED("author", plangate_plan_load_as("", "{}", 2, CATALOG, strlen(CATALOG), NULL, 0, &p, &err));
  NAMED("inputs_json` is not UTF-8", plangate_run(store, plan, "\xff", 1, &host, &out, &err));
  NAMED("inputs_json", plangate_run(store, plan, "{", 1, &host, &out, &err));
  NAMED("no input", plangate_run(store, plan, "{\"x\":1}", 7, &host, &out, &err));
  NAMED("run_id", plangate_resume(store, "\xff", &host, &out, &err));
  NAMED("decider_json", plangate_approve(store, "a", DIGEST, "\xff", NULL, &err));
  NAMED("decider_json", plangate_approve(store, "a", DIGEST, "{\"issuer\":\"\",\"subject\":\"ann\"}", NULL, &err));
  NAMED("decider_json", plangate_approve(store, "a", DIGEST, "[]", NULL, &err));
  NAMED("digest", plangate_approve(store, "a", "no digest", ANN, NULL, &err));
  NAMED("after", plangate_events(store, "x", &out, &err));
  NAMED("happened", plangate_settle(store, "a", 99, ANN, NULL, NULL, &err));
  NAMED("value_json", plangate_settle(store, "a", 1, ANN, "{", NULL, &err));
  NAMED("value_json", plangate_settle(store, "a", 0, ANN, "{}", NULL, &err));
  REFUSED(plangate_plan_card(plan, "nonsense", &out));
  REFUSED(plangate_plan_card(plan, "\xff", &out));

  /* Options. */
  host.size = 3;
  NAMED("host.size", plangate_run(store, plan, NULL, 0, &host, &out, &err));
  host.size = (uint32_t)sizeof host;
  host.hold_siblings = 99;
  NAMED("hold_siblings", plangate_run(store, plan, NULL, 0, &host, &out, &err));
  struct later {
    plangate_host host;
    uint64_t more;
  } later;
  memset(&later, 0, sizeof later);
  later.host = host_of(tool, NULL);
  later.host.size = (uint32_t)sizeof later;
  STATUS(PLANGATE_OK, plangate_run(store, plan, NULL, 0, &later.host, &out, NULL));
  plangate_buf_free(&out);
  later.more = 1;
  NAMED("later version", plangate_run(store, plan, NULL, 0, &later.host, &out, &err));
  /* The struct as its first version had it. */
  host = host_of(tool, NULL);
  host.size = (uint32_t)offsetof(plangate_host, requester_json);
  host.hold_siblings = 99;
  STATUS(PLANGATE_OK, plangate_run(store, plan, NULL, 0, &host, &out, NULL));
  plangate_buf_free(&out);

  /* Nothing of that name. */
  STATUS(PLANGATE_E_NOT_FOUND, plangate_resume(store, "r", &host, &out, NULL));
  STATUS(PLANGATE_E_NOT_FOUND, plangate_cancel(store, "r", NULL));
  STATUS(PLANGATE_E_NOT_FOUND, plangate_run_record(store, "r", &out, NULL));
  STATUS(PLANGATE_E_NOT_FOUND, plangate_approval_get(store, "a", &out, NULL));
  STATUS(PLANGATE_E_NOT_FOUND, plangate_approve(store, "a", DIGEST, ANN, NULL, NULL));
  STATUS(PLANGATE_E_NOT_FOUND, plangate_reject(store, "a", DIGEST, ANN, "no", NULL));
  STATUS(PLANGATE_E_NOT_FOUND, plangate_settle(store, "a", 1, ANN, NULL, NULL, NULL));
  STATUS(PLANGATE_E_STORE, plangate_store_open("/proc/none/store.db", 19, &s, &err));
  CHECK(s == NULL && strstr(err.data, "/proc/none") != NULL);
  plangate_buf_free(&err);
}

/* Whether the plan stops, by its card. */
static int stops(plangate_plan *plan) {
  plangate_buf card;
  STATUS(PLANGATE_OK, plangate_plan_card(plan, "json", &card));
  int stops = strstr(card.data, "\"stops\":0") == NULL;
  plangate_buf_free(&card);
  return stops;
}

/* A waiver is the word of whoever wrote the recipe, and the host says who that is. Unsaid, it is a model. */
static void authors(plangate_store *store) {
  static const char WAIVES[] = "then:\n  a: bank.set_note {\"text\":\"x\"} without asking\n";
  plangate_plan *by_person = NULL, *by_model = NULL, *unsaid = NULL, *loaded = NULL;
  plangate_buf out, err;
  STATUS_ERR(PLANGATE_OK,
             plangate_compile_as("person", WAIVES, strlen(WAIVES), CATALOG, strlen(CATALOG), NULL, 0, &by_person, &err), &err);
  plangate_buf_free(&err);
  STATUS_ERR(PLANGATE_OK,
             plangate_compile_as("model", WAIVES, strlen(WAIVES), CATALOG, strlen(CATALOG), NULL, 0, &by_model, &err), &err);
  CHECK(err.data != NULL);
  plangate_buf_free(&err);
  STATUS(PLANGATE_OK, plangate_compile(WAIVES, strlen(WAIVES), CATALOG, strlen(CATALOG), NULL, 0, &unsaid, NULL));
  CHECK(!stops(by_person) && stops(by_model) && stops(unsaid));

  /* A file is nobody's word. */
  STATUS(PLANGATE_OK, plangate_plan_actions(by_person, &out));
  STATUS(PLANGATE_E_PLAN, plangate_plan_load(out.data, out.len, CATALOG, strlen(CATALOG), NULL, 0, &loaded, &err));
  plangate_buf_free(&err);
  STATUS_ERR(PLANGATE_OK,
             plangate_plan_load_as("person", out.data, out.len, CATALOG, strlen(CATALOG), NULL, 0, &loaded, &err), &err);
  plangate_buf_free(&out);
  CHECK(!stops(loaded));

  /* It is kept with the run. */
  plangate_host host = host_of(tool, NULL);
  STATUS_ERR(PLANGATE_OK, plangate_run(store, by_person, NULL, 0, &host, &out, &err), &err);
  plangate_buf_free(&out);
  STATUS(PLANGATE_OK, plangate_run_list(store, &out, NULL));
  CHECK(strstr(out.data, "\"author\":\"person\"") != NULL);
  plangate_buf_free(&out);
  STATUS(PLANGATE_PARKED, plangate_run(store, by_model, NULL, 0, &host, &out, NULL));
  plangate_buf_free(&out);
  plangate_plan_free(by_person);
  plangate_plan_free(by_model);
  plangate_plan_free(unsaid);
  plangate_plan_free(loaded);
}

/* A policy with a slip makes no plan; one about servers that are known by name does. */
static void policies(plangate_plan *plan, plangate_store *store) {
  static const char SLIP[] = "[[deny]]\nserver = \"bank\"\ntool = \"send_paymnt\"\n";
  static const char OTHER[] = "[[deny]]\nserver = \"mail\"\ntool = \"send\"\n";
  static const char CROWD[] =
      "[roles]\nops = [\"test:ann\"]\n[[people]]\nserver = \"bank\"\nroles = [\"ops\"]\nquorum = 2\n";
  static const char BY_NAME[] =
      "{\"servers\":{\"mail\":{\"tools\":[],\"partial\":true},\"bank\":{\"tools\":["
      "{\"name\":\"list_accounts\",\"description\":\"Lists accounts.\",\"inputSchema\":{\"type\":\"object\"}}]}}}";
  static const struct {
    const char *catalog, *policy, *says;
  } REFUSED_POLICIES[] = {
      {CATALOG, SLIP, "did you mean \\\"send_payment\\\"?"},
      {CATALOG, OTHER, "no server is called \\\"mail\\\""},
      {CATALOG, CROWD, "which is held by one person"},
  };
  plangate_buf out, err;
  plangate_plan *p = NULL;
  STATUS(PLANGATE_OK, plangate_plan_actions(plan, &out));
  for (size_t i = 0; i < sizeof REFUSED_POLICIES / sizeof REFUSED_POLICIES[0]; i++) {
    const char *catalog = REFUSED_POLICIES[i].catalog, *policy = REFUSED_POLICIES[i].policy;
    STATUS(PLANGATE_E_PLAN,
           plangate_compile(READS, strlen(READS), catalog, strlen(catalog), policy, strlen(policy), &p, &err));
    check(strstr(err.data, REFUSED_POLICIES[i].says) != NULL, REFUSED_POLICIES[i].says, __FILE__, __LINE__, err.data);
    CHECK(strstr(err.data, "\"code\":\"P020") != NULL);
    plangate_buf_free(&err);
    STATUS(PLANGATE_E_PLAN,
           plangate_plan_load(out.data, out.len, catalog, strlen(catalog), policy, strlen(policy), &p, &err));
    check(strstr(err.data, REFUSED_POLICIES[i].says) != NULL, REFUSED_POLICIES[i].says, __FILE__, __LINE__, err.data);
    plangate_buf_free(&err);
    CHECK(p == NULL);
  }
  plangate_buf_free(&out);
  STATUS(PLANGATE_OK, plangate_compile(READS, strlen(READS), BY_NAME, strlen(BY_NAME), OTHER, strlen(OTHER), &p, &err));
  plangate_plan_free(p);

  /* Where only the policy is new, the servers of the plan are not all that there are. */
  plangate_host host = host_of(tool, NULL);
  host.policy_toml = OTHER;
  host.policy_len = strlen(OTHER);
  STATUS_ERR(PLANGATE_OK, plangate_run(store, plan, NULL, 0, &host, &out, &err), &err);
  plangate_buf_free(&out);
  host.catalog_json = CATALOG;
  host.catalog_len = strlen(CATALOG);
  STATUS(PLANGATE_E_PLAN, plangate_run(store, plan, NULL, 0, &host, &out, &err));
  CHECK(strstr(err.data, "P0201") != NULL);
  plangate_buf_free(&err);
}

int main(void) {
  static const char *const FORMATS[] = {"text", "markdown", "html", "mermaid", "json"};
  plangate_buf out;
  plangate_plan *plan = plan_of(READS);
  plangate_store *store = store_of(":memory:");
  nulls(plan, store);
  odd_documents(plan, store);
  authors(store);
  policies(plan, store);
  for (size_t i = 0; i < sizeof FORMATS / sizeof FORMATS[0]; i++) {
    STATUS(PLANGATE_OK, plangate_plan_card(plan, FORMATS[i], &out));
    CHECK(out.len > 0 && out.data[out.len] == 0 && strlen(out.data) == out.len);
    plangate_buf_free(&out);
    plangate_buf_free(&out);
  }
  STATUS(PLANGATE_OK, plangate_plan_actions(plan, &out));
  plangate_plan *again = NULL;
  STATUS(PLANGATE_OK, plangate_plan_load(out.data, out.len, CATALOG, strlen(CATALOG), NULL, 0, &again, NULL));
  plangate_buf_free(&out);
  plangate_plan_free(again);
  plangate_plan_free(plan);
  plangate_store_free(store);
  return 0;
}
