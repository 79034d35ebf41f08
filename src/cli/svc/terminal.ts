import { handleBrokenPipes, stdoutClosedSignal } from './broken-pipes.ts';
import type { CommandEntry } from './command.ts';
import type { CliContext } from './context.ts';
import { runCli } from './main.ts';

const EXIT_INTERRUPTED = 130;

export async function runOnTerminal(
  args: string[],
  environment: Pick<CliContext, 'environment' | 'version' | 'localUrl' | 'demo' | 'openAudit' | 'runDoctor'>,
  commands?: readonly CommandEntry[],
): Promise<void> {
  handleBrokenPipes();
  const { stdin, stdout, stderr } = process;
  const context: CliContext = {
    ...environment,
    input: stdin,
    out: stdout,
    err: stderr,
    createInterruptSignal,
    now: () => new Date(),
    prompt: stdin.isTTY && stderr.isTTY ? promptUser : null,
  };
  process.exitCode = await runCli(args, context, commands);
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
