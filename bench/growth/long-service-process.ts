import { asTier } from '../../test/support/auth/login.ts';
import { fetchOpenApi } from '../../test/support/http/openapi.ts';
import { serve } from '../../test/support/http/serve.ts';
import { lengthenDays } from '../../test/support/interface-client/lengthen-days.ts';
import { lengthenRecord } from '../../test/support/interface-client/record-states.ts';
import { parameterValues, variantsOf } from '../../test/support/record/public-walk.ts';
import { fullService } from '../../test/support/service/full-service.ts';
import { answerParent } from '../lib.ts';

/** A request for an operation that only reads, of a Premium caller. */
export interface Read {
  operationId: string;
  url: string;
  headers: Record<string, string>;
}

let running: { stop(): Promise<void> } | null = null;

/** A service with a record of `days` days, copies of a short one. */
async function start(days: number): Promise<Read[]> {
  const service = await fullService();
  const premium = await asTier(service, 'premium');
  const { url, close } = await serve(service);
  const variants = variantsOf(await fetchOpenApi(url), await parameterValues(service));
  // A stream ends after a set time.
  const reads = variants.filter(({ accept }) => accept !== 'text/event-stream');
  const firstOf = new Map(reads.toReversed().map((variant) => [variant.operationId, variant]));
  await lengthenRecord(service, days);
  await lengthenDays(service, days);
  await service.pipeline.figures.refresh();
  running = {
    async stop() {
      await close();
      await service.stop();
    },
  };
  return [...firstOf.values()].map(({ operationId, path, accept }) => ({
    operationId,
    url: `${url}${path}`,
    headers: { ...premium, Accept: accept },
  }));
}

const answers = { start, stop: async () => await running?.stop() };

export type LongServiceAnswers = typeof answers;

answerParent(answers);
