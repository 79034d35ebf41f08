import { OracleError } from '../../../platform/errors.ts';
import { JSON_OPTION, parseUrlOption, type ServiceValues, TOKEN_OPTION, URL_OPTION } from '../arguments.ts';
import { EXIT, type SvcCommand } from '../command.ts';
import type { CliContext } from '../context.ts';
import { createMcpEndpoint, type McpEndpointOptions } from '../mcp/mcp-endpoint.ts';
import { relayMcp } from '../mcp/relay.ts';
import { printNotice } from '../print.ts';
import { hasKeyOption, KEY_OPTIONS, type KeyOptions } from '../secrets/keys.ts';
import { createLoginTokenSource } from '../secrets/token-source.ts';
import { resolveServiceUrl, resolveToken } from '../service-request.ts';

type McpValues = Pick<ServiceValues, 'url'> & KeyOptions & { token?: string };

export const mcpCommand: SvcCommand<McpValues> = {
  description: `Tools, resources and prompts are those of the service, which has to run. Without a token the direction of open forecasts is hidden.
With a wallet it logs in when it is called, and renews its token.`,
  options: [
    [URL_OPTION[0], 'the service; or ORACLE_URL or SERVICE_URL (default: the service of this machine)', URL_OPTION[2]],
    TOKEN_OPTION,
    ...KEY_OPTIONS,
    [JSON_OPTION[0], 'print notices and errors as JSON'],
  ],
  footer: 'Notices are written to standard error. It ends when its standard input does.',
  async run(context, { token, ...options }) {
    const { input } = context;
    if (input === undefined) throw new OracleError('INTERNAL', 'The process has no standard input');
    const url = await resolveMcpService(context, options.url);
    const signal = context.createInterruptSignal();
    const onNotice = (text: string) => printNotice(context, text);
    const endpoint = createMcpEndpoint({ url, onNotice, ...(await chooseTokens(context, { ...options, token, url, signal })) });
    await relayMcp({ input, output: context.out, endpoint, signal, onNotice });
    return EXIT.ok;
  },
};

/** Assistants are given the address of the endpoint, which users repeat here. */
async function resolveMcpService(context: CliContext, url: string | undefined): Promise<string> {
  const { ORACLE_URL: configured = '' } = context.environment;
  const named = url ?? (configured === '' ? undefined : parseUrlOption('ORACLE_URL', configured));
  return (await resolveServiceUrl(context, named)).replace(/\/mcp$/, '');
}

type TokenOptions = KeyOptions & { url: string; signal: AbortSignal; token: string | undefined };

async function chooseTokens(
  context: CliContext,
  { token, ...options }: TokenOptions,
): Promise<Pick<McpEndpointOptions, 'getToken' | 'forgetToken'>> {
  if (token === undefined && hasKeyOption(options, context)) return createLoginTokenSource(context, options);
  const getToken = () => resolveToken(context, options.url, token);
  // A malformed token stops the start.
  await getToken();
  return { getToken, forgetToken: () => false };
}
