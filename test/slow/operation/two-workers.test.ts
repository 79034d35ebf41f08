import { it } from 'vitest';
import { STEP_NAMES } from '../../../src/pipeline/pipeline.ts';
import { unresolvedService } from '../../support/service/service.ts';
import { expectOneEffect } from '../../support/service/two-workers.ts';

const DAYS = 10;

it('two workers have one effect when each runs every step, in processes of their own and at the same time', async () => {
  const service = await unresolvedService(DAYS);
  try {
    await expectOneEffect(service, STEP_NAMES);
  } finally {
    await service.stop();
  }
});
