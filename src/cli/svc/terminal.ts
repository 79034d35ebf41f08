import { handleBrokenPipes } from './broken-pipes.ts';
import type { CommandEntry } from './command.ts';
import { runCli } from './main.ts';
import { createTerminalContext, type TerminalEnvironment } from './terminal-context.ts';

export async function runOnTerminal(args: string[], environment: TerminalEnvironment, commands?: readonly CommandEntry[]): Promise<void> {
  handleBrokenPipes();
  process.exitCode = await runCli(args, createTerminalContext(environment), commands);
}
