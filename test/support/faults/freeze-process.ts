import { setTimeout as delay } from 'node:timers/promises';

/** Stops a process without ending it, and lets it continue after a time: what it was sent meanwhile it then reads. */
export async function freezeProcess(pid: number, ms: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  try {
    await delay(ms);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}
