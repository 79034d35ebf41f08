import { createInterface } from 'node:readline/promises';
import type { Host } from './host.ts';
import { runCli } from './main.ts';
import { readerGone, survivePipes } from './pipes.ts';

/** What the program has of the folder that it stands in, and of the process. */
type Surroundings = Pick<Host, 'environment' | 'version' | 'localUrl' | 'demo' | 'openAudit'>;

const INTERRUPTED = 130;

/** Runs the program on the streams of this process, which ends with its code. */
export async function runOnTerminal(words: string[], surroundings: Surroundings): Promise<void> {
  survivePipes();
  const { stdin, stdout, stderr } = process;
  process.exitCode = await runCli(words, {
    ...surroundings,
    ...{ out: stdout, err: stderr, interrupted, now: () => new Date() },
    ask: stdin.isTTY && stderr.isTTY ? askPerson : null,
  });
}

function interrupted(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(INTERRUPTED);
      controller.abort();
    });
  }
  return AbortSignal.any([controller.signal, readerGone]);
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
