import { isOracleError, OracleError, UsageError } from '../../errors.ts';
import { formatJson, printNoticeLines } from './command.ts';
import { mcpCommand } from './commands/mcp.ts';
import { type CliContext, createTerminalContext, EXIT, handleBrokenPipes, type TerminalEnvironment } from './context.ts';
import { wrapText } from './text.ts';

/** `svc mcp` by its environment, without the other commands: the entry of a bundle. */
export async function runMcpAlone(environment: TerminalEnvironment): Promise<void> {
  handleBrokenPipes();
  const context = createTerminalContext(environment);
  process.exitCode = await mcpCommand.run(context, {}, []).catch((error: unknown) => printError(error, context));
}

const MAX_CHARS = 600;
const MAX_STACK_LINES = 8;

type ErrorContext = Pick<CliContext, 'err' | 'environment' | 'json'>;

/** Prints message and suggested action, or with `--json` a JSON document in one line. @returns the exit code */
export function printError(error: unknown, context: ErrorContext, findHint = getHint): number {
  if (context.json === true) {
    const document = toErrorDocument(error, isOracleError(error) ? findHint(error) : undefined);
    context.err.write(`${formatJson(context.err, document)}\n`);
  } else {
    const [message, details] = isOracleError(error) ? formatKnownError(error, findHint(error)) : formatUnexpectedError(error);
    printNoticeLines(context, (writer) => [
      ...wrapText(message.slice(0, MAX_CHARS), writer.width).map((line) => writer.paint('red', line)),
      ...details.flatMap((line) => wrapText(line.slice(0, MAX_CHARS), writer.width)),
    ]);
  }
  return error instanceof UsageError ? EXIT.misused : EXIT.failed;
}

function formatKnownError(error: OracleError, hint: string | undefined): [string, string[]] {
  const message = error instanceof UsageError || error.code === 'INTERNAL' ? error.message : `${error.code}: ${error.message}`;
  return [message, hint === undefined ? [] : [hint]];
}

/** Replaces the general action of the service by the command of this program where there is one. */
function getHint({ code, suggestedAction, retryAfterSeconds }: OracleError): string | undefined {
  if (code === 'UNAUTHENTICATED') return `Log in with svc login.${suggestedAction === undefined ? '' : ` (${suggestedAction})`}`;
  if (code === 'RATE_LIMITED' && retryAfterSeconds !== undefined) return `Try again in ${retryAfterSeconds} s.`;
  if (code === 'SERVICE_UNREACHABLE') return 'Start it with npm start, or set --url or SERVICE_URL.';
  return suggestedAction;
}

function formatUnexpectedError(error: unknown): [string, string[]] {
  const text = (error instanceof Error ? error.stack : undefined) ?? String(error);
  const [message, ...stack] = maskEndpoints(text).split('\n');
  return [`Unexpected error: ${message}`, stack.slice(0, MAX_STACK_LINES)];
}

/** An error as one JSON document; fields that it does not have are null. */
interface ErrorDocument {
  code: string;
  message: string;
  /** The option, argument or setting at fault. */
  field: string | null;
  suggestedAction: string | null;
  /** Whether the same call may succeed later. */
  retryable: boolean;
  retryAfterSeconds: number | null;
}

/** @param suggestedAction replaces that of the error. Unknown errors become INTERNAL with their masked message. */
export function toErrorDocument(error: unknown, suggestedAction?: string): ErrorDocument {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const known = isOracleError(error) ? error : new OracleError('INTERNAL', maskEndpoints(text));
  const { code, message, field = null, retryable, retryAfterSeconds = null } = known;
  return { code, message, field, suggestedAction: suggestedAction ?? known.suggestedAction ?? null, retryable, retryAfterSeconds };
}

/** URLs of endpoints may contain an access key. */
function maskEndpoints(text: string): string {
  return text.replaceAll(/\b(https?|wss?):\/\/\S+/g, '<endpoint>');
}
