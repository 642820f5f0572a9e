/* plangate: recipes compiled to plans that stop at every effect. Generated from the crate; do not edit.

   1. Handles are opaque, made through `T **out`, released by `_free` (NULL is fine). A run holds its own reference:
      freeing during a run is legal. A handle that was freed is an error, and never a crash.
   2. Calls are numbers, runs and approvals are ids, never pointers; a late or second answer finds nothing and touches
      nothing.
   3. Documents go in as (ptr, len), so an inner NUL is a diagnostic and not a cut; (NULL, 0) is the empty document. Ids and
      names are C strings. Text comes out as plangate_buf, with a length and a NUL; plangate_buf_free empties it. A
      buffer is written without looking at what is in it: free it before it is used again.
   4. Every fallible function returns a status and fills a JSON error (`{code, message, help, spans, related}`, and `details`
      where there is something to compute with), which may be NULL. There is no last-error function: callers such as Node
      and asyncio continue on another thread.
   5. Positive statuses are ordinary outcomes; errors are negative; 0 never stands for the success of a tool, because an
      exception in a foreign callback hands back 0.
   6. No global pool: the threads of a run have ended when the run call returns. One panic boundary around every function.
   7. Option structs start with their size and may grow at the end. */


#ifndef PLANGATE_H
#define PLANGATE_H

#include <stddef.h>
#include <stdint.h>

/*
 Version of this interface. A library of another version has another file name; raised when a function or a struct
 changes in a way that a caller compiled before would not understand.
 */
#define PLANGATE_ABI_VERSION 1

/*
 plangate_answer was called before the callback returned.
 */
#define PLANGATE_ANSWERED 0

/*
 plangate_answer will be called later, from any thread.
 */
#define PLANGATE_LATER 1

/*
 Returned by the reconcile callback: plangate_reconciled will be called later, from any thread.
 */
#define PLANGATE_RECONCILE_LATER 2

/*
 A plan, held against its catalog and policy. Immutable; any number of threads may use it at once.
 */
typedef struct plangate_plan plangate_plan;

/*
 A store of runs and approvals. Shared; any number of threads, and of processes, may use it at once.
 */
typedef struct plangate_store plangate_store;

/*
 0 or positive: an ordinary outcome. Negative: an error.
 */
typedef int32_t plangate_status;

/*
 Text from the library: `len` bytes, then a NUL that is not counted. Free it with plangate_buf_free and nothing else.
 */
typedef struct plangate_buf {
  /*
   The bytes, or NULL where nothing was filled in.
   */
  char *data;
  /*
   How many there are, without the NUL.
   */
  size_t len;
} plangate_buf;

/*
 One tool call, or one sentence for the writer (tool "write"). Called from several threads at once; must not throw or
 longjmp. `tool` is "server.tool", `args_json` its final arguments as JSON. Of a sentence, `args_json` is
 {"instruction": TEXT, "inputs": [{"name": TEXT, "value": ANY} or {"name": TEXT, "missing": WHY}]}: the instruction is
 constant text of the recipe, the inputs are data. `key` is the idempotency key, empty for reads and sentences. The strings
 live until the callback returns; `call` is never used again. It returns PLANGATE_ANSWERED or PLANGATE_LATER; anything
 else, and ANSWERED without an answer, is no usable answer: a read then fails, and a call that changes something is
 uncertain. Every call has a deadline: past it a call that changes something is uncertain, while its row stays claimed,
 since it may be under way; then the run waits for callbacks that have not returned. Calls that were left for LATER hold
 no thread of the host and are not waited for.
 */
typedef int32_t (*plangate_tool_fn)(void *user,
                                    uint64_t call,
                                    const char *tool,
                                    const char *args_json,
                                    const char *key);

/*
 "Did the call with this key happen?" 1 it did, -1 it did not and will not: then an approved call may be made once more,
 with the same key. 0, and anything else: not known, and a person settles it. PLANGATE_RECONCILE_LATER: plangate_reconciled
 will say so. Asked once about a call whose outcome is not known, after its deadline and when nothing else of the run is
 under way; about several calls at once, from several threads. After ten seconds it counts as not known; the run waits
 for a callback that has not returned, and for no answer that was to come later. Must not throw or longjmp. The strings
 live until it returns.
 */
typedef int32_t (*plangate_reconcile_fn)(void *user, const char *key, const char *tool, const char *args_json);

/*
 What runs a plan. Set everything to 0, then `size` to sizeof(plangate_host).
 */
typedef struct plangate_host {
  /*
   sizeof(plangate_host).
   */
  uint32_t size;
  /*
   Most calls at once; 0: as wide as the plan.
   */
  uint32_t threads;
  /*
   Makes the calls. Not NULL.
   */
  plangate_tool_fn tool;
  /*
   Handed to the callbacks as it is, and not used once the run has returned.
   */
  void *user;
  /*
   May be NULL: calls cannot be looked up, and an uncertain one waits for plangate_settle.
   */
  plangate_reconcile_fn reconcile;
  /*
   May be NULL. The catalog of now, held against the plan; the stricter wins. A tool that changed since is refused.
   */
  const char *catalog_json;
  /*
   Its length.
   */
  size_t catalog_len;
  /*
   May be NULL. The policy of now, held against the plan; the stricter wins.
   */
  const char *policy_toml;
  /*
   Its length.
   */
  size_t policy_len;
  /*
   May be NULL. Who starts the run: {"issuer", "subject", "roles", "verified"}. Else the host itself.
   */
  const char *requester_json;
  /*
   Its length.
   */
  size_t requester_len;
  /*
   May be NULL. What people call the run.
   */
  const char *title;
  /*
   How long a call may take whose step has no `timeout:`, in milliseconds; 0: a minute.
   */
  uint32_t timeout_ms;
  /*
   1: while a row of the run waits for a decision, no call of it that changes something starts. Kept with the run.
   */
  uint32_t hold_siblings;
} plangate_host;

/*
 Done; of a run: every step ended ok or was skipped.
 */
#define PLANGATE_OK 0

/*
 The run waits for people, durably.
 */
#define PLANGATE_PARKED 1

/*
 The run ended; at least one step did not end ok (see the record).
 */
#define PLANGATE_FAILED 2

/*
 NULL where it is not allowed, not UTF-8, an unknown option, a handle that was freed, inputs that do not fit.
 */
#define PLANGATE_E_ARGUMENT -1

/*
 The recipe, actions.json, the catalog or the policy is refused (see `related`).
 */
#define PLANGATE_E_PLAN -2

/*
 The store cannot be used.
 */
#define PLANGATE_E_STORE -3

/*
 No such run, approval or open call.
 */
#define PLANGATE_E_NOT_FOUND -4

/*
 Decided already: the error says by whom, when and what.
 */
#define PLANGATE_E_DECIDED -5

/*
 Its time was over; nothing was run.
 */
#define PLANGATE_E_EXPIRED -6

/*
 Another caller drives this run, and will take up what was decided.
 */
#define PLANGATE_E_BUSY -7

/*
 The digest is not that of the stored call.
 */
#define PLANGATE_E_CHANGED -8

/*
 This person may not decide this, or the row is not in a state that allows it.
 */
#define PLANGATE_E_NOT_ALLOWED -9

/*
 The run was cancelled.
 */
#define PLANGATE_E_CANCELLED -10

/*
 It cannot be settled yet: the call may still be under way.
 */
#define PLANGATE_E_IN_FLIGHT -11

/*
 Another took the run over; nothing more was started here.
 */
#define PLANGATE_E_LEASE_LOST -12

/*
 The stored plan no longer passes: the error says what changed.
 */
#define PLANGATE_E_ATTENTION -13

/*
 A fault in the library; handles stay usable.
 */
#define PLANGATE_E_PANIC -99

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 PLANGATE_ABI_VERSION of the library that is loaded. Compare it with that of the header.
 */
uint32_t plangate_abi_version(void);

/*
 Version of the library, for instance "0.1.0". Lives as long as the process.
 */
const char *plangate_version(void);

/*
 The name of a status, for instance "PLANGATE_E_PLAN"; "unknown" for any other number. Lives as long as the process.
 */
const char *plangate_status_name(plangate_status status);

/*
 Empties a buffer that the library filled. NULL, and one that is empty, are fine.
 */
void plangate_buf_free(struct plangate_buf *buf);

/*
 Compiles a recipe against a catalog and a policy, both of which may be empty. `diagnostics` gets everything there is to
 say about the recipe, also where there is a plan all the same; it stays empty where there is nothing. It counts as
 written by a model: `without asking` in it is void unless the policy says otherwise.

 A policy about servers or tools that are not in the catalog is refused. A server that the policy is about and that is
 not listed, or not with all its tools, says so: `{"servers":{"mail":{"tools":[],"partial":true}}}`.
 */
plangate_status plangate_compile(const char *recipe,
                                 size_t recipe_len,
                                 const char *catalog_json,
                                 size_t catalog_len,
                                 const char *policy_toml,
                                 size_t policy_len,
                                 struct plangate_plan **out,
                                 struct plangate_buf *diagnostics);

/*
 As plangate_compile, with the host's word on who wrote the recipe: `author` is "person" or "model"; NULL: a model. It is
 kept with each run of the plan.
 */
plangate_status plangate_compile_as(const char *author,
                                    const char *recipe,
                                    size_t recipe_len,
                                    const char *catalog_json,
                                    size_t catalog_len,
                                    const char *policy_toml,
                                    size_t policy_len,
                                    struct plangate_plan **out,
                                    struct plangate_buf *diagnostics);

/*
 Loads actions.json and believes nothing in it: effects, gates and edges are derived again from catalog and policy. A plan
 that lacks one of them is refused, and every reason stands in `diagnostics`.
 */
plangate_status plangate_plan_load(const char *actions_json,
                                   size_t len,
                                   const char *catalog_json,
                                   size_t catalog_len,
                                   const char *policy_toml,
                                   size_t policy_len,
                                   struct plangate_plan **out,
                                   struct plangate_buf *diagnostics);

/*
 As plangate_plan_load, with the host's word on who wrote the recipe that the plan came from, as in plangate_compile_as.
 A file is nobody's word: say "person" of one that you know to be as a person left it.
 */
plangate_status plangate_plan_load_as(const char *author,
                                      const char *actions_json,
                                      size_t len,
                                      const char *catalog_json,
                                      size_t catalog_len,
                                      const char *policy_toml,
                                      size_t policy_len,
                                      struct plangate_plan **out,
                                      struct plangate_buf *diagnostics);

/*
 The plan as actions.json.
 */
plangate_status plangate_plan_actions(const struct plangate_plan *plan, struct plangate_buf *out);

/*
 What is shown of the plan before it runs. `format` is "text", "markdown", "html", "mermaid" or "json".
 */
plangate_status plangate_plan_card(const struct plangate_plan *plan,
                                   const char *format,
                                   struct plangate_buf *out);

/*
 Frees a plan. NULL is fine; a run that uses it goes on.
 */
void plangate_plan_free(struct plangate_plan *plan);

/*
 Opens the store in the SQLite file at `path`, and makes it (with its folder) if there is nothing. ":memory:" is a store
 that ends with its last use.
 */
plangate_status plangate_store_open(const char *path,
                                    size_t len,
                                    struct plangate_store **out,
                                    struct plangate_buf *err);

/*
 Frees a store. NULL is fine; a run that uses it goes on.
 */
void plangate_store_free(struct plangate_store *store);

/*
 Answers a call, from any thread, once. `outcome`: 1 ok (`json` is the value), -1 the tool says that it failed, -2 it is not
 known whether it happened, -3 it was not sent; with the last three `json` is the reason, as a JSON text or as it stands,
 and may be empty. Anything else, and a value that is not JSON, is taken as -2 for a call that changes something and as
 a failure of a read; the call is answered by it all the same, and PLANGATE_E_ARGUMENT says so. PLANGATE_E_NOT_FOUND: the
 call was answered before, or nobody waits for it. After its deadline the answer to a call that changes something is
 still recorded, while no person has settled it and its store is open.
 */
plangate_status plangate_answer(uint64_t call,
                                int32_t outcome,
                                const char *json,
                                size_t len);

/*
 1 when nobody waits for the call any more: its deadline passed, its run was cancelled, or it was answered. Else 0.
 */
int32_t plangate_cancelled(uint64_t call);

/*
 Answers the reconcile callback, while it runs or after it returned PLANGATE_RECONCILE_LATER, from any thread, once; it
 counts before what the callback returns. `happened`: 1 it did (`json` is the value of the step, or empty where none is
 known), -1 it did not and will not, 0 not known (`json` is the reason, and may be empty). Anything else, and a value that
 is not JSON, is taken as not known, and PLANGATE_E_ARGUMENT says so. PLANGATE_E_NOT_FOUND: nobody asks about a call with
 this key any more.
 */
plangate_status plangate_reconciled(const char *key,
                                    int32_t happened,
                                    const char *json,
                                    size_t len);

/*
 Runs a plan until every step has ended (OK, or FAILED) or only people are waited for (PARKED). Never waits for a person.
 `inputs_json` is an object of values by name, or empty. `record` gets what happened, with the run's id under `run`; what
 was asked is durable before it returns. Each run has threads of its own, which have ended by then.
 */
plangate_status plangate_run(struct plangate_store *store,
                             const struct plangate_plan *plan,
                             const char *inputs_json,
                             size_t len,
                             const struct plangate_host *host,
                             struct plangate_buf *record,
                             struct plangate_buf *err);

/*
 Goes on with a run from the store. Its stored plan is verified again; if that refuses, nothing starts and the status is
 ATTENTION. A run that has ended stays as it is.
 */
plangate_status plangate_resume(struct plangate_store *store,
                                const char *run_id,
                                const struct plangate_host *host,
                                struct plangate_buf *record,
                                struct plangate_buf *err);

/*
 Cancels a run: rows that nobody claimed are cancelled with it, running calls are asked to stop, and what they did is
 still recorded. A run that has ended stays as it is.
 */
plangate_status plangate_cancel(struct plangate_store *store,
                                const char *run_id,
                                struct plangate_buf *err);

/*
 All runs, newest first: {"runs": [...]}.
 */
plangate_status plangate_run_list(struct plangate_store *store,
                                  struct plangate_buf *out,
                                  struct plangate_buf *err);

/*
 The record of a run, as it is stored at this moment.
 */
plangate_status plangate_run_record(struct plangate_store *store,
                                    const char *run_id,
                                    struct plangate_buf *out,
                                    struct plangate_buf *err);

/*
 The events after a place, one JSON object a line: `seq`, `at`, `what`, `prev`, `hash`. `after` is NULL or "" for all, a
 `seq`, or "SEQ:HASH" of an event that was noted before; then the whole log is verified first, and CHANGED says that it
 is not the one that was noted.
 */
plangate_status plangate_events(struct plangate_store *store,
                                const char *after,
                                struct plangate_buf *out,
                                struct plangate_buf *err);

/*
 The rows of all runs that wait for somebody (pending, approved, claimed, uncertain), in the order they were asked:
 {"approvals": [...]}. Each has its `id`, the `digest` that a decision names, the exact `call`, until when it may be
 decided, everything that was recorded of it since (edits, votes, claim, outcome, the host's and people's words), and
 under `before` what became of the very same call earlier.
 */
plangate_status plangate_approval_list(struct plangate_store *store,
                                       struct plangate_buf *out,
                                       struct plangate_buf *err);

/*
 One row, whatever its state.
 */
plangate_status plangate_approval_get(struct plangate_store *store,
                                      const char *approval_id,
                                      struct plangate_buf *out,
                                      struct plangate_buf *err);

/*
 One person's yes. `digest` is that of the row as the person saw it. `decider_json` is {"issuer", "subject", "roles",
 "verified"}; `verified` says that the host knows who it is. `edited_args_json` is NULL: as shown. Else it is all of the
 arguments as one JSON object: they are held against the tool's schema and the policy of the run, classified again, and
 take the place of what was asked; earlier votes are void, and the yes is one to them. NOT_ALLOWED: they do not pass,
 or this person may not edit; nothing was changed. PARKED: the edit stands and this person may not decide it, since
 whoever edits counts as requester; the row waits for others, under the digest that `err` has in `details`.
 */
plangate_status plangate_approve(struct plangate_store *store,
                                 const char *approval_id,
                                 const char *digest,
                                 const char *decider_json,
                                 const char *edited_args_json,
                                 struct plangate_buf *err);

/*
 One person's no; one is enough. `reason` may be NULL; it reaches the record, and whoever started the run.
 */
plangate_status plangate_reject(struct plangate_store *store,
                                const char *approval_id,
                                const char *digest,
                                const char *decider_json,
                                const char *reason,
                                struct plangate_buf *err);

/*
 A person's word on an uncertain call: `happened` is 1 (it did) or 0 (it did not). `value_json` may be NULL; with "it
 happened" it is the value of the step. `note` may be NULL. IN_FLIGHT: the call may still be under way.
 */
plangate_status plangate_settle(struct plangate_store *store,
                                const char *approval_id,
                                int32_t happened,
                                const char *decider_json,
                                const char *value_json,
                                const char *note,
                                struct plangate_buf *err);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* PLANGATE_H */
