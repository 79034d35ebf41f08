import type { CliContext, DemoDeployment } from '../../../src/cli/svc/context.ts';
import { runCli } from '../../../src/cli/svc/main.ts';
import type { TestService } from './service.ts';

export interface CliRun {
  code: number;
  out: string;
  err: string;
}

export interface CliOptions extends Partial<Omit<CliContext, 'out' | 'err'>> {
  /** Width of the terminal; unset: standard output is a pipe. */
  columns?: number;
  /** Called on each write. */
  onOut?(text: string): void;
  onErr?(text: string): void;
}

/** Runs the command line in this process with captured streams and without the environment of the test. */
export async function cli(words: string[], { columns, onOut, onErr, ...more }: CliOptions = {}): Promise<CliRun> {
  const written = { out: '', err: '' };
  const screen = (name: 'out' | 'err') => ({
    ...(columns === undefined ? {} : { isTTY: true, columns }),
    write: (text: string) => {
      written[name] += text;
      (name === 'out' ? onOut : onErr)?.(text);
    },
  });
  const code = await runCli(words, {
    ...{ out: screen('out'), err: screen('err'), environment: {}, version: '0.0.0-test', prompt: null },
    ...{ createInterruptSignal: () => new AbortController().signal, now: () => new Date() },
    ...more,
  });
  return { code, ...written };
}

/** The demo deployment of a test service. */
export function demoOf({ infrastructure }: Pick<TestService, 'infrastructure'>): () => Promise<DemoDeployment> {
  return async () => infrastructure.demo as DemoDeployment;
}

/** Removes colour sequences. */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  return text.replace(/\x1b\[\d+m/g, '');
}
