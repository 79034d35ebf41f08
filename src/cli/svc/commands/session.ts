import { z } from 'zod';
import { logInWallet } from '../../../auth/login-client.ts';
import { isOracleError, OracleError } from '../../../errors.ts';
import {
  JSON_OPTION,
  printJson,
  printNotice,
  printResult,
  queryService,
  resolveServiceUrl,
  resolveToken,
  type ServiceValues,
  TOKEN_OPTION,
  URL_OPTION,
} from '../command.ts';
import {
  type CliContext,
  EXIT,
  getSessionsFile,
  readLiveSessions,
  readSession,
  type StoredSession,
  type SvcCommand,
  writePrivateFile,
} from '../context.ts';
import { KEY_OPTIONS, type KeyOptions, loadAccount } from '../secrets.ts';
import { formatFacts, formatMinute } from '../text.ts';

/** Interface, section 4.2. */
export const loginCommand: SvcCommand<ServiceValues & KeyOptions & { print?: boolean }> = {
  example: `svc login --wallet premium
  TOKEN=$(PRIVATE_KEY=0x... svc login)`,
  description: `The wallet signs a message, which is free. The Basic tier needs 500,000,000 gate tokens, Premium twice as many.
The token expires after 30 minutes and is stored in $XDG_CONFIG_HOME/bitcoin-signal-oracle, readable only by you.`,
  options: [
    ...KEY_OPTIONS,
    URL_OPTION,
    ['--print', 'print the token on a terminal, too; elsewhere it is all that is printed'],
    [JSON_OPTION[0], 'print the session as JSON'],
  ],
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
      printNotice(context, `Logged in at ${url} as ${wallet} (${tier}) until ${until}; the token is stored in ${getSessionsFile(context)}`);
    }
    return EXIT.ok;
  },
};

/** Stores the session by the URL of its service. @throws OracleError CONFIG_INVALID */
async function storeSession(context: CliContext, url: string, session: StoredSession): Promise<void> {
  const { token, wallet, tier, expiresAt } = session;
  await writePrivateFile(getSessionsFile(context), { ...(await readLiveSessions(context)), [url]: { token, wallet, tier, expiresAt } });
}

const CLAIMS = z.object({ sub: z.string().regex(/^0x[0-9a-fA-F]{40}$/), exp: z.number() });
const SIGNAL_ACCESS = z.object({ access: z.object({ tier: z.string(), wallet: z.string() }) });
const BALANCE = z.object({ wallet: z.string(), balance: z.string(), tier: z.string(), blockNumber: z.number() });

export const whoamiCommand: SvcCommand<ServiceValues & { token?: string }> = {
  example: 'svc whoami',
  description: 'The service checks the token; the balance is read from the chain.',
  options: [URL_OPTION, TOKEN_OPTION, JSON_OPTION],
  footer: 'Exits with 1 without a login, or when the token is rejected.',
  async run(context, { json, ...options }) {
    const url = await resolveServiceUrl(context, options.url);
    const token = await resolveToken(context, url, options.token);
    if (token === undefined) throw new OracleError('UNAUTHENTICATED', `Not logged in at ${url}`);
    // Only the service knows whether the session was ended or the balance has dropped.
    const { access } = (await queryService({ url, path: '/api/svc/oracle', token, schema: SIGNAL_ACCESS })).answer;
    const { balance, blockNumber } = (await queryService({ url, path: `/api/svc/verify/${access.wallet}`, schema: BALANCE })).answer;
    const { wallet, tier } = access;
    const expiresAt = parseTokenExpiry(token);
    printResult(context, json, { url, wallet, tier, expiresAt, balance, blockNumber }, (writer) =>
      formatFacts(
        [
          ['Service', url],
          ['Wallet', wallet],
          ['Tier', tier],
          ['Balance', `${balance} gate tokens at block ${blockNumber}`],
          ['Until', expiresAt === null ? null : `${formatMinute(expiresAt)} UTC`],
        ],
        writer,
      ),
    );
    return EXIT.ok;
  },
};

/** Reads the unverified `exp` claim; the service has verified the token. */
function parseTokenExpiry(token: string): string | null {
  try {
    const { data } = CLAIMS.safeParse(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')));
    return data === undefined ? null : new Date(data.exp * 1_000).toISOString();
  } catch {
    return null;
  }
}

export const logoutCommand: SvcCommand<ServiceValues> = {
  example: 'svc logout',
  options: [URL_OPTION, JSON_OPTION],
  async run(context, { json, ...options }) {
    const url = await resolveServiceUrl(context, options.url);
    const session = await readSession(context, url);
    const wallet = session?.wallet ?? null;
    if (session !== null) {
      // Deleted first: the token must not be used here again, even when the service does not answer.
      await removeSession(context, url);
      await endSession(url, session);
    }
    const message = wallet === null ? `Not logged in at ${url}.` : `Logged out ${wallet} at ${url}.`;
    printResult(context, json, { url, ended: wallet !== null, wallet }, () => [message]);
    return EXIT.ok;
  },
};

/** @throws OracleError CONFIG_INVALID */
async function removeSession(context: CliContext, url: string): Promise<void> {
  const { [url]: gone, ...others } = await readLiveSessions(context);
  if (gone !== undefined) await writePrivateFile(getSessionsFile(context), others);
}

async function endSession(url: string, { token, expiresAt }: StoredSession): Promise<void> {
  try {
    await queryService({ url, path: '/api/svc/oracle/session', method: 'DELETE', token, schema: z.object({ wallet: z.string() }) });
  } catch (error) {
    if (isOracleError(error, 'UNAUTHENTICATED')) return;
    if (!isOracleError(error, 'SERVICE_UNREACHABLE')) throw error;
    throw new OracleError(error.code, `${error.message}: the token is deleted here, but valid there until ${formatMinute(expiresAt)} UTC`);
  }
}
