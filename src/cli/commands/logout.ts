import { z } from 'zod';
import { isOracleError, OracleError } from '../../errors.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import type { Host } from '../host.ts';
import { printJson, printLines } from '../print.ts';
import { forgetSession, storedSession } from '../secrets/sessions.ts';
import { ask, serviceUrl } from '../service.ts';
import { minute } from '../text/amounts.ts';
import { parseWords, SERVICE_HELP } from '../words.ts';

export const logout: Command = {
  name: 'logout',
  takes: '[options]',
  summary: 'Ends the session of svc login, at the service and here',
  help: `${SERVICE_HELP}
  --json             for programs`,
  async run(words, host) {
    const { values } = parseWords(words, { url: { type: 'string' }, json: { type: 'boolean' } });
    const url = serviceUrl(host, values.url);
    const session = await storedSession(host, url);
    if (session === null) return told(host, `Nobody is logged in at ${url}.`, values.json, { url, ended: false, wallet: null });
    // Whatever the service says, the token is not to be used here any more.
    await forgetSession(host, url);
    await end(url, session).catch((error: unknown) => {
      if (!isOracleError(error, 'UNAUTHENTICATED')) throw error;
    });
    return told(host, `Logged out ${session.wallet} at ${url}.`, values.json, { url, ended: true, wallet: session.wallet });
  },
};

async function end(url: string, { token, expiresAt }: { token: string; expiresAt: string }): Promise<void> {
  try {
    await ask({ url, path: '/api/svc/oracle/session', method: 'DELETE', token, as: z.object({ wallet: z.string() }) });
  } catch (error) {
    if (!isOracleError(error) || error.code !== 'SERVICE_UNREACHABLE') throw error;
    throw new OracleError(error.code, `${error.message}: the token is forgotten here, and good there until ${minute(expiresAt)} UTC`);
  }
}

function told(host: Host, words: string, json: boolean | undefined, value: object): number {
  if (json === true || host.out.isTTY !== true) printJson(host, value);
  else printLines(host, () => [words]);
  return EXIT.ok;
}
