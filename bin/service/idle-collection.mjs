import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';

const CHECK_MS = 1_000;
/** Between two collections, each of which stops the event loop for a quarter of a second. */
const MIN_PAUSE_MS = 10_000;
/** By how much the heap has grown since the last collection, and up to which share of its time the event loop may be busy then. */
const RULES = [
  { grownBytes: 48e6, maxBusy: 0.3 },
  { grownBytes: 16e6, maxBusy: 0.1 },
];

/** Also drops the code of functions that have not run since the collection before: most of it has run once, at the start. */
const FLAGS_OF_COLLECTION = ['--bytecode-old-age=1', '--flush-baseline-code'];
/** V8's own. */
const FLAGS_AFTERWARDS = ['--bytecode-old-age=6', '--no-flush-baseline-code'];

/**
 * Collects garbage, and returns its memory to the system, whenever the process has little to do and its heap has grown. V8 by itself
 * waits until the heap has doubled or more. A busy process is left alone.
 */
export function collectWhenIdle() {
  v8.setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  let last = performance.eventLoopUtilization();
  let keptBytes = 0;
  let collectedAtMs = Number.NEGATIVE_INFINITY;
  setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(last);
    last = performance.eventLoopUtilization();
    const grownBytes = v8.getHeapStatistics().total_heap_size - keptBytes;
    const isPaused = performance.now() - collectedAtMs < MIN_PAUSE_MS;
    if (isPaused || !RULES.some((rule) => grownBytes >= rule.grownBytes && utilization <= rule.maxBusy)) return;
    for (const flag of FLAGS_OF_COLLECTION) v8.setFlagsFromString(flag);
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    for (const flag of FLAGS_AFTERWARDS) v8.setFlagsFromString(flag);
    collectedAtMs = performance.now();
    keptBytes = v8.getHeapStatistics().total_heap_size;
    last = performance.eventLoopUtilization();
  }, CHECK_MS).unref();
}
