// Plans.

import { abi, bytes, check, name, take } from './native.js';

const freed = new FinalizationRegistry((handle) => abi.planFree(handle));

/** Catalogs and inputs may be given as objects or as JSON. */
export function json(value) {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A plan, held against its catalog and policy. Made by `compile` and `load`. */
export class Plan {
  constructor(handle, diagnostics) {
    this.handle = handle;
    this.diagnostics = diagnostics;
    freed.register(this, handle);
  }

  /** The plan as `actions.json`. */
  get actions() {
    const out = {};
    check(abi.actions(this.handle, out));
    return take(out);
  }

  /** What is shown before it runs: `text`, `markdown`, `html`, `mermaid` or `json`. */
  card(format = 'text') {
    if (!['text', 'markdown', 'html', 'mermaid', 'json'].includes(format)) {
      throw new TypeError(`${format} is no format of a card: text, markdown, html, mermaid or json`);
    }
    const out = {};
    check(abi.card(this.handle, format, out));
    return take(out);
  }

  toString() {
    return this.card();
  }
}

function made(make, text, { catalog = '', policy = '', author = 'model' } = {}) {
  const handle = [null];
  const err = {};
  const status = make(name(author), ...bytes(text), ...bytes(json(catalog)), ...bytes(policy), handle, err);
  const told = take(err);
  check(status, told);
  return new Plan(handle[0], told ? JSON.parse(told).related : []);
}

/** Compiles a recipe. Throws `PlanError`, whose message is the diagnostics with carets. */
export function compile(recipe, options) {
  return made(abi.compile, recipe, options);
}

/** Loads `actions.json` and believes nothing in it. Throws `PlanError` with every reason. */
export function load(actions, options) {
  return made(abi.load, actions, options);
}
