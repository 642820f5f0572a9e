/* What the programs share: checks that say where they failed, and a catalog. */
#ifndef CHECK_H
#define CHECK_H
#include "plangate.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what) check((what) ? 1 : 0, #what, __FILE__, __LINE__, "")
#define STATUS(want, got) check_status((want), (got), NULL, __FILE__, __LINE__)
#define STATUS_ERR(want, got, err) check_status((want), (got), (err), __FILE__, __LINE__)

static const char CATALOG[] =
    "{\"servers\":{\"bank\":{\"tools\":["
    "{\"name\":\"list_accounts\",\"description\":\"Lists accounts.\",\"inputSchema\":{\"type\":\"object\"}},"
    "{\"name\":\"get_balance\",\"description\":\"Gets a balance.\",\"inputSchema\":{\"type\":\"object\"}},"
    "{\"name\":\"set_note\",\"description\":\"Sets the text of a note.\",\"inputSchema\":{\"type\":\"object\"}},"
    "{\"name\":\"send_payment\",\"description\":\"Sends a payment.\",\"inputSchema\":{\"type\":\"object\","
    "\"properties\":{\"to\":{\"type\":\"string\"},\"amount\":{\"type\":\"number\"}},\"required\":[\"to\",\"amount\"]}}"
    "]}}}";

static const char READS[] = "together:\n"
                            "  a: bank.list_accounts {\"of\":\"ann\"}\n"
                            "  b: bank.list_accounts {\"of\":\"bob\"}\n"
                            "  c: bank.list_accounts {\"of\":\"cleo\"}\n"
                            "  d: bank.list_accounts {\"of\":\"dan\"}\n";

static const char PAYS[] = "then:\n"
                           "  pay: bank.send_payment {\"to\":\"ann\",\"amount\":1.10}\n";

static void check(int ok, const char *what, const char *file, int line, const char *more) {
  if (ok) return;
  fprintf(stderr, "%s:%d: %s does not hold %s\n", file, line, what, more);
  exit(1);
}

static inline void check_status(plangate_status want, plangate_status got, const plangate_buf *err, const char *file,
                                int line) {
  char what[128];
  if (want == got) return;
  snprintf(what, sizeof what, "%s, not %s:", plangate_status_name(got), plangate_status_name(want));
  check(0, what, file, line, err != NULL && err->data != NULL ? err->data : "");
}

static inline plangate_plan *plan_of(const char *recipe) {
  plangate_plan *plan = NULL;
  plangate_buf err;
  STATUS_ERR(PLANGATE_OK,
             plangate_compile(recipe, strlen(recipe), CATALOG, strlen(CATALOG), NULL, 0, &plan, &err), &err);
  plangate_buf_free(&err);
  return plan;
}

static inline plangate_store *store_of(const char *path) {
  plangate_store *store = NULL;
  plangate_buf err;
  STATUS_ERR(PLANGATE_OK, plangate_store_open(path, strlen(path), &store, &err), &err);
  return store;
}

static inline plangate_host host_of(plangate_tool_fn tool, void *user) {
  plangate_host host;
  memset(&host, 0, sizeof host);
  host.size = (uint32_t)sizeof host;
  host.tool = tool;
  host.user = user;
  return host;
}

/* The first text under this name, from `json` on. Good enough for what the library writes of ids and digests. */
static inline const char *text_of(const char *json, const char *name, char *out, size_t size) {
  char key[64];
  size_t n = 0;
  snprintf(key, sizeof key, "\"%s\":", name);
  const char *at = strstr(json, key);
  check(at != NULL, key, __FILE__, __LINE__, json);
  at += strlen(key);
  while (*at == ' ') at++;
  check(*at == '"', key, __FILE__, __LINE__, at);
  for (at++; *at != '"' && n + 1 < size; at++) out[n++] = *at;
  out[n] = 0;
  return at;
}

/* Runs the plan until it is parked, approves all that waits, and gives the id of the run in `run` (64 bytes). */
static inline void park_and_approve(plangate_store *store, const plangate_plan *plan, const plangate_host *host,
                                    char *run) {
  plangate_buf record, err, list;
  STATUS_ERR(PLANGATE_PARKED, plangate_run(store, plan, NULL, 0, host, &record, &err), &err);
  text_of(record.data, "run", run, 64);
  plangate_buf_free(&record);
  STATUS(PLANGATE_OK, plangate_approval_list(store, &list, NULL));
  const char *at = list.data;
  while ((at = strstr(at, "\"id\":")) != NULL) {
    char id[64], digest[128];
    text_of(at, "id", id, sizeof id);
    at = text_of(at, "digest", digest, sizeof digest);
    STATUS_ERR(PLANGATE_OK,
               plangate_approve(store, id, digest, "{\"issuer\":\"test\",\"subject\":\"ann\"}", NULL, &err), &err);
  }
  plangate_buf_free(&list);
}
#endif
