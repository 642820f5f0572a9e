// Recipes compiled to plans that stop at every effect until somebody approves it.

import { abi } from './native.js';

export { currentCall, Happened } from './calls.js';
export * from './errors.js';
export { Plan, compile, load } from './plan.js';
export { Approval, Run, Store } from './store.js';

/** Version of the library. */
export const version = abi.version();
