import { logInWallet } from '../../wallet-login.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import type { Host } from '../host.ts';
import { printJson, printLines, tell } from '../print.ts';
import { accountFor, KEY_HELP, KEY_OPTIONS } from '../secrets/keys.ts';
import { type StoredSession, sessionsFile, storeSession } from '../secrets/sessions.ts';
import { serviceUrl } from '../service.ts';
import { minute } from '../text/amounts.ts';
import { facts } from '../text/facts.ts';
import { parseWords, SERVICE_HELP } from '../words.ts';

/** Interface, section 4.2. */
export const login: Command = {
  name: 'login',
  takes: '[--wallet <name> | --key-file <file>] [options]',
  summary: 'Logs a wallet in, and keeps its token for the other commands',
  help: `The wallet signs a message, which costs nothing; it needs 500,000,000 gate tokens for Basic, and twice as many for Premium.
The token lasts 30 minutes, and is kept where only you can read it: $XDG_CONFIG_HOME/bitcoin-signal-oracle.

${KEY_HELP}
${SERVICE_HELP}
  --print            also prints the token on a terminal; elsewhere it is printed, and nothing else
  --json             the session as JSON

  svc login --wallet premium
  TOKEN=$(PRIVATE_KEY=0x... svc login)`,
  async run(words, host) {
    const { values } = parseWords(words, {
      ...KEY_OPTIONS,
      ...{ url: { type: 'string' }, print: { type: 'boolean' }, json: { type: 'boolean' } },
    });
    const url = serviceUrl(host, values.url);
    const account = await accountFor(values, host);
    const session = await logInWallet(account, url, { timestamp: host.now().getTime() });
    await storeSession(host, url, session);
    show(host, session, { url, json: values.json === true, print: values.print === true || host.out.isTTY !== true });
    return EXIT.ok;
  },
};

interface Shown {
  url: string;
  json: boolean;
  /** Whether the token may be told. */
  print: boolean;
}

function show(host: Host, { token, tier, wallet, expiresAt }: StoredSession, { url, json, print }: Shown): void {
  if (json) printJson(host, { url, wallet, tier, expiresAt, ...(print ? { token } : {}) });
  else if (host.out.isTTY) {
    const rows = [
      ['Wallet', wallet],
      ['Tier', tier],
      ['Until', `${minute(expiresAt)} UTC`],
      ['Kept in', sessionsFile(host)],
    ] as const;
    printLines(host, (pen) => [`Logged in at ${url}`, ...facts([...rows, ['Token', print ? token : null]], pen)]);
  } else {
    host.out.write(`${token}\n`);
    tell(host, `Logged in at ${url} as ${wallet} (${tier}) until ${minute(expiresAt)} UTC`);
  }
}
