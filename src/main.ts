import { runProcess } from './app/process.ts';
import { startService } from './app/startup/start-service.ts';

/** Starts the service; a failed start ends the process with code 1. */
export async function runService(): Promise<void> {
  await runProcess(startService);
}
