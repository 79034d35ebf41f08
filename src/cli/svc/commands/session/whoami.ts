import { z } from 'zod';
import { OracleError } from '../../../../platform/errors.ts';
import { JSON_OPTION, type ServiceValues, TOKEN_OPTION, URL_OPTION } from '../../arguments.ts';
import { EXIT, type SvcCommand } from '../../command.ts';
import { printResult } from '../../print.ts';
import { queryService, resolveServiceUrl, resolveToken } from '../../service-request.ts';
import { formatMinute } from '../../text/amounts.ts';
import { formatFacts } from '../../text/facts.ts';

const CLAIMS = z.object({ sub: z.string().regex(/^0x[0-9a-fA-F]{40}$/), exp: z.number() });
const SIGNAL_ACCESS = z.object({ access: z.object({ tier: z.string(), wallet: z.string() }) });
const BALANCE = z.object({ wallet: z.string(), balance: z.string(), tier: z.string(), blockNumber: z.number() });

export const whoamiCommand: SvcCommand<ServiceValues & { token?: string }> = {
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
