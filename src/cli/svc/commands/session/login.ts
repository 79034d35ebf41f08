import { logInWallet } from '../../../../auth/login/login-client.ts';
import { JSON_OPTION, type ServiceValues, URL_OPTION } from '../../arguments.ts';
import { EXIT, type SvcCommand } from '../../command.ts';
import { printJson, printNotice, printResult } from '../../print.ts';
import { KEY_OPTIONS, type KeyOptions, loadAccount } from '../../secrets/keys.ts';
import { getSessionsFile, storeSession } from '../../secrets/sessions.ts';
import { resolveServiceUrl } from '../../service-request.ts';
import { formatMinute } from '../../text/amounts.ts';
import { formatFacts } from '../../text/facts.ts';

/** Interface, section 4.2. */
export const loginCommand: SvcCommand<ServiceValues & KeyOptions & { print?: boolean }> = {
  description: `The wallet signs a message, which is free. The Basic tier needs 500,000,000 gate tokens, Premium twice as many.
The token expires after 30 minutes and is stored in $XDG_CONFIG_HOME/bitcoin-signal-oracle, readable only by you.`,
  options: [
    ...KEY_OPTIONS,
    URL_OPTION,
    ['--print', 'print the token on a terminal, too; elsewhere it is all that is printed'],
    [JSON_OPTION[0], 'print the session as JSON'],
  ],
  footer: `Examples:
  svc login --wallet premium
  TOKEN=$(PRIVATE_KEY=0x... svc login)`,
  async run(context, { json, ...options }) {
    const url = await resolveServiceUrl(context, options.url);
    const account = await loadAccount(options, context);
    const session = await logInWallet(account, url, { timestamp: context.now().getTime() });
    await storeSession(context, url, session);
    const { token, tier, wallet, expiresAt } = session;
    const until = `${formatMinute(expiresAt)} UTC`;
    const isTerminal = context.out.isTTY === true;
    const printsToken = options.print === true || !isTerminal;
    if (json) printJson(context, { url, wallet, tier, expiresAt, ...(printsToken ? { token } : {}) });
    else if (isTerminal) {
      const rows = [
        ['Wallet', wallet],
        ['Tier', tier],
        ['Until', until],
        ['Stored in', getSessionsFile(context)],
        ['Token', printsToken ? token : null],
      ] as const;
      printResult(context, json, null, (writer) => [`Logged in at ${url}`, ...formatFacts(rows, writer)]);
    } else {
      context.out.write(`${token}\n`);
      printNotice(context, `Logged in at ${url} as ${wallet} (${tier}) until ${until}`);
    }
    return EXIT.ok;
  },
};
