import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ComputeMessage, type ComputeRequest, computeReports } from './self-test-process.ts';

// Child process of `computeInProcess`: takes one request, sends each report, and exits when the channel closes.

// Requests take precedence.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
const [request] = (await once(process, 'message')) as [ComputeRequest];
try {
  for (const computed of computeReports(request.input, request.names)) {
    await send({ computed });
    // Lets the end of the parent be seen between two reports.
    await nextTurn();
    if (!process.connected) break;
  }
} catch (error) {
  await send({ error: error as Error });
}
if (process.connected) process.disconnect();

function send(message: ComputeMessage): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  process.send!(message, (error: Error | null) => (error === null ? resolve() : reject(error)));
  return promise;
}
