import { z } from 'zod';
import { OracleError } from '../../../platform/errors.ts';
import { parseArguments, READER_HELP } from '../arguments.ts';
import type { SvcCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { printJson, printLines, wantsJson } from '../print.ts';
import { queryService, resolveServiceUrl, resolveToken } from '../service-request.ts';
import { formatMinute } from '../text/amounts.ts';
import { formatFacts } from '../text/facts.ts';

const CLAIMS = z.object({ sub: z.string().regex(/^0x[0-9a-fA-F]{40}$/), exp: z.number() });
const SIGNAL_ACCESS = z.object({ access: z.object({ tier: z.string(), wallet: z.string() }) });
const BALANCE = z.object({ wallet: z.string(), balance: z.string(), tier: z.string(), blockNumber: z.number() });

export const whoamiCommand: SvcCommand = {
  name: 'whoami',
  usage: '[options]',
  summary: 'Which wallet you ask as, what it may see, and for how long',
  help: `The service is asked whether the token still holds, and the chain what the wallet has.

${READER_HELP}

Ends with 1 when nobody is logged in, or the token is refused.`,
  async run(args, context) {
    const { values } = parseArguments(args, { url: { type: 'string' }, token: { type: 'string' }, json: { type: 'boolean' } });
    const url = resolveServiceUrl(context, values.url);
    const token = await resolveToken(context, url, values.token);
    if (token === undefined) throw new OracleError('UNAUTHENTICATED', `Nobody is logged in at ${url}`);
    // Only the service can say whether it holds: it may have been ended, or the balance be gone.
    const { access } = (await queryService({ url, path: '/api/svc/oracle', token, schema: SIGNAL_ACCESS })).answer;
    const { balance, blockNumber } = (await queryService({ url, path: `/api/svc/verify/${access.wallet}`, schema: BALANCE })).answer;
    const expiresAt = parseTokenExpiry(token);
    const known = { url, wallet: access.wallet, tier: access.tier, expiresAt, balance, blockNumber };
    if (wantsJson(context, values.json)) printJson(context, known);
    else {
      printLines(context, (writer) =>
        formatFacts(
          [
            ['Service', url],
            ['Wallet', known.wallet],
            ['Tier', known.tier],
            ['Balance', `${balance} gate tokens at block ${blockNumber}`],
            ['Until', expiresAt === null ? null : `${formatMinute(expiresAt)} UTC`],
          ],
          writer,
        ),
      );
    }
    return EXIT.ok;
  },
};

/** What the token says of itself; the service has checked it. */
function parseTokenExpiry(token: string): string | null {
  try {
    const { data } = CLAIMS.safeParse(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')));
    return data === undefined ? null : new Date(data.exp * 1_000).toISOString();
  } catch {
    return null;
  }
}
