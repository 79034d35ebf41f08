import { serve } from '../test/support/serve.ts';
import { unresolvedService } from '../test/support/service.ts';
import { answerParent } from './child.ts';

/** The whole service on a database and a chain of its own, with a forecast that is not resolved yet; it limits nobody. */
const service = await unresolvedService(1);
service.state.setup = null;
const { url } = await serve(service);

const answers = {
  url: () => url,
  stop: () => service.stop(),
};

export type ServiceAnswers = typeof answers;

answerParent(answers);
