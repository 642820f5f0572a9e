"""Declarations of ffi/include/plangate.h. Written by tests/write_cdef.py."""

CDEF = """\
#define PLANGATE_ABI_VERSION 1
#define PLANGATE_ANSWERED 0
#define PLANGATE_LATER 1
#define PLANGATE_RECONCILE_LATER 2
#define PLANGATE_OK 0
#define PLANGATE_PARKED 1
#define PLANGATE_FAILED 2
#define PLANGATE_E_ARGUMENT -1
#define PLANGATE_E_PLAN -2
#define PLANGATE_E_STORE -3
#define PLANGATE_E_NOT_FOUND -4
#define PLANGATE_E_DECIDED -5
#define PLANGATE_E_EXPIRED -6
#define PLANGATE_E_BUSY -7
#define PLANGATE_E_CHANGED -8
#define PLANGATE_E_NOT_ALLOWED -9
#define PLANGATE_E_CANCELLED -10
#define PLANGATE_E_IN_FLIGHT -11
#define PLANGATE_E_LEASE_LOST -12
#define PLANGATE_E_ATTENTION -13
#define PLANGATE_E_PANIC -99
typedef struct plangate_plan plangate_plan;
typedef struct plangate_store plangate_store;
typedef int32_t plangate_status;
typedef struct plangate_buf {
  char *data;
  size_t len;
} plangate_buf;
typedef int32_t (*plangate_tool_fn)(void *user,
                                    uint64_t call,
                                    const char *tool,
                                    const char *args_json,
                                    const char *key);
typedef int32_t (*plangate_reconcile_fn)(void *user, const char *key, const char *tool, const char *args_json);
typedef struct plangate_host {
  uint32_t size;
  uint32_t threads;
  plangate_tool_fn tool;
  void *user;
  plangate_reconcile_fn reconcile;
  const char *catalog_json;
  size_t catalog_len;
  const char *policy_toml;
  size_t policy_len;
  const char *requester_json;
  size_t requester_len;
  const char *title;
  uint32_t timeout_ms;
  uint32_t hold_siblings;
} plangate_host;
uint32_t plangate_abi_version(void);
const char *plangate_version(void);
const char *plangate_status_name(plangate_status status);
void plangate_buf_free(struct plangate_buf *buf);
plangate_status plangate_compile(const char *recipe,
                                 size_t recipe_len,
                                 const char *catalog_json,
                                 size_t catalog_len,
                                 const char *policy_toml,
                                 size_t policy_len,
                                 struct plangate_plan **out,
                                 struct plangate_buf *diagnostics);
plangate_status plangate_compile_as(const char *author,
                                    const char *recipe,
                                    size_t recipe_len,
                                    const char *catalog_json,
                                    size_t catalog_len,
                                    const char *policy_toml,
                                    size_t policy_len,
                                    struct plangate_plan **out,
                                    struct plangate_buf *diagnostics);
plangate_status plangate_plan_load(const char *actions_json,
                                   size_t len,
                                   const char *catalog_json,
                                   size_t catalog_len,
                                   const char *policy_toml,
                                   size_t policy_len,
                                   struct plangate_plan **out,
                                   struct plangate_buf *diagnostics);
plangate_status plangate_plan_load_as(const char *author,
                                      const char *actions_json,
                                      size_t len,
                                      const char *catalog_json,
                                      size_t catalog_len,
                                      const char *policy_toml,
                                      size_t policy_len,
                                      struct plangate_plan **out,
                                      struct plangate_buf *diagnostics);
plangate_status plangate_plan_actions(const struct plangate_plan *plan, struct plangate_buf *out);
plangate_status plangate_plan_card(const struct plangate_plan *plan,
                                   const char *format,
                                   struct plangate_buf *out);
void plangate_plan_free(struct plangate_plan *plan);
plangate_status plangate_store_open(const char *path,
                                    size_t len,
                                    struct plangate_store **out,
                                    struct plangate_buf *err);
void plangate_store_free(struct plangate_store *store);
plangate_status plangate_answer(uint64_t call,
                                int32_t outcome,
                                const char *json,
                                size_t len);
int32_t plangate_cancelled(uint64_t call);
plangate_status plangate_reconciled(const char *key,
                                    int32_t happened,
                                    const char *json,
                                    size_t len);
plangate_status plangate_run(struct plangate_store *store,
                             const struct plangate_plan *plan,
                             const char *inputs_json,
                             size_t len,
                             const struct plangate_host *host,
                             struct plangate_buf *record,
                             struct plangate_buf *err);
plangate_status plangate_resume(struct plangate_store *store,
                                const char *run_id,
                                const struct plangate_host *host,
                                struct plangate_buf *record,
                                struct plangate_buf *err);
plangate_status plangate_cancel(struct plangate_store *store,
                                const char *run_id,
                                struct plangate_buf *err);
plangate_status plangate_run_list(struct plangate_store *store,
                                  struct plangate_buf *out,
                                  struct plangate_buf *err);
plangate_status plangate_run_record(struct plangate_store *store,
                                    const char *run_id,
                                    struct plangate_buf *out,
                                    struct plangate_buf *err);
plangate_status plangate_events(struct plangate_store *store,
                                const char *after,
                                struct plangate_buf *out,
                                struct plangate_buf *err);
plangate_status plangate_approval_list(struct plangate_store *store,
                                       struct plangate_buf *out,
                                       struct plangate_buf *err);
plangate_status plangate_approval_get(struct plangate_store *store,
                                      const char *approval_id,
                                      struct plangate_buf *out,
                                      struct plangate_buf *err);
plangate_status plangate_approve(struct plangate_store *store,
                                 const char *approval_id,
                                 const char *digest,
                                 const char *decider_json,
                                 const char *edited_args_json,
                                 struct plangate_buf *err);
plangate_status plangate_reject(struct plangate_store *store,
                                const char *approval_id,
                                const char *digest,
                                const char *decider_json,
                                const char *reason,
                                struct plangate_buf *err);
plangate_status plangate_settle(struct plangate_store *store,
                                const char *approval_id,
                                int32_t happened,
                                const char *decider_json,
                                const char *value_json,
                                const char *note,
                                struct plangate_buf *err);
"""
