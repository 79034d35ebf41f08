import { z } from 'zod';
import { OracleError } from '../../errors.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { printJson, printLines, wantsJson } from '../print.ts';
import { ask, serviceUrl, tokenFor } from '../service.ts';
import { minute } from '../text/amounts.ts';
import { facts } from '../text/facts.ts';
import { parseWords, READER_HELP } from '../words.ts';

const CLAIMS = z.object({ sub: z.string().regex(/^0x[0-9a-fA-F]{40}$/), exp: z.number() });
const SIGNAL = z.object({ access: z.object({ tier: z.string(), wallet: z.string() }) });
const BALANCE = z.object({ wallet: z.string(), balance: z.string(), tier: z.string(), blockNumber: z.number() });

export const whoami: Command = {
  name: 'whoami',
  takes: '[options]',
  summary: 'Which wallet you ask as, what it may see, and for how long',
  help: `The service is asked whether the token still holds, and the chain what the wallet has.

${READER_HELP}

Ends with 1 when nobody is logged in, or the token is refused.`,
  async run(words, host) {
    const { values } = parseWords(words, { url: { type: 'string' }, token: { type: 'string' }, json: { type: 'boolean' } });
    const url = serviceUrl(host, values.url);
    const token = await tokenFor(host, url, values.token);
    if (token === undefined) throw new OracleError('UNAUTHENTICATED', `Nobody is logged in at ${url}`);
    // Only the service can say whether it holds: it may have been ended, or the balance be gone.
    const { access } = (await ask({ url, path: '/api/svc/oracle', token, as: SIGNAL })).answer;
    const { balance, blockNumber } = (await ask({ url, path: `/api/svc/verify/${access.wallet}`, as: BALANCE })).answer;
    const expiresAt = expiryOf(token);
    const known = { url, wallet: access.wallet, tier: access.tier, expiresAt, balance, blockNumber };
    if (wantsJson(host, values.json)) printJson(host, known);
    else {
      printLines(host, (pen) =>
        facts(
          [
            ['Service', url],
            ['Wallet', known.wallet],
            ['Tier', known.tier],
            ['Balance', `${balance} gate tokens at block ${blockNumber}`],
            ['Until', expiresAt === null ? null : `${minute(expiresAt)} UTC`],
          ],
          pen,
        ),
      );
    }
    return EXIT.ok;
  },
};

/** What the token says of itself; the service has checked it. */
function expiryOf(token: string): string | null {
  try {
    const { data } = CLAIMS.safeParse(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')));
    return data === undefined ? null : new Date(data.exp * 1_000).toISOString();
  } catch {
    return null;
  }
}
