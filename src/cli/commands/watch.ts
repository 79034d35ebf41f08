import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { Misuse } from '../../audit/misuse.ts';
import { isOracleError, OracleError } from '../../errors.ts';
import { setupText } from '../../setup.ts';
import { logInWallet, type WalletSession } from '../../wallet-login.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import type { Host } from '../host.ts';
import { jsonFor, tell } from '../print.ts';
import { accountFor, KEY_HELP, KEY_OPTIONS, type KeyChoice, namesKey } from '../secrets/keys.ts';
import { ask, serviceUrl, tokenFor } from '../service.ts';
import { penFor, screenLine } from '../text/style.ts';
import { eventLine } from '../watch/event-line.ts';
import { type FollowOptions, followOnce } from '../watch/follow.ts';
import { parseWords, READER_HELP } from '../words.ts';

/** As the interface has it (section 6.1). */
const RECONNECT_MS = 5_000;
const MOST_WAIT_MS = 3_600_000;
const TOKEN_ENDED = 4001;
/** A login that is about to end is no good for a new connection. */
const LEAST_LEFT_MS = 60_000;

const TEXT = { type: 'string' } as const;
const OPTIONS = { ...KEY_OPTIONS, url: TEXT, token: TEXT, since: TEXT, events: TEXT, horizon: TEXT, json: { type: 'boolean' } } as const;

const HEALTH = z.object({ setup: z.object({ what: z.string(), done: z.number().nullable(), total: z.number().nullable() }).nullable() });

/** Interface, section 6.1. */
export const watch: Command = {
  name: 'watch',
  takes: '[--since <id>] [options]',
  summary: 'Prints what happens as it happens, through drops and restarts of the service',
  help: `One line an event on a terminal, one JSON document a line elsewhere. Ctrl-C ends it. It needs the Basic tier: with a key it logs in by
itself, again and again; with a token, or the login of svc login, it goes on until that ends.

  --since <id>       also what happened after that event; 0: all that is kept (90 days)
  --events <names>   such as signal.new,signal.resolved; default: all
  --horizon <days>   such as 7d, 2d,7d or all; default: 7d. Events without a horizon come in any case
${KEY_HELP}
${READER_HELP}

  svc watch --since 0 --events signal.resolved | jq -r .data.outcome`,
  async run(words, host) {
    const { values } = parseWords(words, OPTIONS);
    if (values.since !== undefined && !/^\d{1,15}$/.test(values.since)) throw new Misuse('--since', 'must be the id of an event, or 0');
    const url = serviceUrl(host, values.url);
    const asJson = values.json === true || host.out.isTTY !== true;
    const pen = penFor(host.out, host);
    const signal = host.interrupted();
    const follow: FollowOptions = {
      url,
      query: { since: values.since, events: values.events, horizons: values.horizon },
      ...(await tokensFor(host, { ...values, url, signal })),
      onEvent: (event) => {
        host.out.write(`${asJson ? jsonFor(host.out, event) : screenLine(eventLine(event, pen))}\n`);
      },
      onConnected: () => void tellSetup(url, host),
      onNotice: (text) => tell(host, text),
      signal,
    };
    return followOn(follow, host);
  },
};

/** Why nothing comes yet, of a service that is at its start: the events of a replay are told once it is done. Without an answer, nothing. */
async function tellSetup(url: string, host: Host): Promise<void> {
  const health = await ask({ url, path: '/health', as: HEALTH }).catch(() => null);
  const left = health === null ? null : setupText({ current: health.answer.setup });
  if (left !== null) tell(host, `the service is being set up (${left}): the events of that come once it is done`);
}

/** Connects again whatever happens, but for a refusal that would be the same again. */
async function followOn(follow: FollowOptions, host: Host): Promise<number> {
  const { signal } = follow;
  while (!signal.aborted) {
    const { words, waitMs } = await followOnce(follow).then(
      ({ code, reason }) => {
        if (code === TOKEN_ENDED) follow.forget();
        return { words: `closed: ${code} ${reason}`.trimEnd(), waitMs: RECONNECT_MS };
      },
      (error: unknown) => {
        if (signal.aborted) return { words: '', waitMs: 0 };
        if (isFinal(error) && !(isOracleError(error, 'UNAUTHENTICATED') && follow.forget())) throw error;
        return { words: wordsOf(error, follow.url), waitMs: waitOf(error) };
      },
    );
    if (signal.aborted) break;
    tell(host, `${words}; again in ${waitMs / 1_000} s`);
    await delay(waitMs, undefined, { signal }).catch(() => {});
  }
  return EXIT.ok;
}

/** As long as the service asks for, within reason. */
function waitOf(error: unknown): number {
  const askedMs = isOracleError(error) ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
  return Math.min(MOST_WAIT_MS, Math.max(RECONNECT_MS, askedMs));
}

function isFinal(error: unknown): boolean {
  return isOracleError(error) && !error.retryable;
}

function wordsOf(error: unknown, url: string): string {
  return isOracleError(error) ? `${error.code}: ${error.message}` : `no service answers at ${url} (${codeOf(error)})`;
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : 'no connection';
}

type Tokens = Pick<FollowOptions, 'token' | 'renewed' | 'forget'>;
type TokenChoice = KeyChoice & Pick<FollowOptions, 'url' | 'signal'> & { token?: string };

/** A key gives a token whenever one is needed; a token that was named, or kept, lasts as long as it lasts. */
async function tokensFor(host: Host, { url, signal, ...values }: TokenChoice): Promise<Tokens> {
  if (values.token === undefined && namesKey(values, host)) {
    const account = await accountFor(values, host);
    return byLogin(async () => logInWallet(account, url, { timestamp: host.now().getTime(), signal }), host);
  }
  const token = async () => {
    const found = await tokenFor(host, url, values.token);
    if (found === undefined) throw new OracleError('UNAUTHENTICATED', `Nobody is logged in at ${url}: events need the Basic tier`);
    return found;
  };
  // Somebody may have logged in again meanwhile, in another terminal.
  const used = { token: '' };
  return {
    token: async () => {
      used.token = await token();
      return used.token;
    },
    renewed: async () => {
      const found = await token().catch(() => used.token);
      return found === used.token ? null : found;
    },
    forget: () => false,
  };
}

function byLogin(logIn: () => Promise<WalletSession>, host: Host): Tokens {
  let session: WalletSession | null = null;
  const fresh = async () => {
    session = await logIn();
    return session.token;
  };
  return {
    token: async () => (session !== null && Date.parse(session.expiresAt) - host.now().getTime() > LEAST_LEFT_MS ? session.token : fresh()),
    renewed: fresh,
    forget: () => {
      const had = session !== null;
      session = null;
      return had;
    },
  };
}
