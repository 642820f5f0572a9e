// A payment that waits for a person, in four processes.
//
//   node pay.mjs plan               shows the card
//   node pay.mjs run                runs until it waits for people: prints the run, and ends
//   node pay.mjs approvals          what waits
//   node pay.mjs approve WHO        somebody says yes to all of it
//   node pay.mjs resume RUN         goes on; the payment is made once, however often this is called
//
// PAY_STORE is where the store lies (pay.db), PAY_LOG where payments are written (pay.log). Install the package first:
// npm install ../../bindings/node

import { appendFile } from 'node:fs/promises';

const { compile, Store } = await import(process.env.PLANGATE_PACKAGE ?? 'plangate');

const RECIPE = `together:
  balance: bank.get_balance {"account":"ours"}
  payee: bank.list_payees {"name":"Ann"}
ask me:
  - pay Ann?
    pay: bank.send_payment {"to":"{payee[0].iban}","amount":12.50}
`;

const payment = { to: { type: 'string' }, amount: { type: 'number' } };
const catalog = {
  servers: {
    bank: {
      tools: [
        { name: 'get_balance', description: 'Gets the balance of an account.', inputSchema: { type: 'object' } },
        { name: 'list_payees', description: 'Lists known payees.', inputSchema: { type: 'object' } },
        {
          name: 'send_payment',
          description: 'Sends a payment.',
          inputSchema: { type: 'object', properties: payment, required: ['to', 'amount'] },
        },
      ],
    },
  },
};

const tools = {
  'bank.get_balance': () => ({ amount: 250 }),
  'bank.list_payees': async ({ name }) => [{ name, iban: 'DE02120300000000202051' }],
  // The key is the same for the same call: a bank that is asked twice can tell.
  'bank.send_payment': async (_, call) => {
    await appendFile(process.env.PAY_LOG ?? 'pay.log', `${call.key} ${call.json}\n`);
    return { paid: true };
  },
};

const [what, given] = process.argv.slice(2);
const store = what === 'plan' ? null : new Store(process.env.PAY_STORE ?? 'pay.db');
const told = async (run) => {
  console.log('run', run.id, run.state);
  for (const row of await run.approvals()) console.log('waits:', row.tool, JSON.stringify(row.arguments), row.expires);
};

if (what === 'plan') console.log(String(compile(RECIPE, { catalog })));
else if (what === 'run') await told(await store.run(compile(RECIPE, { catalog }), { tools, title: 'pay Ann' }));
else if (what === 'resume') await told(await store.resume(given, { tools }));
else if (what === 'approvals' || what === 'approve') {
  for (const row of await store.approvals()) {
    console.log(row.id, row.tool, JSON.stringify(row.arguments));
    if (given) console.log((await row.approve({ by: given })).state, 'by', given);
  }
} else console.error('pay.mjs plan | run | approvals | approve WHO | resume RUN');
