import { stdoutClosedSignal } from './broken-pipes.ts';
import type { CliContext } from './context.ts';

const EXIT_INTERRUPTED = 130;

/** What the process does not know by itself. */
export type TerminalEnvironment = Pick<CliContext, 'environment' | 'version' | 'localUrl' | 'demo' | 'openAudit' | 'runDoctor'>;

/** The streams, signals and clock of this process. */
export function createTerminalContext(environment: TerminalEnvironment): CliContext {
  const { stdin, stdout, stderr } = process;
  return {
    ...environment,
    input: stdin,
    out: stdout,
    err: stderr,
    createInterruptSignal,
    now: () => new Date(),
    prompt: stdin.isTTY && stderr.isTTY ? promptUser : null,
  };
}

function createInterruptSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(EXIT_INTERRUPTED);
      controller.abort();
    });
  }
  return AbortSignal.any([controller.signal, stdoutClosedSignal]);
}

/** Prompts on standard error, since standard output may be redirected into a file. */
async function promptUser(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  terminal.on('SIGINT', () => process.exit(EXIT_INTERRUPTED));
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  const answer = await Promise.race([terminal.question(question), closed]);
  terminal.close();
  return answer;
}
