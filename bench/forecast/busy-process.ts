import { answerParent } from '../lib.ts';
import { selfTestLoop } from './self-test-loop.ts';

/** The same self-tests in a process of their own, as a worker runs them beside API processes. */
const selfTests = selfTestLoop();

const answers = { selfTests: (on: boolean) => (on ? selfTests.start() : selfTests.stop()) };

export type BusyAnswers = typeof answers;

answerParent(answers);
