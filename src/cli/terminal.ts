import { createInterface } from 'node:readline/promises';
import type { Host } from './host.ts';
import { runCli } from './main.ts';

/** What the program has of the folder that it stands in, and of the process. */
export type Surroundings = Pick<Host, 'environment' | 'version' | 'localUrl' | 'demo' | 'openAudit'>;

const INTERRUPTED = 130;

/** Runs the program on the streams of this process, which ends with its code. */
export async function runOnTerminal(words: string[], surroundings: Surroundings): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', endQuietly);
  const { stdin, stdout, stderr } = process;
  process.exitCode = await runCli(words, {
    ...surroundings,
    ...{ out: stdout, err: stderr, interrupted, now: () => new Date() },
    ask: stdin.isTTY && stderr.isTTY ? askPerson : null,
  });
}

/** Whoever read has gone (`| head`). */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
}

function interrupted(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(INTERRUPTED);
      controller.abort();
    });
  }
  return controller.signal;
}

/** On standard error: the answer may be on its way into a file. */
async function askPerson(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  terminal.on('SIGINT', () => process.exit(INTERRUPTED));
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  const answer = await Promise.race([terminal.question(question), closed]);
  terminal.close();
  return answer;
}
