import { runProcess } from './app/app.ts';
import { startService } from './app/startup.ts';

/** Starts the service; a failed start ends the process with code 1. */
export async function runService(): Promise<void> {
  await runProcess(startService);
}
