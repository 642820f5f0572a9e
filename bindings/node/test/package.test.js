// The package against the library.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import * as plangate from '../lib/index.js';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');

const schema = (required) => ({
  type: 'object',
  properties: { to: { type: 'string' }, amount: { type: 'number' } },
  required,
});
const catalog = {
  servers: {
    bank: {
      tools: [
        { name: 'list_accounts', description: 'Lists accounts.', inputSchema: { type: 'object' } },
        { name: 'set_note', description: 'Sets the text of a note.', inputSchema: { type: 'object' } },
        { name: 'send_payment', description: 'Sends a payment.', inputSchema: schema(['to', 'amount']) },
      ],
    },
  },
};
const FOUR = `together:
  a: bank.list_accounts {"of":"ann"}
  b: bank.list_accounts {"of":"bob"}
  c: bank.list_accounts {"of":"cleo"}
  d: bank.list_accounts {"of":"dän"}
`;
const PAY = `together:
  accounts: bank.list_accounts {"of":"ann"}
then:
  pay: bank.send_payment {"to":"{accounts[0]}","amount":12.5}
`;
const plan = (recipe) => plangate.compile(recipe, { catalog });
const memory = () => new plangate.Store(':memory:');

function bank() {
  const payments = [];
  const tools = {
    'bank.list_accounts': ({ of }) => [of],
    'bank.send_payment': async ({ to, amount }, call) => {
      payments.push([to, amount, call.key]);
      return { paid: true };
    },
  };
  return { payments, tools };
}

async function approved(store, send, options = {}) {
  const tools = { ...bank().tools, 'bank.send_payment': send };
  const run = await store.run(plan(PAY), { tools, ...options });
  for (const row of await run.approvals()) await row.approve({ by: 'bob' });
  return [run, tools];
}

test('cards, actions and diagnostics', () => {
  const made = plan(PAY);
  assert.match(String(made), /this will stop and ask before running it/);
  assert.equal(JSON.parse(made.card('json')).stops, 1);
  assert.equal(plangate.load(made.actions, { catalog }).actions, made.actions);
  assert.throws(() => made.card('nonsense'), TypeError);
  assert.deepEqual(made.diagnostics, []);
  assert.equal(plangate.version, '0.1.0');
  assert.throws(
    () => plan('then:\n  ä: bank.list_acounts {}\n'),
    (error) => {
      assert(error instanceof plangate.PlanError);
      const codes = error.diagnostics.map((d) => d.code);
      assert(codes.includes('R0120'), codes.join());
      assert.match(error.message, /did you mean `bank.list_accounts`/);
      return true;
    },
  );
  assert.throws(() => plangate.compile('then:\n  a\0b: bank.list_accounts {}\n', { catalog }), plangate.PlanError);
  assert.throws(() => plangate.compile(new Uint8Array([255])), plangate.ArgumentError);
});

test('parks, is approved and resumed', async () => {
  const store = memory();
  const { payments, tools } = bank();
  const run = await store.run(plan(PAY), { tools, requester: 'ann', title: 'zahlung für Ann' });
  assert(run.parked && run.state === 'parked' && payments.length === 0);
  assert.deepEqual(run.result('accounts'), ['ann']);
  const [row] = await run.approvals();
  assert.equal(row.tool, 'bank.send_payment');
  assert.deepEqual(row.arguments, { to: 'ann', amount: 12.5 });
  assert(row.expires > new Date());
  assert.equal((await row.approve({ by: { subject: 'bob', issuer: 'sso', verified: true } })).state, 'approved');
  await assert.rejects(row.reject({ by: 'cleo' }), (error) => {
    assert(error instanceof plangate.Decided);
    assert.match(error.details.by, /bob/);
    return true;
  });
  const done = await store.resume(run, { tools });
  assert(done.done);
  assert.deepEqual(done.result('pay'), { paid: true });
  assert((await store.resume(run.id, { tools })).done);
  assert.equal(payments.length, 1);
  assert.equal(payments[0][2].length, 64);
  assert.equal((await store.runs())[0].title, 'zahlung für Ann');
  const events = await store.events();
  assert.equal(events.filter((e) => e.what.kind === 'claimed').length, 1);
  const last = events.at(-1);
  assert.deepEqual(await store.events(`${last.seq}:${last.hash}`), []);
});

test('an exception after an effect leaves it uncertain, until somebody settles it', async () => {
  const store = memory();
  let calls = 0;
  const [run, tools] = await approved(store, () => {
    calls += 1;
    throw new Error('connection lost');
  });
  const resumed = await store.resume(run, { tools });
  assert(resumed.parked);
  assert.equal(resumed.steps.pay.state, 'uncertain');
  assert.match(resumed.steps.pay.error, /connection lost/);
  assert((await store.resume(run, { tools })).parked);
  const [row] = await resumed.approvals();
  await row.settle(true, { by: 'bob', value: { paid: true }, note: 'looked' });
  assert.deepEqual((await store.resume(run, { tools })).result('pay'), { paid: true });
  assert.equal(calls, 1);
});

const EDITABLE = '[[people]]\nserver = "bank"\nroles = ["finance"]\nmay_edit = ["finance"]\n';
const finance = (subject) => ({ subject, issuer: 'sso', roles: ['finance'], verified: true });

test('approved with other arguments', async () => {
  const store = memory();
  const { payments, tools } = bank();
  const run = await store.run(plangate.compile(PAY, { catalog, policy: EDITABLE }), { tools });
  const [row] = await run.approvals();
  await assert.rejects(row.approve({ by: finance('ann'), edited: { to: 'bob' } }), (error) => {
    assert(error instanceof plangate.NotAllowed);
    assert.match(error.message, /do not fit/);
    return true;
  });
  await assert.rejects(row.approve({ by: 'ann', edited: { to: 'bob', amount: 1 } }), plangate.NotAllowed);
  await assert.rejects(row.approve({ by: finance('ann'), edited: '[]' }), plangate.ArgumentError);
  assert.deepEqual((await store.approval(row.id)).edits, []);
  const decided = await row.approve({ by: finance('ann'), edited: '{"to":"bob","amount":2.50}' });
  assert.equal(decided.state, 'approved');
  assert.equal(decided.undecided, null);
  assert.deepEqual(decided.edits[0].arguments, { to: 'ann', amount: 12.5 });
  assert((await store.resume(run, { tools })).done);
  assert.deepEqual(payments.map(([to, amount]) => [to, amount]), [['bob', 2.5]]);
});

test('an editor who may not decide', async () => {
  const store = memory();
  const { payments, tools } = bank();
  const policy = `${EDITABLE}requester_may_decide = false\n`;
  const run = await store.run(plangate.compile(PAY, { catalog, policy }), { tools });
  const [row] = await run.approvals();
  const edited = await row.approve({ by: finance('ann'), edited: { ...row.arguments, amount: 3 } });
  assert.equal(edited.state, 'pending');
  assert.match(edited.undecided, /not decided/);
  await assert.rejects(row.approve({ by: finance('bob') }), plangate.Changed);
  assert.equal((await edited.approve({ by: finance('bob') })).state, 'approved');
  assert((await store.resume(run, { tools })).done);
  assert.equal(payments[0][1], 3);
  const again = await store.run(plangate.compile(PAY, { catalog, policy }), { tools });
  assert.deepEqual((await again.approvals())[0].before, []);
});

test('who wrote a recipe is said by the host', async () => {
  const waives = 'then:\n  note: bank.set_note {"text":"x"} without asking\n';
  const stops = (made) => JSON.parse(made.card('json')).stops;
  const byPerson = plangate.compile(waives, { catalog, author: 'person' });
  assert.deepEqual([stops(byPerson), stops(plan(waives))], [0, 1]);
  assert.throws(() => plangate.load(byPerson.actions, { catalog }), plangate.PlanError);
  assert.equal(stops(plangate.load(byPerson.actions, { catalog, author: 'person' })), 0);
  assert.throws(() => plangate.compile(waives, { catalog, author: 'nonsense' }), plangate.ArgumentError);
});

test('the host says what became of a call', async () => {
  const cases = [
    [() => true, true, undefined, 1, { happened: null }],
    [async () => new plangate.Happened({ paid: true }), true, { paid: true }, 1, { happened: { paid: true } }],
    [() => new plangate.Happened(1n), true, undefined, 1, { happened: null }],
    [async () => { await sleep(1); return false; }, true, { paid: 'again' }, 2, 'did_not'],
    [() => undefined, false, undefined, 1, { unknown: 'the host does not know' }],
    [() => 'yes', false, undefined, 1, { unknown: 'reconcile returned a string, which is no answer' }],
    [() => { throw new Error('no network'); }, false, undefined, 1, { unknown: 'Error: no network' }],
    [async () => { throw new Error('no network'); }, false, undefined, 1, { unknown: 'Error: no network' }],
  ];
  for (const [word, done, value, calls, kept] of cases) {
    const store = memory();
    const keys = [];
    const send = (_, call) => {
      keys.push(call.key);
      if (keys.length === 1) throw new Error('connection lost');
      return { paid: 'again' };
    };
    const [run, tools] = await approved(store, send, { timeout: 300 });
    const seen = [];
    const reconcile = (call) => {
      seen.push([call.tool, call.arguments, call.key]);
      return word();
    };
    // It is asked once the deadline of the call has passed.
    let ended = await store.resume(run, { tools, reconcile });
    for (const until = Date.now() + 60000; seen.length === 0 && Date.now() < until; await sleep(5)) {
      ended = await store.resume(run, { tools, reconcile });
    }
    assert.deepEqual(seen, [['bank.send_payment', { to: 'ann', amount: 12.5 }, keys[0]]]);
    assert.equal(ended.done, done);
    if (value !== undefined) assert.deepEqual(ended.result('pay'), value);
    assert.equal((await store.resume(run, { tools, reconcile })).done, done);
    assert.equal(seen.length, 1);
    assert.deepEqual([keys.length, new Set(keys).size], [calls, 1]);
    const { what } = (await store.events()).find((event) => event.what.kind === 'reconciled');
    assert.deepEqual((await store.approval(what.row)).told.reconciled.answer, kept);
  }
});

test('what tools say', async () => {
  const cases = [
    [() => { throw new plangate.ToolFailed('no money'); }, 'failed', /no money/],
    [() => { throw new plangate.NotSent('closed'); }, 'failed', /not sent: closed/],
    [async () => { throw 'a word'; }, 'uncertain', /a word/],
    [() => 1n, 'uncertain', /not with JSON/],
    [() => Symbol('x'), 'uncertain', /not with JSON/],
  ];
  for (const [send, state, says] of cases) {
    const store = memory();
    const [run, tools] = await approved(store, send);
    const { pay } = (await store.resume(run, { tools })).steps;
    assert.equal(pay.state, state);
    assert.match(pay.error, says);
  }
  const failed = await memory().run(plan(PAY), { tools: { 'bank.list_accounts': () => { throw new Error('none'); } } });
  assert(failed.failed);
  assert.equal(failed.steps.accounts.error, 'Error: none');
  assert.equal(failed.steps.pay.state, 'blocked');
  assert.match((await memory().run(plan(FOUR))).steps.a.error, /no tool bank.list_accounts/);
});

test('a no, a cancel, and what is not there', async () => {
  const store = memory();
  const { payments, tools } = bank();
  const run = await store.run(plan(PAY), { tools });
  await (await run.approvals())[0].reject({ by: 'bob', reason: 'not today' });
  const ended = await store.resume(run, { tools });
  assert(ended.failed && JSON.stringify(ended.record).includes('not today'));
  const other = await store.run(plan(PAY), { tools });
  await store.cancel(other);
  await assert.rejects(store.resume(other, { tools }), plangate.Cancelled);
  assert.deepEqual(await store.approvals(), []);
  assert.equal(payments.length, 0);
  await assert.rejects(store.resume('no such run'), plangate.NotFound);
  await assert.rejects(store.run(plan(FOUR), { tool: {} }), /no option tool/);
  await assert.rejects(store.run(plan(FOUR), { catalog: { servers: {} } }), plangate.PlanError);
  await assert.rejects(store.approval('a\0b'), TypeError);
  store.close();
  await assert.rejects(store.runs(), plangate.ArgumentError);
});

test('sentences and inputs', async () => {
  const recipe = 'inputs:\n  who: text\ntogether:\n  a: bank.list_accounts {"of":"{who}"}\nthen:\n  b: greet {a}\n';
  const { tools } = bank();
  const writer = (instruction, inputs) => ({ instruction, inputs });
  const run = await memory().run(plan(recipe), { tools, writer, inputs: { who: 'ann' } });
  assert.deepEqual(run.result('b'), { instruction: 'greet {a}', inputs: { a: ['ann'] } });
  await assert.rejects(memory().run(plan(recipe), { tools, writer }), plangate.ArgumentError);
});

test('callbacks survive the collector', async () => {
  const store = memory();
  const tools = { 'bank.list_accounts': async ({ of }) => { gc(); await sleep(1); gc(); return of; } };
  for (let i = 0; i < 10; i += 1) assert.equal((await store.run(plan(FOUR), { tools })).result('d'), 'dän');
});

test('four slow tools at once, and the event loop goes on', async () => {
  const store = memory();
  const made = plan(FOUR);
  const tools = { 'bank.list_accounts': () => sleep(100) };
  let ticks = 0;
  const ticking = setInterval(() => { ticks += 1; }, 5);
  let best = Infinity;
  // Other things run on this machine too; one after the other it is never under 400.
  for (let i = 0; i < 25 && best >= 180; i += 1) {
    const from = performance.now();
    assert((await store.run(made, { tools })).done);
    best = Math.min(best, performance.now() - from);
  }
  clearInterval(ticking);
  assert(best < 180, `${best} ms`);
  assert(ticks >= 5, `${ticks} ticks`);
});

test('more runs at once than there are threads in the pool, each with files to read', async () => {
  const store = memory();
  const here = fileURLToPath(import.meta.url);
  const { readFile } = await import('node:fs/promises');
  const tools = { 'bank.list_accounts': async () => (await readFile(here, 'utf8')).length };
  const runs = await Promise.all(Array.from({ length: 8 }, () => store.run(plan(FOUR), { tools })));
  assert(runs.every((run) => run.done));
});

test('a deadline is seen, and a late word counts', async () => {
  const store = memory();
  const [run, tools] = await approved(store, async (_, call) => {
    while (!call.cancelled) await sleep(1);
    while ((await store.record(run)).state !== 'parked') await sleep(1);
    return { paid: 'late' };
  });
  assert((await store.resume(run, { tools, timeout: 100 })).parked);
  while ((await store.approvals()).length > 0) await sleep(1);
  assert.deepEqual((await store.resume(run, { tools })).result('pay'), { paid: 'late' });
});

test('the call is known to what the tool calls', async () => {
  const seen = [];
  const tools = async (call) => { await sleep(1); seen.push(plangate.currentCall() === call && call.json); };
  assert((await memory().run(plan(FOUR), { tools })).done);
  assert(seen.includes('{"of":"dän"}'));
});

test('approved in another process, resumed in two at once, made once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'plangate-'));
  const [path, log, script] = ['runs.db', 'log', 'other.mjs'].map((name) => join(folder, name));
  const store = new plangate.Store(path);
  const run = await store.run(plan(PAY), { tools: bank().tools });
  store.close();
  writeFileSync(
    script,
    `import { appendFileSync } from 'node:fs';
import * as plangate from ${JSON.stringify(new URL('../lib/index.js', import.meta.url).href)};
const store = new plangate.Store(${JSON.stringify(path)});
if (process.argv[2] === 'approve') await (await store.approvals())[0].approve({ by: 'ann' });
else {
  const tools = { 'bank.send_payment': ({ to }) => appendFileSync(${JSON.stringify(log)}, to + '\\n') };
  await store.resume(${JSON.stringify(run.id)}, { tools }).catch((e) => { if (!(e instanceof plangate.Busy)) throw e; });
}
`,
  );
  execFileSync(process.execPath, [script, 'approve'], { stdio: 'inherit' });
  const both = [0, 1].map(() => spawn(process.execPath, [script, 'resume'], { stdio: 'inherit' }));
  const codes = await Promise.all(both.map((child) => new Promise((ended) => child.on('exit', ended))));
  assert.deepEqual(codes, [0, 0]);
  assert.equal(readFileSync(log, 'utf8'), 'ann\n');
  appendFileSync(log, '');
});
