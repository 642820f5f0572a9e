// What a program in TypeScript may write. Compiled, not run.

import { type Approval, compile, Decided, Happened, type Reconcile, type Run, Store, ToolFailed } from '../lib/index.js';

export async function pay(recipe: string): Promise<unknown> {
  const plan = compile(recipe, { catalog: { servers: {} }, policy: '', author: 'person' });
  console.log(plan.card('html'), plan.diagnostics[0]?.spans[0]?.line);
  const store = new Store('runs.db');
  const tools = {
    'bank.send_payment': async ({ to }: { to: string }) => {
      if (!to) throw new ToolFailed('to whom?');
      return { paid: true };
    },
  };
  const reconcile: Reconcile = async ({ key }) => (key === 'paid' ? new Happened({ paid: true }) : undefined);
  const run: Run = await store.run(plan, { tools, inputs: { a: 1 }, requester: 'ann', timeout: 1000, reconcile });
  const rows: Approval[] = await run.approvals();
  try {
    const edited = { ...rows[0].arguments, amount: 3 };
    const row = await rows[0].approve({ by: { subject: 'bob', verified: true }, edited });
    if (row.undecided) console.log(row.undecided, row.edits[0]?.arguments, row.before.length);
  } catch (error) {
    if (error instanceof Decided) console.log(error.details.by);
  }
  return (await store.resume(run, { tools })).result('pay');
}
