// Threads that wait for runs. An idle one is used again, and keeps no process alive.

import { Worker } from 'node:worker_threads';

const idle = [];

function driver() {
  const found = idle.pop();
  if (found) return found;
  const worker = new Worker(new URL('./driver.js', import.meta.url), { name: 'plangate' });
  worker.setMaxListeners(0);
  return worker;
}

/** Drives one run, and gives its status, record and error. */
export function drive(job) {
  const worker = driver();
  worker.ref();
  return new Promise((resolve, reject) => {
    const done = (settle) => {
      worker.off('message', told);
      worker.off('error', failed);
      worker.off('exit', ended);
      settle();
    };
    const told = (message) =>
      done(() => {
        worker.unref();
        idle.push(worker);
        if (message.fault) reject(new Error(message.fault));
        else resolve(message);
      });
    const failed = (error) => done(() => reject(error));
    const ended = () => done(() => reject(new Error('the thread that waited for the run has ended')));
    worker.on('message', told);
    worker.on('error', failed);
    worker.on('exit', ended);
    worker.postMessage(job);
  });
}
