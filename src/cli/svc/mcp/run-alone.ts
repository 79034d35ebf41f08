import { handleBrokenPipes } from '../broken-pipes.ts';
import { mcpCommand } from '../commands/mcp.ts';
import { printError } from '../errors/print-error.ts';
import { createTerminalContext, type TerminalEnvironment } from '../terminal-context.ts';

/** `svc mcp` by its environment, without the other commands: the entry of a bundle. */
export async function runMcpAlone(environment: TerminalEnvironment): Promise<void> {
  handleBrokenPipes();
  const context = createTerminalContext(environment);
  process.exitCode = await mcpCommand.run(context, {}, []).catch((error: unknown) => printError(error, context));
}
