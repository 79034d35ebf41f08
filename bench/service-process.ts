import { serve } from '../test/support/http/serve.ts';
import { unresolvedService } from '../test/support/service/service.ts';
import { selfTestLoop } from './forecast/self-test-loop.ts';
import { answerParent } from './lib.ts';

/** The whole service on a database and a chain of its own, with an unresolved forecast and limits that are not reached. */
const service = await unresolvedService(1);
service.progress.complete();
const { url } = await serve({ ...service, appOptions: { ...service.appOptions, reusesAnswers: true } });

const selfTests = selfTestLoop();

const answers = {
  url: () => url,
  /** Runs self-tests in their thread repeatedly until stopped. */
  selfTests: (on: boolean) => (on ? selfTests.start() : selfTests.stop()),
  async stop() {
    await selfTests.stop();
    await service.stop();
  },
};

export type ServiceAnswers = typeof answers;

answerParent(answers);
