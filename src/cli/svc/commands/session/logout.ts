import { z } from 'zod';
import { isOracleError, OracleError } from '../../../../platform/errors.ts';
import { JSON_OPTION, type ServiceValues, URL_OPTION } from '../../arguments.ts';
import { EXIT, type SvcCommand } from '../../command.ts';
import { printResult } from '../../print.ts';
import { readSession, removeSession, type StoredSession } from '../../secrets/sessions.ts';
import { queryService, resolveServiceUrl } from '../../service-request.ts';
import { formatMinute } from '../../text/amounts.ts';

export const logoutCommand: SvcCommand<ServiceValues> = {
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

async function endSession(url: string, { token, expiresAt }: StoredSession): Promise<void> {
  try {
    await queryService({ url, path: '/api/svc/oracle/session', method: 'DELETE', token, schema: z.object({ wallet: z.string() }) });
  } catch (error) {
    if (isOracleError(error, 'UNAUTHENTICATED')) return;
    if (!isOracleError(error, 'SERVICE_UNREACHABLE')) throw error;
    throw new OracleError(error.code, `${error.message}: the token is deleted here, but valid there until ${formatMinute(expiresAt)} UTC`);
  }
}
