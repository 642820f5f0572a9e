// A thread that waits for runs, so that the event loop does not.

import { parentPort } from 'node:worker_threads';

import { abi, bytes, hostSize, take } from './native.js';

parentPort.on('message', ({ store, plan, inputs, run, host }) => {
  const record = {};
  const err = {};
  const documents = (text) => (text === undefined ? [null, 0] : bytes(text));
  const [catalog, policy, requester] = [host.catalog, host.policy, host.requester].map(documents);
  const native = {
    size: hostSize,
    threads: host.threads,
    tool: host.tool,
    user: null,
    reconcile: host.reconcile ?? null,
    catalog_json: catalog[0],
    catalog_len: catalog[1],
    policy_toml: policy[0],
    policy_len: policy[1],
    requester_json: requester[0],
    requester_len: requester[1],
    title: host.title,
    timeout_ms: host.timeout,
    hold_siblings: host.holdSiblings ? 1 : 0,
  };
  try {
    const status =
      plan === undefined
        ? abi.resume(store, run, native, record, err)
        : abi.run(store, plan, ...bytes(inputs), native, record, err);
    parentPort.postMessage({ status, record: take(record), told: take(err) });
  } catch (error) {
    parentPort.postMessage({ fault: String(error) });
  }
});
