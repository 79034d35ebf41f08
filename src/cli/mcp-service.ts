import { runService } from '../main.ts';

/** The service as a child of `npm run mcp`; stops when the parent disconnects. */
let stopping = false;
process.once('SIGTERM', () => {
  stopping = true;
});
process.once('disconnect', () => {
  // A second signal would end the process at once, without a clean shutdown.
  if (!stopping) process.kill(process.pid, 'SIGTERM');
});
await runService();
