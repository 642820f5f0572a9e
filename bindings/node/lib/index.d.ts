/** A catalog, `{"servers": {NAME: {"tools": [MCP tool definitions]}}}`, as an object or as JSON. */
export type Catalog = string | { servers: Record<string, { tools: object[]; origin?: string }> };

/** What a recipe or a plan is held against. */
export interface Against {
  catalog?: Catalog;
  /** The policy part of `plangate.toml`. */
  policy?: string;
}

export interface PlanOptions extends Against {
  /** Your word on who wrote the recipe: `without asking` in a model's is void. A model, if it is not given. */
  author?: 'person' | 'model';
}

/** Compiles a recipe. Throws `PlanError`, whose message is the diagnostics with carets. */
export function compile(recipe: string | Uint8Array, options?: PlanOptions): Plan;
/**
 * Loads `actions.json` and believes nothing in it. Throws `PlanError` with every reason. A file is nobody's word: say that its
 * author is a person of one that you know to be as a person left it.
 */
export function load(actions: string | Uint8Array, options?: PlanOptions): Plan;

/** A plan, held against its catalog and policy. */
export class Plan {
  private constructor();
  /** Warnings and notes about the recipe. */
  readonly diagnostics: Diagnostic[];
  /** The plan as `actions.json`. */
  readonly actions: string;
  /** What is shown before it runs. */
  card(format?: 'text' | 'markdown' | 'html' | 'mermaid' | 'json'): string;
  toString(): string;
}

/** A place in a recipe. */
export interface Span {
  start: number;
  end: number;
  line: number;
  column: number;
  end_line: number;
  end_column: number;
}

/** One thing to say about a recipe, a plan, or values. */
export interface Diagnostic {
  code: string;
  severity?: 'error' | 'warning' | 'note';
  message: string;
  help: string | null;
  /** Places, the main one first. */
  spans: (Span & { label: string })[];
  /** A change that mends it for certain. */
  fix?: { span: Span; replacement: string };
}

/** One call of a tool. */
export interface Call {
  /** `server.tool`. */
  readonly tool: string;
  /** The arguments as JSON, byte for byte what was approved. */
  readonly json: string;
  /** The arguments, as `JSON.parse` reads them. */
  readonly arguments: any;
  /** The idempotency key; empty for a read. */
  readonly key: string;
  /** Nobody waits for it any more: its deadline passed, or its run was cancelled. */
  readonly cancelled: boolean;
}

/** The call that is being made. */
export function currentCall(): Call | undefined;

/** Functions by `server.tool`, or one function. They may return promises. */
export type Tools = Record<string, (args: any, call: Call) => unknown> | ((call: Call) => unknown);
/** Gets a sentence's instruction, and its inputs by name: each a value, or `{missing: why}`. */
export type Writer = (instruction: string, inputs: Record<string, any>) => unknown;
/** A call whose outcome nobody recorded. */
export interface Uncertain {
  /** `server.tool`. */
  readonly tool: string;
  /** The arguments as JSON, byte for byte what was sent, if anything was. */
  readonly json: string;
  /** The arguments, as `JSON.parse` reads them. */
  readonly arguments: any;
  /** The idempotency key that went with them. */
  readonly key: string;
}

/** What `reconcile` returns of a call that happened, where it knows the value: that of the step. */
export class Happened {
  constructor(value: unknown);
  readonly value: unknown;
}

/** `true` or `Happened`, it did; `false`, it did not and will not; nothing, it cannot tell. */
export type Word = boolean | Happened | null | undefined;
/**
 * Says what became of a call, and may return a promise. After `false` an approved call may be made once more, with the same key.
 * Anything that is no `Word`, and an exception, is "cannot tell".
 */
export type Reconcile = (call: Uncertain) => Word | Promise<Word>;

/** Somebody; a name alone is one that nobody verified. */
export type By = string | { subject: string; issuer?: string; roles?: string[]; verified?: boolean };

export interface HostOptions extends Against {
  tools?: Tools;
  writer?: Writer;
  /** Asked once about a call whose outcome is not known, after its deadline; it has ten seconds. */
  reconcile?: Reconcile;
  /** Most calls at once; as wide as the plan if it is not given. */
  threads?: number;
  /** Milliseconds, for calls that have no `timeout:`; a minute if it is not given. */
  timeout?: number;
}

export interface RunOptions extends HostOptions {
  inputs?: Record<string, unknown>;
  /** Who starts it. */
  requester?: By;
  /** What people call it. */
  title?: string;
  /** While it waits for a decision, nothing of it that changes something starts. */
  holdSiblings?: boolean;
}

/** A store of runs and approvals in a SQLite file; `:memory:` keeps nothing. */
export class Store {
  constructor(path: string | URL);
  /** Lets go of the file. A run that uses it goes on. */
  close(): void;
  /** Runs a plan until it has ended or waits for people alone. The event loop goes on meanwhile. */
  run(plan: Plan, options?: RunOptions): Promise<Run>;
  /** Goes on with a run from the store, in any process. What has ended is not made again. */
  resume(run: Run | string, options?: HostOptions): Promise<Run>;
  /** What waits for somebody, of all runs, in the order it was asked. */
  approvals(): Promise<Approval[]>;
  /** One approval, whatever its state. */
  approval(id: string): Promise<Approval>;
  /** All runs, newest first. */
  runs(): Promise<any[]>;
  /** The record of a run, as it is stored at this moment. */
  record(run: Run | string): Promise<any>;
  /** Cancels a run: what nobody claimed is not made, calls under way are asked to stop. */
  cancel(run: Run | string): Promise<void>;
  /** The event log after a `seq`, or after "SEQ:HASH", which is verified. */
  events(after?: number | string): Promise<any[]>;
}

/** How a run was laid down. */
export class Run {
  private constructor();
  readonly id: string;
  /** All that is left waits for people. It is stored: any process may decide, and resume it. */
  readonly parked: boolean;
  readonly done: boolean;
  readonly failed: boolean;
  readonly state: string;
  /** Its history. */
  readonly record: any;
  /** The steps by id. */
  readonly steps: Record<string, any>;
  /** The result of a step; undefined where there is none. */
  result(step: string): any;
  /** What this run waits for. */
  approvals(): Promise<Approval[]>;
}

/** A row that waits for somebody, or did. Deciding it executes nothing: resume its run. */
export class Approval {
  private constructor();
  readonly id: string;
  readonly run: string;
  readonly step: string;
  readonly state: string;
  /** `server.tool`; null for a question in front of several steps. */
  readonly tool: string | null;
  readonly arguments: any;
  readonly question: string | null;
  /** What a decision is about. A decision on something else is `Changed`. */
  readonly digest: string;
  readonly reason: string[];
  readonly expires: Date;
  readonly decidedAt: Date | null;
  readonly decidedBy: string | null;
  /** What edits replaced, the first of them first. */
  readonly edits: { arguments: any; digest: string; key: string; by: any; at: number; note: string | null }[];
  /** What became of the very same call earlier, in any run. */
  readonly before: { approval: string; run: string; state: string; at: number; outcome: any }[];
  /** Why `approve` with `edited` edited and did not decide: whoever edits counts as requester, and this one may not decide. */
  readonly undecided: string | null;
  /** All of it, as the library gives it. */
  readonly told: any;
  /**
   * One person's yes to exactly this. With `edited`, all of the arguments as an object or as JSON, those take the place of what
   * was asked, and the yes is one to them. They are held against schema and policy first: `NotAllowed` says why they do not
   * pass, and nothing is changed. Where the edit stands and the same person may not decide it, `undecided` says why.
   */
  approve(decision: { by: By; edited?: Record<string, unknown> | string }): Promise<Approval>;
  reject(decision: { by: By; reason?: string }): Promise<Approval>;
  /** A person's word on an uncertain call. */
  settle(happened: boolean, word: { by: By; value?: unknown; note?: string }): Promise<Approval>;
}

/** What the library refused, or could not do. */
export class PlangateError extends Error {
  readonly code: string;
  readonly help?: string;
  readonly diagnostics: Diagnostic[];
  readonly details: { state?: string; by?: string; at?: number; until?: number; stored?: string; seen?: string };
}
export class ArgumentError extends PlangateError {}
export class PlanError extends PlangateError {}
export class StoreError extends PlangateError {}
export class NotFound extends PlangateError {}
export class Decided extends PlangateError {}
export class Expired extends PlangateError {}
export class Busy extends PlangateError {}
export class Changed extends PlangateError {}
export class NotAllowed extends PlangateError {}
export class Cancelled extends PlangateError {}
export class InFlight extends PlangateError {}
export class LeaseLost extends PlangateError {}
export class Attention extends PlangateError {}
export class Fault extends PlangateError {}
/** Throw it in a tool to say that the call failed. Anything else leaves a call that changes something uncertain. */
export class ToolFailed extends Error {}
/** Throw it in a tool to say that nothing was sent. */
export class NotSent extends Error {}

/** Version of the library. */
export const version: string;
