import { MongoNetworkError } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { AnswerMemo, MAX_ANSWER_AGE_MS } from '../../../src/http/memo.ts';
import type { Reply } from '../../../src/http/replies.ts';

let nowMs = 0;
let computed = 0;
beforeEach(() => {
  [nowMs, computed] = [0, 0];
});

const now = () => nowMs;
const compute = async (): Promise<Reply> => ({ raw: String(++computed) });
const fail = (error: Error) => async (): Promise<Reply> => Promise.reject(error);

describe('an answer of a state', () => {
  it('stays while the state is the same, however long', async () => {
    let state = 'one';
    const memo = new AnswerMemo({ readState: () => state, now });
    const read = async () => (await memo.share('key', 'state', compute)).reply;
    expect(await read()).toEqual({ raw: '1' });
    nowMs += 3_600_000;
    expect(await read()).toEqual({ raw: '1' });
    state = 'two';
    expect(memo.has('key')).toBe(false);
    expect(await read()).toEqual({ raw: '2' });
    expect(memo.has('key')).toBe(true);
  });

  it('is the last one while the database does not answer', async () => {
    let state = 'one';
    const memo = new AnswerMemo({ readState: () => state, now });
    await memo.share('key', 'state', compute);
    state = 'two';
    const unreachable = fail(new MongoNetworkError('gone'));
    expect((await memo.share('key', 'state', unreachable)).reply).toEqual({ raw: '1' });
    await expect(memo.share('other', 'state', unreachable)).rejects.toThrow('gone');
    await expect(memo.share('key', 'state', fail(new Error('broken')))).rejects.toThrow('broken');
    expect((await memo.share('key', 'state', compute)).reply).toEqual({ raw: '2' });
  });
});

it('an answer without a state is sent again for a second, whatever the state', async () => {
  let reads = 0;
  const memo = new AnswerMemo({ readState: () => String(++reads), now });
  const read = async () => (await memo.share('key', 'second', compute)).reply;
  expect([await read(), await read()]).toEqual([{ raw: '1' }, { raw: '1' }]);
  nowMs = MAX_ANSWER_AGE_MS + 1;
  expect(await read()).toEqual({ raw: '2' });
  expect(reads).toBe(0);
});
