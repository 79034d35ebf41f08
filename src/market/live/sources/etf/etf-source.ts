import type { ProviderRequest } from '../../providers/provider.ts';
import type { ProviderId } from '../../providers/providers.ts';
import type { DayRange, EtfDay, EtfSource } from '../source.ts';
import { selectReportedDays } from './reported-days.ts';

interface EtfSourceOptions {
  provider: ProviderId;
  history: EtfSource['history'];
  request: ProviderRequest;
  /** Days of the answer, in any order; those outside the range may be among them, and days without a flow. */
  read(body: unknown, range: DayRange, providerTitle: string): EtfDay[];
}

/** Flows that one HTTP request answers: what to ask, and how to read the answer. */
export function createEtfSource({ provider: id, history, request, read }: EtfSourceOptions): EtfSource {
  return {
    provider: id,
    history,
    fetch: (provider, range) =>
      // An answer that cannot be read is a failure of the provider, too.
      provider.call(request.path, async () => {
        const { body, receivedAtMs } = await provider.request(request);
        return selectReportedDays(read(body, range, provider.title), range, provider.title, receivedAtMs);
      }),
  };
}
