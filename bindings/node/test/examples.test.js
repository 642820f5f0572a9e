// The example, each step in a process of its own.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../../examples/node/pay.mjs', import.meta.url));

test('pay', () => {
  const folder = mkdtempSync(join(tmpdir(), 'plangate-'));
  const log = join(folder, 'pay.log');
  const env = {
    ...process.env,
    PAY_STORE: join(folder, 'pay.db'),
    PAY_LOG: log,
    PLANGATE_PACKAGE: new URL('../lib/index.js', import.meta.url).href,
  };
  const pay = (...words) => execFileSync(process.execPath, [script, ...words], { env, encoding: 'utf8' });
  assert.match(pay('plan'), /this will stop and ask before running it/);
  const parked = pay('run');
  assert(parked.includes('parked') && !existsSync(log));
  assert.match(pay('approvals'), /bank.send_payment/);
  assert.match(pay('approve', 'ann'), /approved by ann/);
  assert.match(pay('resume', parked.split(' ')[1]), /done/);
  assert.match(pay('resume', parked.split(' ')[1]), /done/);
  assert.match(readFileSync(log, 'utf8'), /^\w{64} \{"amount":12.50,"to":"DE02120300000000202051"\}\n$/);
});
