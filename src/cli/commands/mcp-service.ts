import { runService } from '../../main.ts';

/** The service as a child of `npm run mcp`: it ends with it, however that ends. */
let stopping = false;
process.once('SIGTERM', () => {
  stopping = true;
});
process.once('disconnect', () => {
  // A second signal would end it at once, with nothing closed.
  if (!stopping) process.kill(process.pid, 'SIGTERM');
});
await runService();
