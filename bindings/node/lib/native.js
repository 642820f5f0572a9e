// The shared library, loaded once in each thread that uses it.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import koffi from 'koffi';

import { errorOf } from './errors.js';

const KNOWN = 1;
const packed = fileURLToPath(new URL('../prebuilt/libplangate.so', import.meta.url));
const path = process.env.PLANGATE_LIBRARY || packed;
if (!existsSync(path)) {
  throw new Error(`the library of plangate is not at ${path}: run \`npm rebuild plangate\`, or set PLANGATE_LIBRARY`);
}
const library = koffi.load(path);

koffi.struct('plangate_buf', { data: 'void *', len: 'size_t' });
koffi.struct('plangate_host', {
  size: 'uint32_t',
  threads: 'uint32_t',
  tool: 'void *',
  user: 'void *',
  reconcile: 'void *',
  catalog_json: 'const uint8_t *',
  catalog_len: 'size_t',
  policy_toml: 'const uint8_t *',
  policy_len: 'size_t',
  requester_json: 'const uint8_t *',
  requester_len: 'size_t',
  title: 'const char *',
  timeout_ms: 'uint32_t',
  hold_siblings: 'uint32_t',
});
const tool = koffi.proto(
  'int32_t plangate_tool_fn(void *user, uint64_t call, const char *tool, const char *args_json, const char *key)',
);

const lookUp = koffi.proto(
  'int32_t plangate_reconcile_fn(void *user, const char *key, const char *tool, const char *args_json)',
);

// A handle is a number: the library looks it up and never follows it. A document is bytes with their length.
const f = (signature) => library.func(signature);
const out = '_Out_ plangate_buf *';
const doc = 'const uint8_t *, size_t';

export const abi = {
  version: f('const char *plangate_version()'),
  statusName: f('const char *plangate_status_name(int32_t)'),
  compile: f(`int32_t plangate_compile_as(const char *, ${doc}, ${doc}, ${doc}, _Out_ uintptr_t *, ${out})`),
  load: f(`int32_t plangate_plan_load_as(const char *, ${doc}, ${doc}, ${doc}, _Out_ uintptr_t *, ${out})`),
  actions: f(`int32_t plangate_plan_actions(uintptr_t, ${out})`),
  card: f(`int32_t plangate_plan_card(uintptr_t, const char *, ${out})`),
  planFree: f('void plangate_plan_free(uintptr_t)'),
  open: f(`int32_t plangate_store_open(${doc}, _Out_ uintptr_t *, ${out})`),
  storeFree: f('void plangate_store_free(uintptr_t)'),
  run: f(`int32_t plangate_run(uintptr_t, uintptr_t, ${doc}, plangate_host *, ${out}, ${out})`),
  resume: f(`int32_t plangate_resume(uintptr_t, const char *, plangate_host *, ${out}, ${out})`),
  cancel: f(`int32_t plangate_cancel(uintptr_t, const char *, ${out})`),
  answer: f(`int32_t plangate_answer(uint64_t, int32_t, ${doc})`),
  reconciled: f(`int32_t plangate_reconciled(const char *, int32_t, ${doc})`),
  cancelled: f('int32_t plangate_cancelled(uint64_t)'),
  events: f(`int32_t plangate_events(uintptr_t, const char *, ${out}, ${out})`),
  runs: f(`int32_t plangate_run_list(uintptr_t, ${out}, ${out})`),
  record: f(`int32_t plangate_run_record(uintptr_t, const char *, ${out}, ${out})`),
  approvals: f(`int32_t plangate_approval_list(uintptr_t, ${out}, ${out})`),
  approval: f(`int32_t plangate_approval_get(uintptr_t, const char *, ${out}, ${out})`),
  approve: f(`int32_t plangate_approve(uintptr_t, const char *, const char *, const char *, const char *, ${out})`),
  reject: f(`int32_t plangate_reject(uintptr_t, const char *, const char *, const char *, const char *, ${out})`),
  settle: f(
    `int32_t plangate_settle(uintptr_t, const char *, int32_t, const char *, const char *, const char *, ${out})`,
  ),
};
const abiVersion = f('uint32_t plangate_abi_version()');
const bufFree = f('void plangate_buf_free(_Inout_ plangate_buf *)');

if (abiVersion() !== KNOWN) {
  throw new Error(`${path} has version ${abiVersion()} of the C ABI; this package knows ${KNOWN}`);
}

/** Size of the host struct. */
export const hostSize = koffi.sizeof('plangate_host');

function register(callback, type) {
  const pointer = koffi.register(callback, koffi.pointer(type));
  return { address: koffi.address(pointer), unregister: () => koffi.unregister(pointer) };
}

/** A pointer to a function that is called from any thread and runs on this one. Unregister it in the end. */
export const registerTool = (callback) => register(callback, tool);
/** As above, for a function that looks calls up. */
export const registerLookUp = (callback) => register(callback, lookUp);

/** Text as bytes and their length. */
export function bytes(text) {
  const data = typeof text === 'string' ? Buffer.from(text) : text;
  return [data.length > 0 ? data : null, data.length];
}

/** An id or a name. */
export function name(text) {
  if (text.includes('\0')) throw new TypeError('an id or a name holds no NUL');
  return text;
}

/** The text of a buffer, which is freed. */
export function take(buf) {
  if (!buf.data) return '';
  const text = koffi.decode(buf.data, 'char', Number(buf.len));
  bufFree(buf);
  return text;
}

/** The status, if it is an ordinary outcome; throws the error that it is otherwise. */
export function check(status, told = '') {
  if (status >= 0) return status;
  throw errorOf(abi.statusName(status), told ? JSON.parse(told) : {});
}

/** Calls a function that ends in an error, on another thread. Gives what it says beside an ordinary outcome. */
export function decide(handle, ...args) {
  const err = {};
  return new Promise((resolve, reject) => {
    handle.async(...args, err, (fault, status) => {
      try {
        if (fault) throw fault;
        const told = take(err);
        check(status, told);
        resolve(told ? JSON.parse(told) : {});
      } catch (error) {
        reject(error);
      }
    });
  });
}

/** Calls a function that ends in a text and an error, on another thread, and gives the text. */
export function read(handle, ...args) {
  const text = {};
  return decide(handle, ...args, text).then(() => take(text));
}
