import { onTestFinished } from 'vitest';
import type { Provider } from '../../../../../src/market/live/provider.ts';
import { createProviders, PROVIDER_TIMING, type ProviderTiming, parseProviderUrls } from '../../../../../src/market/live/providers.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { type Answers, type ProviderHost, startProviderHost } from '../../../../support/market/provider-host.ts';

export interface GuardedProviders {
  host: ProviderHost;
  kraken: Provider;
  fred: Provider;
  /** Parsed lines of the log. */
  lines: Record<string, unknown>[];
}

/** The real rules with waits too short to notice. */
export const FAST_TIMING: ProviderTiming = { ...PROVIDER_TIMING, backoffMinMs: 1, backoffMaxMs: 2, minIntervalMs: 0 };

/** Providers behind their guards, and the host that they are asked on. */
export async function createGuardedProviders(
  answers: Answers,
  timing: Partial<ProviderTiming> = {},
  signal?: AbortSignal,
): Promise<GuardedProviders> {
  const host = await startProviderHost(answers);
  onTestFinished(() => host.close());
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ level: 'debug', secrets: [], write: (line) => void lines.push(JSON.parse(line)) });
  const { kraken, fred } = createProviders({
    urls: parseProviderUrls(host.providerUrls),
    log,
    timing: { ...FAST_TIMING, ...timing },
    signal,
  });
  return { host, kraken, fred, lines };
}

/** Answers with these, one after the other; the last for ever. */
export function answerInSequence(...answers: Answers[]): Answers {
  let next = 0;
  return (request) => {
    const answer = answers[Math.min(next, answers.length - 1)];
    next += 1;
    return answer(request);
  };
}

export const answerWithStatus =
  (status: number, headers: Record<string, string> = {}): Answers =>
  () => ({ status, headers, body: { error: 'an irrelevant text' } });

export const answerOk: Answers = () => ({ body: { price: 1 } });
