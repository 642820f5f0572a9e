// Builds the library with cargo and packs it beside the code, when the package is installed from a checkout.
// PLANGATE_LIBRARY names a library that is built already; PLANGATE_PROFILE another cargo profile than `embed`.

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const own = fileURLToPath(new URL('..', import.meta.url));
const checkout = join(own, '..', '..');
const packed = join(own, 'prebuilt', 'libplangate.so');

if (!process.env.PLANGATE_LIBRARY) {
  if (existsSync(join(checkout, 'ffi', 'Cargo.toml'))) {
    const profile = process.env.PLANGATE_PROFILE ?? 'embed';
    const command = ['build', '--locked', '-p', 'plangate-ffi', '--lib', '--profile', profile];
    execFileSync('cargo', command, { cwd: checkout, stdio: 'inherit' });
    const target = process.env.CARGO_TARGET_DIR ?? join(checkout, 'target');
    mkdirSync(join(own, 'prebuilt'), { recursive: true });
    copyFileSync(join(target, profile === 'dev' ? 'debug' : profile, 'libplangate.so'), packed);
  } else if (!existsSync(packed)) {
    console.error('plangate is built from its checkout: npm install ./bindings/node');
    process.exit(1);
  }
}
