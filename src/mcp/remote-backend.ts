import { z } from 'zod';
import { ENDPOINTS } from '../../agent-card/endpoints.ts';
import { methodologyMarkdown } from '../../agent-card/methodology.ts';
import { findSkill, type SkillAnswer } from '../../skills/runner.ts';
import { isTokenRejected, refusalOf, requestService, type ServiceAnswer, type ServiceRequest } from '../ask-service.ts';
import { isOracleError, OracleError } from '../errors.ts';
import { parseInput } from '../parse-input.ts';
import { PUBLIC_SIGNAL } from '../record/schemas/signal.ts';
import type { McpBackend } from './backend.ts';

/** What a skill may take, the chain included, and some more. */
const DEADLINE_MS = 30_000;

export interface RemoteBackendOptions {
  /** Where the service answers, without query and fragment. */
  url: string;
  /** Asked before each call: resolves once the service can answer. @throws OracleError SERVICE_UNREACHABLE, STEP_WAITING */
  ready?(): Promise<void>;
  /** Access token to call with; unset or undefined: as anybody. */
  token?(): Promise<string | undefined>;
  /** Forgets a token that the service refused. True where the next one may be another. */
  forgetToken?(): boolean;
  deadlineMs?: number;
}

type Call = Pick<ServiceRequest, 'path' | 'body'>;

/** What a running service tells, asked over HTTP by its own operations. */
export function remoteBackend(options: RemoteBackendOptions): McpBackend {
  return {
    async run(skillId, input) {
      const { id, input: known, output } = findSkill(skillId);
      const answer = await ask(options, { path: `${ENDPOINTS.skills}/${id}`, body: input }).catch((error: unknown) => {
        // The same, in the words of a door that has no request bodies.
        if (isOracleError(error, 'INPUT_INVALID')) parseInput(known, input, { what: 'input', whole: 'input' });
        throw error;
      });
      return expected(z.object({ output, text: z.string() }), answer, options.url) as SkillAnswer;
    },
    async publicSignal(horizon) {
      const answer = await ask(options, { path: `/api/svc/open/signal?horizon=${horizon}` });
      return expected(PUBLIC_SIGNAL, answer, options.url);
    },
    methodology: methodologyMarkdown({ publicUrl: options.url }),
  };
}

/** A rejected token is replaced once where there may be another one; otherwise a public answer is that of an anonymous client. */
async function ask(options: RemoteBackendOptions, call: Call): Promise<unknown> {
  const first = await askOnce(options, call);
  const isRejected = first.status === 401 || isTokenRejected(first);
  const answer = isRejected && options.forgetToken?.() === true ? await askOnce(options, call) : first;
  if (answer.status < 300 && answer.body !== undefined) return answer.body;
  throw refusalOf(answer, options.url);
}

async function askOnce({ url, ready, token, deadlineMs = DEADLINE_MS }: RemoteBackendOptions, call: Call): Promise<ServiceAnswer> {
  await ready?.();
  return requestService({ ...call, url, token: await token?.(), deadlineMs });
}

/** Nothing that the schema does not know goes on to the client; what it knows comes in the order in which it was sent. */
function expected<T extends z.ZodType>(schema: T, answer: unknown, url: string): z.output<T> {
  const { success, data, error } = schema.safeParse(answer);
  if (success) return ordered(data, answer) as z.output<T>;
  throw new OracleError('INTERNAL', `The service at ${url} answers in a form that is not known here`, {
    suggestedAction: 'Use the version of this program that belongs to the service.',
    cause: error,
  });
}

/** A schema gives its own order to what it reads; whoever asks the service itself gets that of the service. */
function ordered(value: unknown, sent: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item, index) => ordered(item, (sent as unknown[])[index]));
  const known = value as Record<string, unknown>;
  const all = sent as Record<string, unknown>;
  const names = new Set([...Object.keys(all).filter((name) => Object.hasOwn(known, name)), ...Object.keys(known)]);
  return Object.fromEntries([...names].map((name) => [name, ordered(known[name], all[name])]));
}
