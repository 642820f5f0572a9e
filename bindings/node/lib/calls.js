// Calls of tools: from the library to functions and promises, and back.

import { AsyncLocalStorage } from 'node:async_hooks';

import { NotSent, ToolFailed } from './errors.js';
import { abi, bytes } from './native.js';

const LATER = 1;
const RECONCILE_LATER = 2;
const current = new AsyncLocalStorage();

/** The call that is being made, for a tool that wants its key or wants to know whether it was cancelled. */
export function currentCall() {
  return current.getStore();
}

/** One call of a tool. */
class Call {
  constructor(number, tool, json, key) {
    this.number = number;
    this.tool = tool;
    this.json = json;
    this.key = key;
  }

  get arguments() {
    return JSON.parse(this.json);
  }

  get cancelled() {
    return abi.cancelled(this.number) === 1;
  }
}

// That nobody waits for it any more is nothing to throw in a tool that is done.
function answer(call, outcome, text) {
  abi.answer(call.number, outcome, ...bytes(text));
}

function raised(call, error, words = '') {
  const text = JSON.stringify(error instanceof Error ? error.message : String(error));
  if (error instanceof ToolFailed) answer(call, -1, text);
  else if (error instanceof NotSent) answer(call, -3, text);
  // A read failed; whether a call that changes something happened, nobody knows.
  else answer(call, call.key ? -2 : -1, JSON.stringify(`${words}${error}`));
}

function made(call, tools, writer) {
  if (call.tool === 'write') {
    if (!writer) throw new ToolFailed('no writer was given');
    const { instruction, inputs } = call.arguments;
    const named = inputs.map((i) => [i.name, 'value' in i ? i.value : { missing: i.missing }]);
    return writer(instruction, Object.fromEntries(named));
  }
  if (typeof tools === 'function') return tools(call);
  const tool = Object.hasOwn(tools, call.tool) ? tools[call.tool] : undefined;
  if (!tool) throw new NotSent(`the host has no tool ${call.tool}`);
  return tool(call.arguments, call);
}

/** The callback of one run. It starts the tool and returns at once, so that no thread waits for the event loop. */
export function callback(tools, writer) {
  return (_user, number, tool, json, key) => {
    const call = new Call(number, tool, json, key);
    const start = async () => {
      let text;
      try {
        const value = await made(call, tools, writer);
        try {
          text = JSON.stringify(value === undefined ? null : value);
          if (text === undefined) throw new TypeError(`${typeof value} is no JSON`);
        } catch (error) {
          return raised(call, error, 'the tool answered, but not with JSON: ');
        }
      } catch (error) {
        return raised(call, error);
      }
      answer(call, 1, text);
    };
    current.run(call, () => queueMicrotask(start));
    return LATER;
  };
}

/** What `reconcile` returns of a call that happened, where it knows the value: that of the step. */
export class Happened {
  constructor(value) {
    this.value = value;
  }
}

/** A call whose outcome nobody recorded. */
class Uncertain {
  constructor(tool, json, key) {
    this.tool = tool;
    this.json = json;
    this.key = key;
  }

  get arguments() {
    return JSON.parse(this.json);
  }
}

/** What a word of `reconcile` is for the library: a number, and a value or a reason. */
function said(word) {
  if (word instanceof Happened) {
    try {
      return [1, JSON.stringify(word.value) ?? ''];
    } catch {
      return [1, '']; // that it happened is known; its value is not
    }
  }
  if (word === true) return [1, ''];
  if (word === false) return [-1, ''];
  if (word === undefined || word === null) return [0, ''];
  return [0, JSON.stringify(`reconcile returned a ${typeof word}, which is no answer`)];
}

/** The callback that looks calls up. It starts looking and returns at once, so that no thread waits for the event loop. */
export function lookUp(reconcile) {
  return (_user, key, tool, json) => {
    const start = async () => {
      let word;
      try {
        word = said(await reconcile(new Uncertain(tool, json, key)));
      } catch (error) {
        word = [0, JSON.stringify(String(error))];
      }
      abi.reconciled(key, word[0], ...bytes(word[1]));
    };
    queueMicrotask(start);
    return RECONCILE_LATER;
  };
}
