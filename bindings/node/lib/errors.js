// Errors. Each has the `code` of the library, a sentence, what to do, and the diagnostics.

/** What the library refused, or could not do. */
export class PlangateError extends Error {
  constructor(code, told) {
    const text = told.rendered ? told.rendered.trimEnd() : told.message || code;
    super(told.help && !told.rendered ? `${text}\nhelp: ${told.help}` : text);
    this.name = new.target.name;
    this.code = code;
    this.help = told.help ?? undefined;
    this.diagnostics = told.related ?? [];
    this.details = told.details ?? {};
  }
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

const KINDS = {
  PLANGATE_E_ARGUMENT: ArgumentError,
  PLANGATE_E_PLAN: PlanError,
  PLANGATE_E_STORE: StoreError,
  PLANGATE_E_NOT_FOUND: NotFound,
  PLANGATE_E_DECIDED: Decided,
  PLANGATE_E_EXPIRED: Expired,
  PLANGATE_E_BUSY: Busy,
  PLANGATE_E_CHANGED: Changed,
  PLANGATE_E_NOT_ALLOWED: NotAllowed,
  PLANGATE_E_CANCELLED: Cancelled,
  PLANGATE_E_IN_FLIGHT: InFlight,
  PLANGATE_E_LEASE_LOST: LeaseLost,
  PLANGATE_E_ATTENTION: Attention,
  PLANGATE_E_PANIC: Fault,
};

/** The error of a status. */
export function errorOf(code, told) {
  return new (KINDS[code] ?? PlangateError)(code, told);
}
