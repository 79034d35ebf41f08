// The thread that self-tests are computed in: gets its work as `workerData`, posts each report as it is there.
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { computeReports } from './computations.ts';
import type { ComputeThreadInput } from './compute-in-thread.ts';

const { input, names } = workerData as ComputeThreadInput;
// Who asks for something goes first. Elsewhere than on Linux this would be the priority of the whole process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
for (const computed of computeReports(input, names)) parentPort!.postMessage(computed);
