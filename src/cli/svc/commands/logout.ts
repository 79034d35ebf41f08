import { z } from 'zod';
import { isOracleError, OracleError } from '../../../platform/errors.ts';
import { parseArguments, SERVICE_HELP } from '../arguments.ts';
import type { SvcCommand } from '../command.ts';
import type { CliContext } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { printJson, printLines } from '../print.ts';
import { readSession, removeSession } from '../secrets/sessions.ts';
import { queryService, resolveServiceUrl } from '../service-request.ts';
import { formatMinute } from '../text/amounts.ts';

export const logoutCommand: SvcCommand = {
  name: 'logout',
  usage: '[options]',
  summary: 'Ends the session of svc login, at the service and here',
  help: `${SERVICE_HELP}
  --json             for programs`,
  async run(args, context) {
    const { values } = parseArguments(args, { url: { type: 'string' }, json: { type: 'boolean' } });
    const url = resolveServiceUrl(context, values.url);
    const session = await readSession(context, url);
    if (session === null) return printResult(context, `Nobody is logged in at ${url}.`, values.json, { url, ended: false, wallet: null });
    // Whatever the service says, the token is not to be used here any more.
    await removeSession(context, url);
    await endSession(url, session).catch((error: unknown) => {
      if (!isOracleError(error, 'UNAUTHENTICATED')) throw error;
    });
    return printResult(context, `Logged out ${session.wallet} at ${url}.`, values.json, { url, ended: true, wallet: session.wallet });
  },
};

async function endSession(url: string, { token, expiresAt }: { token: string; expiresAt: string }): Promise<void> {
  try {
    await queryService({ url, path: '/api/svc/oracle/session', method: 'DELETE', token, schema: z.object({ wallet: z.string() }) });
  } catch (error) {
    if (!isOracleError(error) || error.code !== 'SERVICE_UNREACHABLE') throw error;
    throw new OracleError(error.code, `${error.message}: the token is forgotten here, and good there until ${formatMinute(expiresAt)} UTC`);
  }
}

function printResult(context: CliContext, args: string, json: boolean | undefined, value: object): number {
  if (json === true || context.out.isTTY !== true) printJson(context, value);
  else printLines(context, () => [args]);
  return EXIT.ok;
}
