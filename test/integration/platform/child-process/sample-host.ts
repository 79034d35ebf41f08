import { setTimeout as delay } from 'node:timers/promises';
import { OracleError } from '../../../../src/errors.ts';
import { runHostProcess } from '../../../../src/platform/child-process.ts';

/** How the sample host behaves, for the tests of `startHost`. */
export type Behaviour = 'well' | 'silent' | 'refuses' | 'throws' | 'dies' | 'dies later' | 'never closes';

runHostProcess(async (behaviour: Behaviour) => {
  if (behaviour === 'silent') await new Promise(() => setInterval(() => {}, 1_000));
  if (behaviour === 'refuses') throw new OracleError('DATA_DIR_IN_USE', 'taken', { field: 'DATA_DIR', suggestedAction: 'wait' });
  if (behaviour === 'throws') throw new TypeError('no such thing');
  if (behaviour === 'dies') die();
  if (behaviour === 'dies later') setTimeout(die, 100);
  const close = () => (behaviour === 'never closes' ? new Promise<void>(() => {}) : delay(50));
  return { ready: { behaviour, pid: process.pid }, close };
});

function die(): never {
  console.error(`the end ${'.'.repeat(5_000)} is near`);
  process.exit(3);
}
