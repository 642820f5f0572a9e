// The store: runs and approvals.

import { callback, lookUp } from './calls.js';
import { drive } from './drivers.js';
import { abi, bytes, check, decide, name, read, registerLookUp, registerTool, take } from './native.js';
import { json } from './plan.js';

const PARKED = 1;
const freed = new FinalizationRegistry((handle) => abi.storeFree(handle));

function person(by) {
  const { subject, issuer = 'host', roles = [], verified = false } = typeof by === 'string' ? { subject: by } : by;
  return JSON.stringify({ issuer, subject, roles, verified });
}

const idOf = (run) => name(typeof run === 'string' ? run : run.id);
const time = (ms) => (ms === null ? null : new Date(ms));

/** A row that waits for somebody, or did. Deciding it executes nothing: resume its run. */
export class Approval {
  constructor(store, told, undecided = null) {
    Object.defineProperty(this, 'store', { value: store, enumerable: false });
    Object.defineProperty(this, 'told', { value: told, enumerable: false });
    const { id, run, step, state, question, digest, reason } = told;
    Object.assign(this, { id, run, step, state, question, digest, reason });
    this.tool = told.call ? `${told.call.server}.${told.call.tool}` : null;
    this.arguments = told.call ? told.call.arguments : null;
    this.expires = time(told.expires);
    this.decidedAt = time(told.decided_at);
    this.decidedBy = told.decided_by;
    this.edits = told.edits;
    this.before = told.before;
    this.undecided = undecided;
  }

  /**
   * One person's yes to exactly this. With `edited` those arguments take the place of what was asked, and the yes is one to
   * them; where the same person may not decide them, `undecided` says why, and others do.
   */
  async approve({ by, edited }) {
    const handle = this.store.handle;
    const given = edited === undefined ? null : name(json(edited));
    const told = await decide(abi.approve, handle, this.id, this.digest, name(person(by)), given);
    return this.store.approval(this.id, told.message);
  }

  async reject({ by, reason = null }) {
    const handle = this.store.handle;
    await decide(abi.reject, handle, this.id, this.digest, name(person(by)), reason === null ? null : name(reason));
    return this.store.approval(this.id);
  }

  async settle(happened, { by, value, note = null }) {
    const given = value === undefined ? null : JSON.stringify(value);
    const said = note === null ? null : name(note);
    await decide(abi.settle, this.store.handle, this.id, happened ? 1 : 0, name(person(by)), given, said);
    return this.store.approval(this.id);
  }
}

/** How a run was laid down. */
export class Run {
  constructor(store, record, parked) {
    Object.defineProperty(this, 'store', { value: store, enumerable: false });
    this.id = record.run;
    this.parked = parked;
    this.record = record;
  }

  get state() {
    return this.record.state;
  }

  get done() {
    return this.state === 'done';
  }

  get failed() {
    return this.state === 'failed';
  }

  /** The steps by id. */
  get steps() {
    return Object.fromEntries(this.record.steps.map((step) => [step.id, step]));
  }

  /** The result of a step; undefined where there is none. */
  result(step) {
    const found = this.steps[step];
    if (!found) throw new RangeError(`the run has no step ${step}`);
    return found.result;
  }

  async approvals() {
    return (await this.store.approvals()).filter((row) => row.run === this.id);
  }
}

/** A store of runs and approvals in a SQLite file; `:memory:` keeps nothing. */
export class Store {
  constructor(path) {
    const handle = [null];
    const err = {};
    const status = abi.open(...bytes(String(path)), handle, err);
    check(status, take(err));
    this.handle = handle[0];
    freed.register(this, this.handle, this);
  }

  /** Lets go of the file. A run that uses it goes on. */
  close() {
    freed.unregister(this);
    abi.storeFree(this.handle);
  }

  /** Runs a plan until it has ended or waits for people alone. */
  run(plan, options = {}) {
    const { inputs } = options;
    return this.#drive({ plan: plan.handle, inputs: inputs === undefined ? '' : json(inputs) }, options);
  }

  /** Goes on with a run from the store, in any process. What has ended is not made again. */
  async resume(run, options = {}) {
    return this.#drive({ run: idOf(run) }, options);
  }

  async #drive(job, options) {
    const known = ['tools', 'writer', 'reconcile', 'inputs', 'requester', 'title', 'threads', 'timeout', 'holdSiblings', 'catalog', 'policy'];
    const unknown = Object.keys(options).filter((key) => !known.includes(key));
    if (unknown.length > 0) throw new TypeError(`there is no option ${unknown.join(', ')}`);
    const { tools = {}, writer, reconcile, requester, title = '', threads = 0, timeout = 0, holdSiblings = false } = options;
    const host = {
      catalog: options.catalog === undefined ? undefined : json(options.catalog),
      policy: options.policy,
      requester: requester === undefined ? undefined : person(requester),
      title: name(title),
      threads,
      timeout: Math.round(timeout),
      holdSiblings,
    };
    const tool = registerTool(callback(tools, writer));
    const looksUp = reconcile && registerLookUp(lookUp(reconcile));
    try {
      const own = { ...host, tool: tool.address, reconcile: looksUp?.address };
      const told = await drive({ store: this.handle, ...job, host: own });
      check(told.status, told.told);
      return new Run(this, JSON.parse(told.record), told.status === PARKED);
    } finally {
      tool.unregister();
      looksUp?.unregister();
    }
  }

  /** What waits for somebody, of all runs, in the order it was asked. */
  async approvals() {
    const { approvals } = JSON.parse(await read(abi.approvals, this.handle));
    return approvals.map((row) => new Approval(this, row));
  }

  /** One approval, whatever its state. */
  async approval(id, undecided) {
    return new Approval(this, JSON.parse(await read(abi.approval, this.handle, name(id))), undecided);
  }

  /** All runs, newest first. */
  async runs() {
    return JSON.parse(await read(abi.runs, this.handle)).runs;
  }

  /** The record of a run, as it is stored at this moment. */
  async record(run) {
    return JSON.parse(await read(abi.record, this.handle, idOf(run)));
  }

  /** Cancels a run: what nobody claimed is not made, calls under way are asked to stop. */
  async cancel(run) {
    await decide(abi.cancel, this.handle, idOf(run));
  }

  /** The event log after a `seq`, or after "SEQ:HASH", which is verified. */
  async events(after) {
    const lines = await read(abi.events, this.handle, after === undefined ? null : name(String(after)));
    return lines.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  }
}
