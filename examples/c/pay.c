/* A payment that waits for a person, in four processes:

     pay plan               shows the card
     pay run                runs until it waits for people: prints the run, and ends
     pay approvals          what waits
     pay approve WHO        somebody says yes to all of it
     pay resume RUN         goes on; the payment is made once, however often this is called

   Build it against an installed library:  cc pay.c $(pkg-config --cflags --libs plangate)
   PAY_STORE is where the store lies (pay.db), PAY_LOG where payments are written (pay.log). */
#include <plangate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char RECIPE[] =
    "together:\n"
    "  balance: bank.get_balance {\"account\":\"ours\"}\n"
    "  payee: bank.list_payees {\"name\":\"Ann\"}\n"
    "ask me:\n"
    "  - pay Ann?\n"
    "    pay: bank.send_payment {\"to\":\"{payee[0].iban}\",\"amount\":12.50}\n";

static const char CATALOG[] =
    "{\"servers\":{\"bank\":{\"tools\":["
    "{\"name\":\"get_balance\",\"description\":\"Gets the balance of an account.\",\"inputSchema\":{\"type\":\"object\"}},"
    "{\"name\":\"list_payees\",\"description\":\"Lists known payees.\",\"inputSchema\":{\"type\":\"object\"}},"
    "{\"name\":\"send_payment\",\"description\":\"Sends a payment.\",\"inputSchema\":{\"type\":\"object\","
    "\"properties\":{\"to\":{\"type\":\"string\"},\"amount\":{\"type\":\"number\"}},\"required\":[\"to\",\"amount\"]}}"
    "]}}}";

static const char *setting(const char *name, const char *otherwise) {
  const char *value = getenv(name);
  return value != NULL ? value : otherwise;
}

/* Ends the program with what the library says. */
static void must(plangate_status status, plangate_buf *err) {
  if (status >= 0) return;
  fprintf(stderr, "%s %s\n", plangate_status_name(status), err->data != NULL ? err->data : "");
  plangate_buf_free(err);
  exit(1);
}

/* The tools. Called from several threads at once. */
static int32_t tool(void *user, uint64_t call, const char *name, const char *args_json, const char *key) {
  const char *value = "null";
  (void)user;
  if (strcmp(name, "bank.get_balance") == 0) {
    value = "{\"amount\":250.00}";
  } else if (strcmp(name, "bank.list_payees") == 0) {
    value = "[{\"name\":\"Ann\",\"iban\":\"DE02120300000000202051\"}]";
  } else if (strcmp(name, "bank.send_payment") == 0) {
    /* The key is the same for the same call, whoever makes it: a bank that is asked twice can tell. */
    FILE *log = fopen(setting("PAY_LOG", "pay.log"), "a");
    if (log == NULL) {
      plangate_answer(call, -3, "\"the log cannot be opened\"", 26);
      return PLANGATE_ANSWERED;
    }
    fprintf(log, "%s %s\n", key, args_json);
    fclose(log);
    value = "{\"paid\":true}";
  } else {
    plangate_answer(call, -1, "\"no such tool\"", 14);
    return PLANGATE_ANSWERED;
  }
  plangate_answer(call, 1, value, strlen(value));
  return PLANGATE_ANSWERED;
}

static plangate_plan *compiled(void) {
  plangate_plan *plan = NULL;
  plangate_buf err;
  must(plangate_compile(RECIPE, strlen(RECIPE), CATALOG, strlen(CATALOG), NULL, 0, &plan, &err), &err);
  if (err.data != NULL) fprintf(stderr, "%s\n", err.data); /* warnings */
  plangate_buf_free(&err);
  return plan;
}

static plangate_store *opened(void) {
  const char *path = setting("PAY_STORE", "pay.db");
  plangate_store *store = NULL;
  plangate_buf err;
  must(plangate_store_open(path, strlen(path), &store, &err), &err);
  return store;
}

/* The next text under a name. A program would use its JSON library. */
static const char *next(const char *json, const char *name, char *out, size_t size) {
  char key[32];
  size_t n = 0;
  const char *at;
  snprintf(key, sizeof key, "\"%s\":", name);
  at = strstr(json, key);
  if (at == NULL) return NULL;
  at += strlen(key);
  at += strspn(at, " \"");
  for (; *at != '"' && *at != 0 && n + 1 < size; at++) out[n++] = *at;
  out[n] = 0;
  return at;
}

static void told(plangate_status status, plangate_buf *record) {
  char run[64] = "";
  next(record->data, "run", run, sizeof run);
  printf("run %s %s\n", run, status == PLANGATE_PARKED ? "parked" : status == PLANGATE_OK ? "done" : "failed");
  plangate_buf_free(record);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  plangate_buf out, err;
  plangate_host host;
  memset(&host, 0, sizeof host);
  host.size = (uint32_t)sizeof host;
  host.tool = tool;
  host.title = "pay Ann";
  if (plangate_abi_version() != PLANGATE_ABI_VERSION) {
    fprintf(stderr, "another version of the library is installed\n");
    return 1;
  }

  if (strcmp(what, "plan") == 0) {
    plangate_plan *plan = compiled();
    must(plangate_plan_card(plan, "text", &out), &out);
    fputs(out.data, stdout);
    plangate_buf_free(&out);
    plangate_plan_free(plan);
  } else if (strcmp(what, "run") == 0) {
    plangate_plan *plan = compiled();
    plangate_store *store = opened();
    plangate_status status = plangate_run(store, plan, NULL, 0, &host, &out, &err);
    must(status, &err);
    told(status, &out);
    plangate_plan_free(plan);
    plangate_store_free(store);
  } else if (strcmp(what, "approvals") == 0 || (strcmp(what, "approve") == 0 && argc == 3)) {
    plangate_store *store = opened();
    char id[64], server[64], name[64], digest[128], who[256];
    must(plangate_approval_list(store, &out, &err), &err);
    for (const char *at = out.data; (at = next(at, "id", id, sizeof id)) != NULL;) {
      at = next(at, "server", server, sizeof server);
      if (at != NULL) at = next(at, "tool", name, sizeof name);
      if (at != NULL) at = next(at, "digest", digest, sizeof digest);
      if (at == NULL) break;
      printf("%s %s.%s %s\n", id, server, name, digest);
      if (argc == 3) {
        snprintf(who, sizeof who, "{\"issuer\":\"example\",\"subject\":\"%s\"}", argv[2]);
        must(plangate_approve(store, id, digest, who, NULL, &err), &err);
        printf("approved by %s\n", argv[2]);
      }
    }
    plangate_buf_free(&out);
    plangate_store_free(store);
  } else if (strcmp(what, "resume") == 0 && argc == 3) {
    plangate_store *store = opened();
    plangate_status status = plangate_resume(store, argv[2], &host, &out, &err);
    must(status, &err);
    told(status, &out);
    plangate_store_free(store);
  } else {
    fprintf(stderr, "pay plan | run | approvals | approve WHO | resume RUN\n");
    return 2;
  }
  return 0;
}
