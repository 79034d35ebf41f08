import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { logInWallet, type WalletSession } from '../../../auth/login/login-client.ts';
import { isOracleError, OracleError } from '../../../platform/errors.ts';
import { formatStartupStep } from '../../../platform/startup-progress.ts';
import { UsageError } from '../../../platform/usage-error.ts';
import { parseArguments, READER_HELP } from '../arguments.ts';
import type { SvcCommand } from '../command.ts';
import type { CliContext } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { formatJson, printNotice } from '../print.ts';
import { hasKeyOption, KEY_HELP, KEY_OPTIONS, type KeyOptions, loadAccount } from '../secrets/keys.ts';
import { queryService, resolveServiceUrl, resolveToken } from '../service-request.ts';
import { createTerminalWriter, sanitizeLine } from '../text/style.ts';
import { formatEventLine } from '../watch/event-line.ts';
import { type FollowStreamOptions, followStream } from '../watch/follow.ts';

/** As the interface has it (section 6.1). */
const RECONNECT_MS = 5_000;
const MAX_WAIT_MS = 3_600_000;
const TOKEN_ENDED_CODE = 4001;
/** A login that is about to end is no good for a new connection. */
const MIN_REMAINING_MS = 60_000;

const TEXT = { type: 'string' } as const;
const OPTIONS = { ...KEY_OPTIONS, url: TEXT, token: TEXT, since: TEXT, events: TEXT, horizon: TEXT, json: { type: 'boolean' } } as const;

const HEALTH = z.object({ setup: z.object({ what: z.string(), done: z.number().nullable(), total: z.number().nullable() }).nullable() });

/** Interface, section 6.1. */
export const watchCommand: SvcCommand = {
  name: 'watch',
  usage: '[--since <id>] [options]',
  summary: 'Prints what happens as it happens, through drops and restarts of the service',
  help: `One line an event on a terminal, one JSON document a line elsewhere. Ctrl-C ends it. It needs the Basic tier: with a key it logs in by
itself, again and again; with a token, or the login of svc login, it goes on until that ends.

  --since <id>       also what happened after that event; 0: all that is kept (90 days)
  --events <names>   such as signal.new,signal.resolved; default: all
  --horizon <days>   such as 7d, 2d,7d or all; default: 7d. Events without a horizon come in any case
${KEY_HELP}
${READER_HELP}

  svc watch --since 0 --events signal.resolved | jq -r .data.outcome`,
  async run(args, context) {
    const { values } = parseArguments(args, OPTIONS);
    if (values.since !== undefined && !/^\d{1,15}$/.test(values.since)) throw new UsageError('--since', 'must be the id of an event, or 0');
    const url = resolveServiceUrl(context, values.url);
    const asJson = values.json === true || context.out.isTTY !== true;
    const writer = createTerminalWriter(context.out, context);
    const signal = context.createInterruptSignal();
    const follow: FollowStreamOptions = {
      url,
      query: { since: values.since, events: values.events, horizons: values.horizon },
      ...(await createTokenSource(context, { ...values, url, signal })),
      onEvent: (event) => {
        context.out.write(`${asJson ? formatJson(context.out, event) : sanitizeLine(formatEventLine(event, writer))}\n`);
      },
      onConnected: () => void printStartupStep(url, context),
      onNotice: (text) => printNotice(context, text),
      signal,
    };
    return followUntilStopped(follow, context);
  },
};

/** Why nothing comes yet, of a service that is at its start: the events of a replay are told once it is done. Without an answer, nothing. */
async function printStartupStep(url: string, context: CliContext): Promise<void> {
  const health = await queryService({ url, path: '/health', schema: HEALTH }).catch(() => null);
  const left = health === null ? null : formatStartupStep({ current: health.answer.setup });
  if (left !== null) printNotice(context, `the service is being set up (${left}): the events of that come once it is done`);
}

/** Connects again whatever happens, but for a refusal that would be the same again. */
async function followUntilStopped(follow: FollowStreamOptions, context: CliContext): Promise<number> {
  const { signal } = follow;
  while (!signal.aborted) {
    const { words: args, waitMs } = await followStream(follow).then(
      ({ code, reason }) => {
        if (code === TOKEN_ENDED_CODE) follow.forgetToken();
        return { words: `closed: ${code} ${reason}`.trimEnd(), waitMs: RECONNECT_MS };
      },
      (error: unknown) => {
        if (signal.aborted) return { words: '', waitMs: 0 };
        if (isPermanentError(error) && !(isOracleError(error, 'UNAUTHENTICATED') && follow.forgetToken())) throw error;
        return { words: formatConnectionError(error, follow.url), waitMs: getRetryDelayMs(error) };
      },
    );
    if (signal.aborted) break;
    printNotice(context, `${args}; again in ${waitMs / 1_000} s`);
    await delay(waitMs, undefined, { signal }).catch(() => {});
  }
  return EXIT.ok;
}

/** As long as the service asks for, within reason. */
function getRetryDelayMs(error: unknown): number {
  const askedMs = isOracleError(error) ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
  return Math.min(MAX_WAIT_MS, Math.max(RECONNECT_MS, askedMs));
}

function isPermanentError(error: unknown): boolean {
  return isOracleError(error) && !error.retryable;
}

function formatConnectionError(error: unknown, url: string): string {
  return isOracleError(error) ? `${error.code}: ${error.message}` : `no service answers at ${url} (${getErrorCode(error)})`;
}

function getErrorCode(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : 'no connection';
}

type TokenSource = Pick<FollowStreamOptions, 'getToken' | 'renewToken' | 'forgetToken'>;
type TokenOptions = KeyOptions & Pick<FollowStreamOptions, 'url' | 'signal'> & { token?: string };

/** A key gives a token whenever one is needed; a token that was named, or kept, lasts as long as it lasts. */
async function createTokenSource(context: CliContext, { url, signal, ...values }: TokenOptions): Promise<TokenSource> {
  if (values.token === undefined && hasKeyOption(values, context)) {
    const account = await loadAccount(values, context);
    return createLoginTokenSource(async () => logInWallet(account, url, { timestamp: context.now().getTime(), signal }), context);
  }
  const token = async () => {
    const found = await resolveToken(context, url, values.token);
    if (found === undefined) throw new OracleError('UNAUTHENTICATED', `Nobody is logged in at ${url}: events need the Basic tier`);
    return found;
  };
  // Somebody may have logged in again meanwhile, in another terminal.
  const used = { token: '' };
  return {
    getToken: async () => {
      used.token = await token();
      return used.token;
    },
    renewToken: async () => {
      const found = await token().catch(() => used.token);
      return found === used.token ? null : found;
    },
    forgetToken: () => false,
  };
}

function createLoginTokenSource(logIn: () => Promise<WalletSession>, context: CliContext): TokenSource {
  let session: WalletSession | null = null;
  const fresh = async () => {
    session = await logIn();
    return session.token;
  };
  return {
    getToken: async () =>
      session !== null && Date.parse(session.expiresAt) - context.now().getTime() > MIN_REMAINING_MS ? session.token : fresh(),
    renewToken: fresh,
    forgetToken: () => {
      const had = session !== null;
      session = null;
      return had;
    },
  };
}
