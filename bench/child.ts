import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';

/** What a process of a benchmark can be asked for, by name. */
export type Answers = Record<string, (input: never) => unknown>;

interface Question {
  number: number;
  name: string;
  input: unknown;
}

type Answer = { number: number } & ({ output: unknown } | { problem: string });

/** In the child: answers its parent, one question after the other, and ends with it. */
export function answerParent(answers: Answers): void {
  process.on('disconnect', () => process.exit(0));
  process.on('message', async ({ number, name, input }: Question) => {
    try {
      process.send!({ number, output: await answers[name](input as never) });
    } catch (error) {
      process.send!({ number, problem: error instanceof Error ? error.stack : String(error) });
    }
  });
  process.send!({ number: 0, output: null });
}

/** A process of a benchmark. */
export interface Child<Own extends Answers> {
  ask<Name extends keyof Own & string>(name: Name, ...input: Parameters<Own[Name]>): Promise<Awaited<ReturnType<Own[Name]>>>;
  /** Ends it. */
  end(): Promise<void>;
}

/** Starts a file of this folder; its errors are its parent's. */
export async function startChild<Own extends Answers>(
  file: string,
  words: readonly string[] = [],
  flags: readonly string[] = [],
): Promise<Child<Own>> {
  const child = fork(join(import.meta.dirname, file), words, { execArgv: [...flags], serialization: 'advanced' });
  const open = new Map<number, PromiseWithResolvers<unknown>>();
  const up = Promise.withResolvers<unknown>();
  open.set(0, up);
  child.on('message', (answer: Answer) => {
    const asked = open.get(answer.number)!;
    open.delete(answer.number);
    if ('problem' in answer) asked.reject(new Error(`${file}: ${answer.problem}`));
    else asked.resolve(answer.output);
  });
  const ended = whenEnded(child, () => {
    for (const asked of open.values()) asked.reject(new Error(`${file} ended`));
  });
  await up.promise;
  let last = 0;
  return {
    ask(name, input?: unknown) {
      const asked = Promise.withResolvers<unknown>();
      open.set(++last, asked);
      child.send({ number: last, name, input });
      return asked.promise as never;
    },
    async end() {
      child.disconnect();
      await ended;
    },
  };
}

function whenEnded(child: ChildProcess, then: () => void): Promise<void> {
  return new Promise((done) =>
    child.once('exit', () => {
      then();
      done();
    }),
  );
}
