import { logInWallet } from '../../../auth/login/login-client.ts';
import { parseArguments, SERVICE_HELP } from '../arguments.ts';
import type { SvcCommand } from '../command.ts';
import type { CliContext } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { printJson, printLines, printNotice } from '../print.ts';
import { KEY_HELP, KEY_OPTIONS, loadAccount } from '../secrets/keys.ts';
import { getSessionsFile, type StoredSession, storeSession } from '../secrets/sessions.ts';
import { resolveServiceUrl } from '../service-request.ts';
import { formatMinute } from '../text/amounts.ts';
import { formatFacts } from '../text/facts.ts';

/** Interface, section 4.2. */
export const loginCommand: SvcCommand = {
  name: 'login',
  usage: '[--wallet <name> | --key-file <file>] [options]',
  summary: 'Logs a wallet in, and keeps its token for the other commands',
  help: `The wallet signs a message, which costs nothing; it needs 500,000,000 gate tokens for Basic, and twice as many for Premium.
The token lasts 30 minutes, and is kept where only you can read it: $XDG_CONFIG_HOME/bitcoin-signal-oracle.

${KEY_HELP}
${SERVICE_HELP}
  --print            also prints the token on a terminal; elsewhere it is printed, and nothing else
  --json             the session as JSON

  svc login --wallet premium
  TOKEN=$(PRIVATE_KEY=0x... svc login)`,
  async run(args, context) {
    const { values } = parseArguments(args, {
      ...KEY_OPTIONS,
      ...{ url: { type: 'string' }, print: { type: 'boolean' }, json: { type: 'boolean' } },
    });
    const url = resolveServiceUrl(context, values.url);
    const account = await loadAccount(values, context);
    const session = await logInWallet(account, url, { timestamp: context.now().getTime() });
    await storeSession(context, url, session);
    printSession(context, session, { url, json: values.json === true, print: values.print === true || context.out.isTTY !== true });
    return EXIT.ok;
  },
};

interface LoginOutputOptions {
  url: string;
  json: boolean;
  /** Whether the token may be told. */
  print: boolean;
}

function printSession(
  context: CliContext,
  { token, tier, wallet, expiresAt }: StoredSession,
  { url, json, print }: LoginOutputOptions,
): void {
  if (json) printJson(context, { url, wallet, tier, expiresAt, ...(print ? { token } : {}) });
  else if (context.out.isTTY) {
    const rows = [
      ['Wallet', wallet],
      ['Tier', tier],
      ['Until', `${formatMinute(expiresAt)} UTC`],
      ['Kept in', getSessionsFile(context)],
    ] as const;
    printLines(context, (writer) => [`Logged in at ${url}`, ...formatFacts([...rows, ['Token', print ? token : null]], writer)]);
  } else {
    context.out.write(`${token}\n`);
    printNotice(context, `Logged in at ${url} as ${wallet} (${tier}) until ${formatMinute(expiresAt)} UTC`);
  }
}
