// Worker thread of `computeInThread`: reads `workerData`, posts each report.
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { computeReports } from './computations.ts';
import type { ComputeThreadInput } from './compute-in-thread.ts';

const { input, names } = workerData as ComputeThreadInput;
// Requests take precedence. Linux sets the priority of a thread; other systems would lower that of the whole process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
for (const computed of computeReports(input, names)) parentPort!.postMessage(computed);
